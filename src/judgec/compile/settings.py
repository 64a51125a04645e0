"""Holds the settings of a compile."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from judgec.compile.search.candidates import UNCOMPILED, Candidate
from judgec.lm.hosts import own_endpoint
from judgec.lm.spec import FUNCTION, LMSpec
from judgec.lm.usage import MAX_WAIT
from judgec.raters.judge import JudgeTree
from judgec.raters.recorded import RecordedVerdicts
from judgec.records.consensus import Consensus

PROMPT = "prompt"  # of a candidate's settings: the name of what a search has made of its prompt
JURY_KIND = "jury"  # what the card calls a judge of several, and its optimizer where no prompt is searched for
REFLECTION_TOKENS = 4096  # longest rewritten prompt
MIN_TEST_QUERIES = 10  # fewer: never promoted, an interval over them means little


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
class CandidateSettings:
    """Settings of who is compared.

    Args:
        recorded: Verdicts that are looked up, or None.
        asked: Those that are asked beside others, each with its model of ``lm.members``; none where one prompt is
            searched for.
        own: The one prompt that is searched for; None for the task's.
        combine: How several may be made one.
        baseline: The one that all are compared with; None for the one with the median objective.
    """

    recorded: RecordedVerdicts | None = field(default=None, repr=False)
    asked: tuple[Candidate, ...] = ()
    own: Candidate | None = field(default=None, repr=False)
    combine: Combine = Combine()
    baseline: str | None = None


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """Settings of the search for a prompt.

    Args:
        optimizer: Who proposes candidates.
        reflection: The language model that rewrites prompts, or None.
        no_reflection: Why there is none.
        prompts: Instructions of the user that compete with what is found, by name.
    """

    optimizer: str = "auto"
    reflection: LMSpec | None = None
    no_reflection: str = ""
    prompts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CallSettings:
    """Settings of how models are asked, and how much at most.

    Args:
        budget: Most LM calls, or None for no cap.
        max_cost: Most US dollars, or None for no cap.
        max_wait: Seconds that a call waits for a busy endpoint, in all.
        in_flight: Most calls at once, or None for the usual number.
        batch: Hand the passes that no search waits for in as batches.
        functions: What is called where a model of ``lm`` is a Python function, by name.
    """

    budget: int | None = None
    max_cost: float | None = None
    max_wait: float = MAX_WAIT
    in_flight: int | None = None
    batch: bool = False
    functions: Mapping[str, object] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class CompileSettings:
    """Everything that decides the outcome of a compile besides the labels.

    Args:
        name: The program's family name; it has no part in the split.
        home: Folder that holds ``programs/``, ``mlruns/`` and ``.judgec/``.
        lm: The judge's language model.
        objective: What is maximised, for example ``tau_b`` or ``tau_b+accept``.
        search: For a prompt.
        candidates: Who is compared.
        caps: How models are asked.
        seed: Seed of everything random but the split.
        consensus: As ``experts_of``.
        evidence: Whether the calibrator may use evidence features.
        abstain_below: Confidence under which the judge leaves an item to a human, or None.
        folds: In how many folds everything is tested, 1 for a single split; None for the family's mode, and before its
            first version five below 40 queries (below 150 where ``asks_once``), of numbers on an interval scale one.
        source: How the labels were read, for the report: what ``read_labels`` was given.
    """

    name: str
    home: Path
    lm: LMSpec
    objective: str = "tau_b"
    search: SearchSettings = SearchSettings()
    candidates: CandidateSettings = CandidateSettings()
    caps: CallSettings = CallSettings()
    seed: int = 0
    consensus: Consensus = "share"
    evidence: bool = True
    abstain_below: float | None = None
    folds: int | None = None
    source: Mapping[str, object] = field(default_factory=dict)

    @property
    def no_model(self) -> bool:
        """True where nobody is asked, now or ever: the judge is evidence, calibrated."""
        return self.lm.no_model and self.candidates.recorded is None and not self.candidates.asked

    @property
    def asks(self) -> bool:
        """True where somebody is asked: a model, or candidates side by side."""
        return not self.no_model and (self.candidates.recorded is None or bool(self.candidates.asked))

    @property
    def asks_a_model(self) -> bool:
        """True where a language model is asked: the one, or one of several candidates."""
        if not self.candidates.asked:
            return not self.lm.no_model and self.candidates.recorded is None and self.lm.provider != FUNCTION
        return any(self.lm.members[one.name].provider != FUNCTION for one in self.candidates.asked)

    @property
    def rewrites(self) -> tuple[Candidate, ...]:
        """The candidates beside others whose prompt is searched for before they are asked."""
        if self.search.optimizer == JURY_KIND:
            return ()
        return tuple(
            one
            for one in self.candidates.asked
            if one.program is None and self.lm.members[one.name].provider != FUNCTION
        )

    @property
    def compiled_names(self) -> frozenset[str]:
        """Candidates that are what a search has made of another one, which stands beside them: no rivals of theirs."""
        return frozenset(
            one.name for one in self.candidates.asked if one.settings.get(PROMPT, UNCOMPILED) != UNCOMPILED
        )

    @property
    def asks_once(self) -> bool:
        """True where a further fold asks nobody: all verdicts were recorded."""
        return self.candidates.recorded is not None and not self.candidates.asked

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
