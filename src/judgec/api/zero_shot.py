"""Makes the paper's judge without any labels: the comparing prompt as it is, measured against nobody."""

from datetime import UTC, datetime

from judgec.errors import UserError
from judgec.judges.judge import CompiledJudge
from judgec.judges.registry import judge_module
from judgec.judges.signatures import fingerprint
from judgec.lm.spec import LMSpec
from judgec.records.card import Cost, ProgramCard
from judgec.report.numbers import percent
from judgec.store.programs import Program, dump_module
from judgec.store.tournament.entries import Entries
from judgec.tasks.preference import PREFERENCE_SCALE

NAME = "zero-shot"
TASK = "preference"
ASPECTS = ("grade",)  # what the labels of one verdict are called
FEW = 50  # labels that people may be asked for in a first hour
_REACH = 1.96 * (0.25 / FEW) ** 0.5  # half the widest 95 % interval of a share of so many
WHY = (
    f"no label was given, so nobody knows how far {NAME} agrees with people. {FEW} games that experts label (--sample "
    f"{FEW} writes them) tell its share of agreement to within {percent(_REACH)}, and the same judge compiles on them"
)


def require_model(lm: str | None) -> str:
    """The model that it is to ask.

    Raises:
        UserError: When none is named.
    """
    if lm is None:
        raise UserError(f"--judge {NAME}: it has no model of its own; --lm MODEL is needed. Add the model to ask.")
    return lm


def zero_shot(entries: Entries, lm: str, api_base: str | None) -> Program:
    """The uncompiled judge of answers in pairs, as if it had been saved: no calibration, no test, never promoted.

    Args:
        entries: What it will judge; documents and references are shown where there are any.
        lm: The model that it asks.
        api_base: Its endpoint.

    Source: Rackauckas et al. (2024), RAGElo, whose judge is a prompt that compares two answers.
    """
    spec = LMSpec.parse(lm, api_base=api_base)
    has = {"reference": bool(entries.references), "contexts": bool(entries.retrieved or entries.shared)}
    fields = tuple(sorted(["query", "answer_a", "answer_b", *(name for name, there in has.items() if there)]))
    module = judge_module(TASK, PREFERENCE_SCALE, ASPECTS, fields)
    card = ProgramCard(
        name=NAME,
        task=TASK,
        scale=PREFERENCE_SCALE,
        aspects=ASPECTS,
        fields=fields,
        signature=fingerprint(module),
        data_digest="",
        split_digest="",
        lm=spec.describe(),
        optimizer="none",
        objective="kappa",
        seed=0,
        versions={},
        cost=Cost(lm_calls=0, usd=0.0, seconds=0.0),
        created=datetime.now(tz=UTC).isoformat(timespec="seconds"),
        looks=0,
        promoted=False,
        reason=WHY,
    )
    judge = CompiledJudge(module, card.scale, card.aspects)
    return Program(card, dump_module(module), judge.calibration(), {}, {})
