"""``judgec evaluate`` with agents that answer first."""

from pathlib import Path

from judgec.cli.corpus.answer import Request as Answering
from judgec.cli.corpus.answering import answer_before
from judgec.cli.tournament.evaluate import Request
from judgec.errors import UserError
from judgec.lm.usage import Budget
from judgec.store import programs
from judgec.tournament.report.evaluation import why_unproven


def answered(request: Request, caps: Budget) -> str:
    """The file of the agents' answers, in the tournament's folder.

    Raises:
        UserError: As ``answer_before``; a judge that the tournament would refuse, before agents spend anything.
    """
    _check_judge(request.judge, request.home, unproven=request.unproven)
    return answer_before(
        Answering(
            queries=request.queries or "",
            agents=request.agents or "",
            out=request.out / "agent_answers.jsonl",
            index=request.index,
            k=request.k,
            variations=request.variations,
            persona=request.persona,
            citations=request.citations,
            rerank=request.rerank,
            in_flight=request.in_flight,
            rename=request.rename,
            lm=request.agents_lm,
            api_base=request.api_base,
            json=request.json,
            home=request.home,
        ),
        caps,
    )


def _check_judge(reference: str, home: Path, *, unproven: bool) -> None:
    """Refuse a judge that the tournament would refuse, before agents spend anything.

    Raises:
        UserError: When there is none, or it is not proven without ``--unproven``.
    """
    name, _, wanted = reference.partition("@")
    if not wanted and programs.CHAMPION not in programs.aliases(home, name) and programs.versions(home, name):
        reference = f"{name}@{programs.LATEST}"
    why = why_unproven(programs.load(home, reference).card)
    if why and not unproven:
        raise UserError(f"--judge {reference}: {why}. Compile a better one, or pass --unproven.")
