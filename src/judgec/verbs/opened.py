"""Opens judges: who gives the verdicts of each, and the ways to them; journal, caps and meter are a session's.

Every verb judges by what is opened here. What a judge is made of is looked at in ``GivenJudge`` alone.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cache, partial
from threading import Lock
from typing import TypeAlias

from judgec.errors import UserError
from judgec.evidence.processes import Processes, count_of
from judgec.lm.client import client_of
from judgec.lm.executor import Ask, Executor, OnDone, Progress, Reply, Request
from judgec.lm.hosts import own_endpoint
from judgec.lm.journal.journal import Journal
from judgec.lm.outlast import Outlasted
from judgec.lm.router import routed
from judgec.lm.session import Session
from judgec.lm.spec import RECORDED, LMSpec
from judgec.lm.usage import Account
from judgec.lm.watch import Watch
from judgec.raters.asked_judges import AskedJudge
from judgec.raters.features import KeptFeatures
from judgec.raters.judge import JudgeTree, load_judge
from judgec.raters.known import KnownAnswers
from judgec.raters.piece import Piece
from judgec.raters.programs import Program, model_of
from judgec.raters.prompt import PromptRater, leaf_rater
from judgec.raters.rate import AHEAD, FAR_AHEAD, nobody, rated
from judgec.raters.rater import BothOrders, Count, Rater, RecordedRater
from judgec.raters.recorded import RecordedVerdicts
from judgec.raters.run import Bound
from judgec.raters.tree import Cascade, Leaf, Node, Prompt
from judgec.raters.vote import Juror, Jury
from judgec.records.card import EVIDENCE_ALONE, ProgramCard
from judgec.records.judgment import Judgments
from judgec.records.label import Item
from judgec.table.tables import TableSource
from judgec.verbs.options.judge import Asking
from judgec.verbs.recorded import recorded_for, without
from judgec.verbs.spending import account_for, session_for
from judgec.verbs.workspace import Workspace

ENGINES = _, RAY = "local", "ray"
SHOWN_SECONDS = 0.1  # between two steps of the progress bar
SAMPLING_TEMPERATURE = 0.7  # of several samples, where the judge's own is 0: they would all be the same

LookedUp: TypeAlias = tuple["GivenJudge", Leaf, RecordedVerdicts]
"""A part of a judge whose verdicts are looked up alone, with them."""


@dataclass(frozen=True, kw_only=True)
class GivenJudge:
    """A saved judge, and who is asked for its verdicts.

    Args:
        program: What was saved of it: its card, its report, what it has learned from.
        compiled: Its tree.
        spec: The model that it asks, or where its verdicts were recorded.
        verdicts: Recorded verdicts that it reads, in place of those.
        prompted: The models that prompts are put to whose verdicts were recorded, where an item has none.
    """

    program: Program = field(repr=False)
    compiled: JudgeTree
    spec: LMSpec
    verdicts: RecordedVerdicts | None = field(default=None, repr=False)
    prompted: Mapping[str, LMSpec] = field(default_factory=dict)

    @property
    def card(self) -> ProgramCard:
        """What it is and where it came from."""
        return self.program.card

    @property
    def name(self) -> str:
        """``NAME@VERSION``."""
        return f"{self.card.name}@{self.card.version}"

    @property
    def saved(self) -> bool:
        """True if it is among the programs; a judge without labels is not."""
        return self.card.version > 0

    @property
    def asks_lm(self) -> bool:
        """False where evidence alone decides."""
        return self.compiled.asks_lm

    @property
    def asked_at(self) -> str:
        """Model and host; where evidence alone decides, that nothing is asked."""
        if self.card.evidence_alone:
            return EVIDENCE_ALONE
        asked = ", ".join(dict.fromkeys(one.asked_at for one in self.prompted.values()))
        return f"{self.spec.asked_at}; items without a verdict: {asked}" if asked else self.spec.asked_at

    @property
    def models(self) -> list[str]:
        """Those that it asks, or that gave its recorded verdicts."""
        return [one.model for one in self.spec.members.values()] or [self.spec.model]

    @property
    def accepts(self) -> bool:
        """False where the scale has no accept threshold and none was fitted: it accepts and rejects nothing."""
        fitted = (one.accept_threshold for one in self.compiled.calibrators.values())
        return self.card.scale.accept_index is not None or any(one is not None for one in fitted)


class VerdictCount(Count):
    """Counts the verdicts of a run and tells how far it is.

    Args:
        session: Its meter is shown beside the count.
        on_done: Told now and then.

    Attributes:
        total: How many verdicts there will be.
    """

    def __init__(self, session: Session, on_done: OnDone) -> None:
        super().__init__()
        self.total = 0
        self._session, self._on_done = session, on_done
        self._shown = 0.0

    def add(self, done: int, unscored: int) -> None:
        """As ``Count.add``."""
        super().add(done, unscored)
        if time.monotonic() - self._shown > SHOWN_SECONDS:
            self._on_done(Progress(self.done, self.total, self.unscored, self._session.spent))
            self._shown = time.monotonic()


def open_session(
    asking: Asking,
    workspace: Workspace,
    watch: Watch,
    *,
    account: Account | None = None,
    journal: Journal | None = None,
) -> Session:
    """The way to the judges' models, in this process or on a cluster.

    Args:
        asking: Which model, and how it is asked.
        workspace: Where calls are journaled.
        watch: Told of calls that wait.
        account: In place of one with the caps of ``asking``.
        journal: In place of the workspace's.

    Raises:
        UserError: An unknown engine, or an address without Ray.
        ServiceError: No cluster answers.
    """
    if asking.engine not in ENGINES:
        raise UserError(f"--engine {asking.engine}: unknown; {' and '.join(ENGINES)} are valid. Name one of them.")
    if asking.ray_address and asking.engine != RAY:
        raise UserError("--ray-address: only --engine ray uses a cluster; with it the address is valid. Add it.")
    if asking.batch and asking.engine == RAY:
        raise UserError("--batch and --engine ray: the provider makes the calls of a batch. Leave one of them out.")
    return session_for(
        asking,
        None,
        workspace.home,
        watch,
        # What is free does not count against the caps: the same command goes on where the last one stopped.
        account=account or account_for(asking, count_journaled=False),
        journal=journal,
        ray=asking.engine == RAY,
        ray_address=asking.ray_address,
        environ=workspace.environ,
    )


def as_loaded(
    program: Program,
    *,
    lm: str | None = None,
    api_base: str | None = None,
    temperature: float | None = None,
) -> GivenJudge:
    """The judge with its model, or another; parameters as ``judgec.load_judge``. Nothing is opened yet.

    Args:
        program: The judge.
        lm: As there; of prompts whose verdicts were recorded the model of all of them, or ``WHOSE=MODEL,...`` for some:
            a recorded judge, or the model whose verdicts were recorded, and whom to ask.
        api_base: As there; no endpoint is taken from its card.
        temperature: Of the models that such prompts are put to.

    Raises:
        ArtifactError: Its files do not fit this version of judgec.
        UserError: A model that cannot be asked in its place, or at another endpoint than the one it was compiled at.
    """
    compiled = load_judge(program)
    prompts = [leaf for leaf in compiled.prompts if leaf.verdicts]
    named = lm if prompts and lm is not None and not lm.startswith(RECORDED) else None
    spec = model_of(program.card, lm=lm if named is None else None, api_base=api_base)
    models = _models_of(prompts, named)
    asked = {name: LMSpec.parse(one, api_base=api_base, temperature=temperature) for name, one in models.items()}
    return GivenJudge(program=program, compiled=compiled, spec=spec, prompted=asked)


def _models_of(prompts: Sequence[Prompt], lm: str | None) -> dict[str, str]:
    """Whom to ask with each recorded judge's prompt; those of whose model nobody can be asked are left out.

    Raises:
        UserError: A name before ``=`` is neither a judge nor a model of these verdicts.
    """
    own = {one.name: str(one.lm.get("model") or "") for one in prompts}
    named = dict.fromkeys(own, lm) if lm is not None and "=" not in lm else {}
    if lm is not None and "=" in lm:
        named = {who.strip(): model.strip() for who, _, model in (one.rpartition("=") for one in lm.split(","))}
    if strange := [who for who in named if who not in {*own, *own.values()}]:
        raise UserError(
            f"--lm {lm}: {', '.join(strange)} is neither a judge nor a model of these verdicts; "
            f"{', '.join(sorted({*own, *filter(None, own.values())}))} are valid before the =. Correct it."
        )
    found = {name: named.get(name) or named.get(model) or model for name, model in own.items()}
    return {name: model for name, model in found.items() if model and "/" in model}


def as_asked(judge: Program | GivenJudge, asking: Asking) -> GivenJudge:
    """The judge with the model that is asked for, else with its own; nothing is opened yet.

    Args:
        judge: As it was saved, or as Python has loaded it: then its own model is the one that it was loaded with.
        asking: Which model, and how it is asked; where evidence alone decides, nobody is, whatever it says.

    Raises:
        UserError: Several samples of what says the same every time, a model that cannot be asked in its place, or the
            judge was compiled at another endpoint than the one that would be asked.
    """
    lm, api_base = asking.lm, asking.api_base
    if isinstance(judge, Program):
        if judge.card.evidence_alone:
            return as_loaded(judge, api_base=api_base)
        judge = as_loaded(judge, lm=lm, api_base=api_base, temperature=asking.temperature)
    elif lm is not None or api_base is not None:
        lm, api_base = lm or judge.spec.model, api_base or judge.spec.api_base
        judge = replace(judge, spec=model_of(judge.card, lm=lm, api_base=api_base))
    return replace(judge, spec=_sampled(judge.name, judge.spec, asking))


def _sampled(name: str, spec: LMSpec, asking: Asking) -> LMSpec:
    """The model with the temperature that is asked for; several samples need one."""
    if spec.members:
        for option, given in (("--samples", asking.samples > 1), ("--temperature", asking.temperature is not None)):
            if given:
                raise UserError(f"{option}: {name} is a jury, which is asked as it was measured. Leave it out.")
        return spec
    if asking.samples > 1 and (spec.no_model or spec.recorded is not None):
        who = "a judge without a model says" if spec.no_model else "recorded verdicts say"
        raise UserError(
            f"--samples: {who} the same every time; a language model gives several samples. "
            "Leave --samples out, or name a model with --lm."
        )
    temperature = asking.temperature
    if temperature is None and asking.samples > 1 and not spec.reasoning:
        temperature = spec.temperature or SAMPLING_TEMPERATURE
    if temperature is None:
        return spec
    return LMSpec.parse(
        spec.model,
        api_base=spec.api_base or own_endpoint(spec.model),
        temperature=temperature,
        max_tokens=spec.max_tokens,
        timeout=spec.timeout,
        top_logprobs=spec.top_logprobs,
        extra=spec.extra,
        without=spec.without,
    )


def _lacking(looked_up: Sequence[LookedUp], item_ids: Sequence[str]) -> list[str]:
    said = []
    for given, leaf, recorded in looked_up:
        lacks = int((~recorded.asked(leaf.name, item_ids)).sum())
        if lacks and lacks == len(item_ids) and isinstance(leaf, Prompt):
            _nobody(given, leaf)
        if lacks and any(not one.verdicts for one in given.compiled.leaves):
            said.append(without(leaf.name, lacks, len(item_ids), _after(given.compiled.rater, leaf)))
    return said


@dataclass(frozen=True, slots=True)
class OpenJudge:
    """A judge, or several as one, with the ways to whoever gives their verdicts.

    Args:
        rater: Grades items.
        ask: Sends its requests.
        prompts: Those of its parts that are prompts to a model, with the judge's name.
        looked_up: Those whose verdicts are looked up alone.
        ahead: Pieces that may wait for a slow call in the first of them.
        agreement: Says how far several judges, or samples of one, agreed on what was judged so far; None of one.
    """

    rater: Rater
    ask: Ask
    prompts: Sequence[tuple[str, PromptRater]] = ()
    looked_up: Sequence[LookedUp] = ()
    ahead: int = AHEAD
    agreement: Callable[[], dict[str, object] | None] = lambda: None

    def lacking(self, item_ids: Sequence[str]) -> list[str]:
        """On how many items a recorded judge has no verdict, where others are asked; in a sentence each.

        Raises:
            UserError: On all of them: without it the others would be another judge, or nobody asks its prompt.
        """
        return _lacking(self.looked_up, item_ids)

    def judge(self, pieces: Iterable[Piece]) -> Iterator[Judgments]:
        """The judgments on items, piece by piece."""
        for _, judged in rated(self.rater, pieces, self.ask, ahead=self.ahead):
            yield judged


def open_judges(
    judges: Sequence[GivenJudge],
    items: int,
    asking: Asking,
    session: Session,
    count: VerdictCount,
    file: TableSource = "",
    columns: Mapping[str, str] | None = None,
    *,
    workers: int | None = 1,
    outlasted: Outlasted | None = None,
) -> OpenJudge:
    """The judges, ready to judge many items as one.

    Args:
        judges: From ``as_asked``.
        items: How many items there will be.
        asking: How they are asked.
        session: The way to their models.
        count: Told of verdicts.
        file: What is judged, for judges whose recorded verdicts are columns of it.
        columns: judgec's names of these columns by theirs.
        workers: Processes that read evidence; None for as many as are worth it. They end with the session.
        outlasted: Told of a service that is lost, in place of an error: what it has not answered is unscored then.

    Raises:
        UserError: Judges of different scales or aspects.
        ServiceError: A model cannot be reached.
    """
    alone = [one.compiled.evidence for one in judges if one.compiled.evidence is not None and not one.asks_lm]
    count_processes = count_of(workers, items, asks_lm=len(alone) < len(judges))
    processes = session.opened.enter_context(Processes(count_processes, alone)) if count_processes else None
    opening = _Opening(items, asking, session, count, file, columns, processes)
    jury = Jury(tuple(map(opening.juror, judges)))
    ahead = FAR_AHEAD if asking.batch else AHEAD
    return OpenJudge(jury, opening.ask(outlasted), opening.prompts, opening.looked_up, ahead, jury.agreement)


def asked_by(judge: GivenJudge, session: Session, name: str = "") -> AskedJudge:
    """A judge of items that are held already, which asks its model in a session of several.

    Args:
        judge: The judge.
        session: The way to its model.
        name: For reports; by default its own.
    """
    ask = session.ask if judge.spec == session.spec else session.other(judge.spec)
    return AskedJudge(name or judge.name, judge.compiled, ask, judge.card)


def judge_rows(
    judge: GivenJudge,
    items: Sequence[Item],
    table: TableSource,
    item_ids: Callable[[], Mapping[str, str]],
    session: Callable[[LMSpec | None], Session],
    watch: Watch,
) -> Judgments:
    """The judgments on a few rows; calls go on to the end when one does not fit the caps or the service is lost.

    Args:
        judge: The judge.
        items: The rows.
        table: The same, for recorded verdicts that are columns of them.
        item_ids: Gives those of the rows by those of the items.
        session: Opens the way to a model, or to several that are named one by one; not called where nobody is asked.
        watch: Told on how many rows a recorded judge has no verdict.

    Raises:
        UserError: Nobody gives the verdicts of a recorded judge.
    """
    lock, recorded = Lock(), _Recorded(judge, table, None, Count(), item_ids)
    with ExitStack() as stack:

        @cache
        def models() -> Session:
            return stack.enter_context(session(None))

        def later(spec: LMSpec) -> Ask:
            """The way to a model that is opened when somebody is asked about: no journal is for what asks nobody."""

            def ask(requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:
                with lock:
                    executor = models().executor(spec)
                yield from executor.run(requests, total=total)

            return ask

        def looked_up(leaf: Leaf) -> Rater:
            found = recorded(leaf)
            for sentence in _lacking(recorded.beside[-1:], [*item_ids().values()]):
                watch.stage("verdicts", sentence)
            if leaf.name not in judge.prompted:
                return found or _nobody(judge, leaf)
            both, scale, aspects = judge.compiled.pairs, judge.card.scale, judge.card.aspects
            return recorded.supplied(found, leaf_rater(leaf, scale, aspects, both_orders=both, to=leaf.name))

        ways = {name: later(spec) for name, spec in judge.prompted.items()}
        asked = [leaf for leaf in judge.compiled.leaves if not leaf.verdicts]
        if asked:
            main = stack.enter_context(session(judge.spec)).finish
            ways |= {leaf.name if len(judge.compiled.leaves) > 1 else "": main for leaf in asked}
        return judge.compiled.judge(items, routed(ways) if ways else nobody, recorded=looked_up)


def _nobody(judge: GivenJudge, leaf: Leaf) -> Rater:
    """Refuse a prompt of which there are neither verdicts nor a model.

    Raises:
        UserError: Always.
    """
    of = f"of {leaf.lm['model']}" if isinstance(leaf, Prompt) and leaf.lm.get("model") else "of a model nobody named"
    raise UserError(
        f"{judge.name}: the items hold no verdict of {leaf.name}, and its verdicts were {of}; provider/name is valid, "
        "for example openai/gpt-4o. Say with --lm whom to ask its prompt, or give its verdicts with --lm recorded:FILE."
    )


@dataclass(frozen=True, slots=True)
class _Recorded:
    """Gives the recorded verdicts of a judge's leaves; each source of them is read once."""

    judge: GivenJudge
    file: TableSource
    columns: Mapping[str, str] | None
    count: Count
    item_ids: Callable[[], Mapping[str, str] | None] = lambda: None
    beside: list[LookedUp] = field(default_factory=list)
    _found: dict[str, RecordedVerdicts | None] = field(default_factory=dict)

    def __call__(self, leaf: Leaf) -> RecordedRater | None:
        card, judge, name = self.judge.card, self.judge.compiled, leaf.name
        model = self.judge.spec.members.get(name, self.judge.spec)
        found = self.judge.verdicts
        if found is None:
            if model.model not in self._found:
                self._found[model.model] = recorded_for(card, judge, model, self.file, self.columns)
            found = self._found[model.model]
        if found is None or (isinstance(leaf, Prompt) and name not in found.judges):
            return None
        if name not in self.judge.prompted:
            self.beside.append((self.judge, leaf, found))
        return RecordedRater(found, name, self.count, self.item_ids())

    def supplied(self, found: RecordedRater | None, asked: Rater) -> Rater:
        """The verdicts that there are, and a prompt where an item has none."""
        return asked if found is None else replace(found, prompt=asked)


def _after(tree: Node, leaf: Leaf) -> str | None:
    """The judge that is asked where a leaf has no verdict: of a cascade's first the second; else nobody."""
    first = isinstance(tree, Cascade) and any(one.name == leaf.name for one in tree.first.leaves)
    return next(tree.then.leaves).name if isinstance(tree, Cascade) and first else None


@dataclass(frozen=True, slots=True)
class _Opening:
    """The parts that the judges of a run share while they are opened, one after the other."""

    items: int
    asking: Asking
    session: Session
    count: VerdictCount
    file: TableSource
    columns: Mapping[str, str] | None
    processes: Processes | None
    prompts: list[tuple[str, PromptRater]] = field(default_factory=list)
    looked_up: list[LookedUp] = field(default_factory=list)
    _ways: dict[str, Ask] = field(default_factory=dict)
    _reached: list[Executor] = field(default_factory=list)

    def ask(self, outlasted: Outlasted | None) -> Ask:
        """To each model, by its number; one that outlasts its service where the run does."""
        ways = self._ways
        return routed(ways if outlasted is None else {to: outlasted.asking(ask) for to, ask in ways.items()})

    def juror(self, given: GivenJudge) -> Juror:
        """One judge, bound to whoever gives its verdicts."""
        judge = given.compiled
        orders = 1 + judge.pairs if given.spec.recorded is None or given.prompted else 1
        features = KeptFeatures(self.session.journal, given.name, self.processes)
        recorded = _Recorded(given, self.file, self.columns, self.count, beside=self.looked_up)
        samples = self.asking.samples if judge.asks_lm else 1
        runs = [
            judge.run(partial(self._leaf, given, recorded, n), features=features, count=self.count, orders=orders)
            for n in range(samples)
        ]
        for run in runs:
            for leaf in judge.leaves:
                run.rater(leaf)
        self.count.total += self.items * len(judge.leaves) * orders * samples
        return Juror(given.name, judge, [Bound(judge.rater, run) for run in runs])

    def _reach(self, spec: LMSpec) -> tuple[str, Executor]:
        """The executor of a model's calls, and its number; the first time, the model is asked if it answers."""
        executor = self.session.executor(spec)
        if executor not in self._reached:
            executor.preflight()
            self._reached.append(executor)
            self._ways[f"{len(self._reached) - 1}"] = executor.run
        return str(self._reached.index(executor)), executor

    def _later(self, name: str, spec: LMSpec) -> str:
        """What requests call a model that is reached when somebody is asked about."""

        def ask(requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:
            executor = self.session.executor(spec)
            executor.preflight()
            yield from executor.run(requests, total=total)

        self._ways[to := f"prompt {name}"] = ask
        return to

    def _leaf(self, given: GivenJudge, recorded: _Recorded, sample: int, leaf: Leaf) -> Rater:
        """A leaf that is asked, or whose verdicts were recorded."""
        judge, name = given.compiled, leaf.name
        about, both = (judge.scale, judge.aspects), judge.pairs
        if leaf.verdicts:
            found = recorded(leaf)
            if name not in given.prompted:
                return found or _nobody(given, leaf)
            to = self._later(f"{given.name} {name}", given.prompted[name])
            return recorded.supplied(found, leaf_rater(leaf, *about, both_orders=both, to=to, count=self.count))
        to, executor = self._reach(given.spec.members.get(name, given.spec))
        known = name if given.spec.members else given.name
        rater = leaf_rater(
            leaf,
            *about,
            both_orders=both,
            to=to,
            sample=sample,
            samples=self.asking.samples,
            structured=self.asking.structured,
            anew=True,
            known=KnownAnswers(self.session.journal, client_of(executor.lm), known),
            count=self.count,
        )
        if not sample:
            asked = rater.of if isinstance(rater, BothOrders) else rater
            self.prompts.extend([(given.name, asked)] if isinstance(asked, PromptRater) else [])
        return rater


def abstaining(cards: Sequence[ProgramCard], below: float | None) -> Callable[[Judgments], Judgments]:
    """Leaves out the judgments that are less sure than asked for, or than the only judge was compiled for."""
    if below is None and len(cards) == 1:
        compiled = cards[0].settings.get("abstain_below")
        below = float(compiled) if isinstance(compiled, float | int) else None
    if not below or below < 0:
        return lambda judgments: judgments
    from judgec.compile.abstain import abstain, agreement_of  # all that fits judges comes with it

    return partial(abstain, below=below, of=agreement_of(cards[0].objective), scale=cards[0].scale)
