"""Finds who judges a tournament: a compiled judge, the prompt that nobody compiled, or a jury of several."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from judgec.errors import UserError
from judgec.raters import programs
from judgec.records.card import Cost, ProgramCard
from judgec.records.tasks.registry import require_better_above
from judgec.table.rows.columns import as_names
from judgec.tournament.files.entries import Entries
from judgec.tournament.files.preferences import learned_queries
from judgec.tournament.report.evaluation import why_unproven
from judgec.verbs.judge import Judge
from judgec.verbs.options.evaluate import EvaluateOptions
from judgec.verbs.validity import unmeasured_jury
from judgec.verbs.whom import GivenJudge, as_loaded
from judgec.verbs.zero_shot import NAME as ZERO_SHOT
from judgec.verbs.zero_shot import (
    PAIRS,
    UncompiledJudge,
    is_zero_shot,
    require_model,
    said_by,
    said_of,
    zero_shot_of_entries,
)

RELEVANCE = "relevance"
WITHOUT_LABELS = f"Without labels, --relevance-judge {ZERO_SHOT} --lm MODEL grades them."
JURY = "jury"  # what the card of several judges is called


@dataclass(frozen=True, kw_only=True)
class TournamentJudge(GivenJudge):
    """A judge in a tournament.

    Args:
        unproven: Why it is not proven, or empty.
    """

    unproven: str

    @property
    def name(self) -> str:
        """``NAME@VERSION``, or the model of the prompt that nobody compiled."""
        return super().name if self.saved else f"{self.card.name} ({self.card.lm.get('model')})"


@dataclass(frozen=True, slots=True)
class Uncompiled:
    """The prompt that nobody compiled, before it is known what it will judge.

    Args:
        lm: The model that it asks.
        said: The task, or the name of its scale.
        api_base: Its endpoint.
    """

    lm: str
    said: str = PAIRS
    api_base: str | None = None


def named_judges(options: EvaluateOptions) -> list[TournamentJudge | Uncompiled]:
    """Those that ``--judge`` names, one or, with commas, several; zero-shot once for each model of ``--lm``.

    Raises:
        UserError: There is no such judge, one is not proven, or ``--lm`` names a model that nobody asks.
    """
    given = options.judge
    if isinstance(given, UncompiledJudge):
        return [Uncompiled(given.spec.model, said_by(given.card), options.api_base or given.spec.api_base)]
    if isinstance(given, Judge):
        return [tournament_judge(options, "--judge", given, options.lm)]
    names, models = as_names(given, "--judge"), as_names(options.lm, "--lm")
    found: list[TournamentJudge | Uncompiled] = []
    for name in names:
        if is_zero_shot(name, options.home):
            said = said_of(name, PAIRS)
            found += [Uncompiled(one, said, options.api_base) for one in models or [require_model(None)]]
        else:
            found.append(tournament_judge(options, "--judge", name, options.lm if len(names) < 2 else None))
    asked = any(isinstance(one, Uncompiled) for one in found)
    if options.lm is not None and not asked and (len(found) > 1 or len(models) > 1):
        raise UserError(
            f"--lm {options.lm}: the judges of a jury ask the models that they were measured with; a model is named "
            f"for one judge, or for {ZERO_SHOT}. Leave it out."
        )
    return found


def tournament_judge(options: EvaluateOptions, option: str, judge: Judge | str, lm: str | None) -> TournamentJudge:
    """The judge, and why it is not proven; where there is no champion the newest, which is not.

    Args:
        options: With the home, and whether a judge has to be proven.
        option: That names it.
        judge: Its name, or the judge.
        lm: Another model than its own.

    Raises:
        UserError: There is no such judge, or it is not proven.
    """
    reference, home = (judge, options.home) if isinstance(judge, str) else (judge.name, judge.home)
    program = programs.load(home, programs.champion_or_newest(home, reference, option), option)
    require_better_above(program.card.task, f"{option} {reference}")
    unproven = why_unproven(program.card)
    if unproven and not options.unproven:
        raise UserError(f"{option} {reference}: {unproven}. Compile a better one, or pass --unproven.")
    if isinstance(judge, Judge) and lm is None and options.api_base is None:
        return TournamentJudge(program=program, compiled=judge.compiled, spec=judge.spec, unproven=unproven)
    return TournamentJudge(**vars(as_loaded(program, lm=lm, api_base=options.api_base)), unproven=unproven)


@dataclass(frozen=True, slots=True)
class TournamentJudges:
    """The judge of a tournament, or its jury.

    Args:
        members: One at least.
        documents: Grades what the agents retrieved; None where no judge does.
    """

    members: tuple[TournamentJudge, ...]
    documents: TournamentJudge | None = None

    @property
    def card(self) -> ProgramCard:
        """The only one's; of a jury one that says that nobody measured it."""
        cards = [one.card for one in self.members]
        first = cards[0]
        if len(cards) == 1:
            return first
        same = all(one.tie_band is not None for one in cards)
        return first.model_copy(
            update={
                "name": JURY,
                "version": 0,
                "fields": tuple(sorted({name for one in cards for name in one.fields})),
                "labels": next((one.labels for one in cards if one.labels), ""),
                "lm": {"model": ", ".join(dict.fromkeys(str(one.lm.get("model")) for one in cards))},
                "engine": "",
                "optimizer": "none",
                "settings": {},
                "cost": Cost(lm_calls=0, usd=0.0, seconds=0.0),
                "created": datetime.now(tz=UTC).isoformat(timespec="seconds"),
                "parent": None,
                "promoted": False,
                "reason": self.unproven,
                "tie_band": sum(one.tie_band or 0.0 for one in cards) / len(cards) if same else None,
                "test": {},
                "audit": None,
            }
        )

    @property
    def unproven(self) -> str:
        """The reason why nobody knows how far it agrees with people; empty of a proven judge."""
        if len(self.members) == 1:
            return self.members[0].unproven
        judges = {one.name: one.card for one in self.members}
        said = unmeasured_jury(judges, "games that experts label (--sample N writes them) measure it")
        return "; ".join([said, *(one.unproven for one in self.members if one.unproven and one.card.version)])

    def learned(self, entries: Entries) -> frozenset[str]:
        """Queries that one of them has learned from."""
        return frozenset().union(*(learned_queries(one.program, entries.queries) for one in self.members))


def seated(found: Sequence[TournamentJudge | Uncompiled], entries: Entries) -> TournamentJudges:
    """Those of ``named_judges``, when it is known what they will judge.

    Args:
        found: Who was named.
        entries: What is judged.
    """
    return TournamentJudges(tuple(_fitted(one, entries) if isinstance(one, Uncompiled) else one for one in found))


def relevance_judge(options: EvaluateOptions, name: str, entries: Entries, lm: str | None) -> TournamentJudge:
    """The judge of documents that ``--relevance-judge`` names: a compiled one, or the prompt that nobody compiled.

    Args:
        options: With the model that such a prompt asks.
        name: Of the judge.
        entries: What is judged.
        lm: Another model than a compiled one's own.

    Raises:
        UserError: There is none of this name, it is not proven, or judges something else.
    """
    option = f"--relevance-judge {name}"
    if is_zero_shot(name, options.home):
        model = as_names(require_model(options.lm, option), "--lm")[0]
        ranker = _fitted(Uncompiled(model, said_of(name, RELEVANCE), options.api_base), entries)
    else:
        try:
            ranker = tournament_judge(options, "--relevance-judge", name, lm)
        except UserError as error:
            raise UserError(f"{error} {WITHOUT_LABELS}") from error
    if ranker.card.task != RELEVANCE:
        raise UserError(
            f"{option}: a judge of {ranker.card.task}; one of relevance is needed. Name another. {WITHOUT_LABELS}"
        )
    return ranker


def _fitted(one: Uncompiled, entries: Entries) -> TournamentJudge:
    program = zero_shot_of_entries(entries, one.lm, one.api_base, one.said)
    return TournamentJudge(**vars(as_loaded(program, api_base=one.api_base)), unproven=program.card.reason)
