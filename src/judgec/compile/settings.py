"""Holds the settings of a compile."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import dspy

from judgec.compile.search.candidates import UNCOMPILED, Candidate, as_it_was
from judgec.lm.adapters import CHAT, AdapterName
from judgec.lm.hosts import own_endpoint
from judgec.lm.spec import FUNCTION, LMSpec
from judgec.lm.usage import MAX_WAIT
from judgec.raters.judge import JudgeTree
from judgec.raters.programs import Program
from judgec.raters.recorded import RecordedVerdicts
from judgec.records.consensus import Consensus

JURY_KIND = "jury"  # what the card calls a judge of several, and its optimizer where no prompt is searched for
REFLECTION_TOKENS = 4096  # longest rewritten prompt
MIN_TEST_QUERIES = 10  # fewer: never promoted, an interval over them means little


@dataclass(frozen=True, slots=True)
class Weighs:
    """Criteria that a judge that compares two answers is told to weigh.

    Args:
        factors: Instead of its own; empty keeps them.
        citations: Answers cite the documents, and wrong citations count.
    """

    factors: str = ""
    citations: bool = False


@dataclass(frozen=True, slots=True)
class AskedCandidate:
    """A candidate that is asked beside others, in place of one prompt that is searched for.

    Args:
        name: What it is called among judges.
        module: Its prompt; of a function, which sees the item alone, that of the task.
        program: The compiled judge that it is, or None.
        searched: What a search made of its prompt, which ``module`` is then; None where it is asked as it was.
        notes: Of that search, for the user.
    """

    name: str
    module: dspy.Module = field(repr=False)
    program: Program | None = field(default=None, repr=False)
    searched: Candidate | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()

    def after(self, found: Candidate, notes: tuple[str, ...]) -> tuple["AskedCandidate", ...]:
        """The same with the prompt that a search has found, and beside it, where it is another, as it was before."""
        mine = replace(self, module=found.module, searched=found, notes=notes)
        return (mine,) if found.name == UNCOMPILED else (mine, replace(self, name=as_it_was(self.name)))


@dataclass(frozen=True, slots=True)
class RatedCandidates:
    """Candidates that are taken as they are.

    Args:
        recorded: Verdicts that are looked up, or None.
        asked: Those that are asked, each with its model of ``lm.members``.
    """

    recorded: RecordedVerdicts | None = field(default=None, repr=False)
    asked: tuple[AskedCandidate, ...] = ()


@dataclass(frozen=True, slots=True)
class PoolLimit:
    """How many candidates may be pooled.

    Args:
        most: At most so many; None for any number.
        few: As few as the best number is not clearly better than.
    """

    most: int | None = None
    few: bool = False


@dataclass(frozen=True, slots=True)
class Combine:
    """Ways to make several candidates one judge; by default the best one ships.

    Args:
        pool: Look for a mean of several.
        cascade: The cheap and the strong one of a cascade.
    """

    pool: PoolLimit | None = None
    cascade: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class CompileSettings:
    """Everything that decides the outcome of a compile besides the labels.

    Args:
        name: The program's family name; it has no part in the split.
        home: Folder that holds ``programs/``, ``mlruns/`` and ``.judgec/``.
        lm: The judge's language model.
        objective: What is maximised, for example ``tau_b`` or ``tau_b+accept``.
        optimizer: Name of the optimizer that proposes candidates.
        seed: Seed of everything random but the split.
        consensus: As ``experts_of``.
        budget: Most LM calls, or None for no cap.
        max_cost: Most US dollars, or None for no cap.
        max_wait: Seconds that a call waits for a busy endpoint, in all.
        in_flight: Most calls at once, or None for the usual number.
        batch: Hand the passes that no search waits for in as batches.
        evidence: Whether the calibrator may use evidence features.
        resamples: Bootstrap resamples of each interval.
        reflection: The language model that rewrites prompts, or None.
        no_reflection: Why there is none.
        abstain_below: Confidence under which the judge leaves an item to a human, or None.
        instructions: What the uncompiled prompt says, or None for the task's own.
        prompts: Instructions of the user that compete with it, by name.
        weighs: What a preference judge is told to weigh.
        folds: In how many folds everything is tested, 1 for a single split; None for the family's mode, and before its
            first version five below 40 queries (below 150 where ``asks_once``), of numbers on an interval scale one.
        log_traces: Whether MLflow gets the test items on which judge and experts differ as traces, with their texts.
        source: How the labels were read, for the report: what ``read_labels`` was given.
        rated: Who grades the labelled items in place of one prompt that is searched for.
        combine: How they may be made one.
        baseline: The recorded judge that it is compared with; None for the one with the median objective.
        functions: What is called where a model of ``lm`` is a Python function, by name.
        adapter: The form in which prompts are written and replies asked for.
    """

    name: str
    home: Path
    lm: LMSpec
    objective: str = "tau_b"
    optimizer: str = "auto"
    seed: int = 0
    consensus: Consensus = "share"
    budget: int | None = None
    max_cost: float | None = None
    max_wait: float = MAX_WAIT
    in_flight: int | None = None
    batch: bool = False
    evidence: bool = True
    resamples: int = 2000
    reflection: LMSpec | None = None
    no_reflection: str = ""
    abstain_below: float | None = None
    instructions: str | None = None
    prompts: Mapping[str, str] = field(default_factory=dict)
    weighs: Weighs = Weighs()
    folds: int | None = None
    log_traces: bool = False
    source: Mapping[str, object] = field(default_factory=dict)
    rated: RatedCandidates = RatedCandidates()
    combine: Combine = Combine()
    baseline: str | None = None
    functions: Mapping[str, object] = field(default_factory=dict, repr=False)
    adapter: AdapterName = CHAT

    @property
    def no_model(self) -> bool:
        """True where nobody is asked, now or ever: the judge is evidence, calibrated."""
        return self.lm.no_model and self.rated.recorded is None and not self.rated.asked

    @property
    def asks(self) -> bool:
        """True where somebody is asked: a model, or candidates side by side."""
        return not self.no_model and (self.rated.recorded is None or bool(self.rated.asked))

    @property
    def asks_a_model(self) -> bool:
        """True where a language model is asked: the one, or one of several candidates."""
        if not self.rated.asked:
            return not self.lm.no_model and self.rated.recorded is None and self.lm.provider != FUNCTION
        return any(self.lm.members[one.name].provider != FUNCTION for one in self.rated.asked)

    @property
    def rewrites(self) -> tuple[AskedCandidate, ...]:
        """The candidates beside others whose prompt is searched for before they are asked."""
        if self.optimizer == JURY_KIND:
            return ()
        return tuple(
            one for one in self.rated.asked if one.program is None and self.lm.members[one.name].provider != FUNCTION
        )

    @property
    def compiled_names(self) -> frozenset[str]:
        """Candidates that are what a search has made of another one, which stands beside them: no rivals of theirs."""
        made = [one for one in self.rated.asked if one.searched is not None and one.searched.name != UNCOMPILED]
        return frozenset(one.name for one in made)

    @property
    def asks_once(self) -> bool:
        """True where a further fold asks nobody: all verdicts were recorded."""
        return self.rated.recorded is not None and not self.rated.asked

    def asked_by(self, judge: JudgeTree) -> LMSpec:
        """The model that a compiled judge asks: of several candidates those that it is made of."""
        members = {one.name: self.lm.members[one.name] for one in judge.leaves if one.name in self.lm.members}
        if not members:
            return self.lm
        if all(one.recorded is not None for one in members.values()):  # all in one place
            return next(iter(members.values()))
        return LMSpec.jury(members, api_base=self.lm.api_base)


def reflection_spec(judge: LMSpec, model: str | None) -> tuple[LMSpec | None, str]:
    """The model that rewrites prompts, or None and why there is none.

    Args:
        judge: The judge's model, which also rewrites when nothing else is named.
        model: What the user named, or None. It is asked at the judge's endpoint when its provider is the judge's.

    Raises:
        UserError: When ``model`` names no model.
    """
    named = None if model is None else LMSpec.parse(model)
    if judge.recorded is not None:
        return None, "recorded verdicts have no prompt to rewrite"
    if judge.members and named is None:
        return None, "each candidate's own model rewrites its prompt"
    if judge.no_model:
        return None, "without a model there is no prompt to rewrite"
    named = named or LMSpec.parse(judge.model)
    providers = {one.provider for one in judge.members.values() or (judge,)}
    if named.no_model:
        return None, "no model rewrites prompts"
    return LMSpec.parse(
        named.model,
        api_base=judge.api_base or own_endpoint(named.model) if named.provider in providers else None,
        temperature=None if named.reasoning else 1.0,  # proposals must differ
        max_tokens=None if named.reasoning else REFLECTION_TOKENS,
        top_logprobs=0,
    ), ""
