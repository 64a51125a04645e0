"""Opens judges: who gives the verdicts of each, and the ways to them; journal, caps and meter are a session's.

Every verb judges by what is opened here. What a judge is made of is looked at in ``GivenJudge`` alone.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

from judgec.errors import UserError
from judgec.evidence.processes import Processes, count_of
from judgec.lm.client import client_of
from judgec.lm.executor import Ask, Executor, OnDone, Progress
from judgec.lm.hosts import own_endpoint
from judgec.lm.journal.journal import Journal
from judgec.lm.outlast import Outlasted
from judgec.lm.router import routed
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Account
from judgec.lm.watch import Watch
from judgec.raters.asked_judges import AskedJudge
from judgec.raters.features import KeptFeatures
from judgec.raters.judge import Binding, CompiledJudge, load_judge, no_member
from judgec.raters.known import KnownAnswers
from judgec.raters.piece import Piece
from judgec.raters.programs import Program, model_of
from judgec.raters.prompt import PromptRater
from judgec.raters.rate import AHEAD, FAR_AHEAD, nobody, rate_all, rated
from judgec.raters.rater import BothOrders, Count, Rater
from judgec.raters.recorded import RecordedRater, RecordedVerdicts, judge_of
from judgec.raters.vote import Juror, Jury
from judgec.records.card import EVIDENCE_ALONE, ProgramCard
from judgec.records.judgment import Judgments
from judgec.records.label import Item
from judgec.table.tables import TableSource
from judgec.verbs.live import live_at, live_leaf, live_specs
from judgec.verbs.options.judge import Asking
from judgec.verbs.recorded import recorded_for, without
from judgec.verbs.spending import account_for, session_for
from judgec.verbs.workspace import Workspace

ENGINES = _, RAY = "local", "ray"
SHOWN_SECONDS = 0.1  # between two steps of the progress bar
SAMPLING_TEMPERATURE = 0.7  # of several samples, where the judge's own is 0: they would all be the same

LookedUp: TypeAlias = tuple[str, RecordedVerdicts, str | None]
"""A recorded judge beside others that are asked, with its verdicts, and who is asked where it has none."""


@dataclass(frozen=True, kw_only=True)
class GivenJudge:
    """A saved judge, and who is asked for its verdicts.

    Args:
        program: What was saved of it: its card, its report, what it has learned from.
        compiled: Prompt, evidence and calibration.
        spec: The model that it asks.
        verdicts: Recorded verdicts that it reads in place of asking a model.
        live: Of a judge of recorded verdicts: which model each of its prompts is put to, in place of the verdicts.
    """

    program: Program = field(repr=False)
    compiled: CompiledJudge
    spec: LMSpec
    verdicts: RecordedVerdicts | None = field(default=None, repr=False)
    live: Mapping[str, LMSpec] = field(default_factory=dict)

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
        return EVIDENCE_ALONE if self.card.evidence_alone else self.spec.asked_at

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
    live: bool = False,
    temperature: float | None = None,
) -> GivenJudge:
    """The judge with its model, or another; parameters as ``judgec.load_judge``. Nothing is opened yet.

    Args:
        program: The judge.
        lm: As there.
        api_base: As there; no endpoint is taken from its card.
        live: As there.
        temperature: Of the models that are asked live.

    Raises:
        ArtifactError: Its files do not fit this version of judgec.
        UserError: A model that cannot be asked in its place, or at another endpoint than the one it was compiled at.
    """
    compiled = load_judge(program)
    if live:
        specs = live_specs(program.card, compiled, lm, api_base, temperature)
        return GivenJudge(program=program, compiled=compiled, spec=next(iter(specs.values())), live=specs)
    return GivenJudge(program=program, compiled=compiled, spec=model_of(program.card, lm=lm, api_base=api_base))


def as_asked(judge: Program | GivenJudge, asking: Asking) -> GivenJudge:
    """The judge with the model that is asked for, else with its own; nothing is opened yet.

    Args:
        judge: As it was saved, or as Python has loaded it: then its own model is the one that it was loaded with.
        asking: Which model, and how it is asked; where evidence alone decides, nobody is, whatever it says.

    Raises:
        UserError: Several samples of what says the same every time, a model that cannot be asked in its place, or the
            judge was compiled at another endpoint than the one that would be asked.
    """
    if asking.live and asking.samples > 1:
        raise UserError(
            "--samples and --live: a recorded prompt is asked once an item; one is valid. Drop one of them."
        )
    lm, api_base = asking.lm, asking.api_base
    if isinstance(judge, Program):
        if judge.card.evidence_alone:
            return as_loaded(judge, api_base=api_base)
        judge = as_loaded(judge, lm=lm, api_base=api_base, live=asking.live, temperature=asking.temperature)
    elif lm is not None or api_base is not None:
        lm, api_base = lm or judge.spec.model, api_base or judge.spec.api_base
        judge = replace(judge, spec=model_of(judge.card, lm=lm, api_base=api_base))
    return judge if judge.live else replace(judge, spec=_sampled(judge.name, judge.spec, asking))


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


def shown_at(judge: GivenJudge, asking: Asking) -> str:
    """Model and host of a judge as they are shown before it is asked."""
    live = asking.live and not judge.card.evidence_alone
    return live_at(judge.card, asking.lm, asking.api_base) if live else judge.asked_at


def _lacking(looked_up: Sequence[LookedUp], item_ids: Sequence[str]) -> list[str]:
    missing = {name: (recorded.lacking(name, item_ids), then) for name, recorded, then in looked_up}
    return [without(name, lacks, len(item_ids), then) for name, (lacks, then) in missing.items() if lacks]


@dataclass(frozen=True, slots=True)
class OpenJudge:
    """A judge, or several as one, with the ways to whoever gives their verdicts.

    Args:
        rater: Grades items.
        ask: Sends its requests.
        prompts: Those of its parts that are prompts to a model, with the judge's name.
        looked_up: Recorded judges beside others that are asked.
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
            UserError: On all of them: without it the others would be another judge.
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
    ask: Ask = nobody
    if judge.asks_lm:
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
    recorded = _Recorded(judge, table, None, Count(), item_ids)

    def looked_up(member: str) -> Rater:
        rater = recorded(member)
        for sentence in _lacking(recorded.beside[-1:], [*item_ids().values()]):
            watch.stage("verdicts", sentence)
        return rater

    with ExitStack() as opened:
        if judge.live:
            models = opened.enter_context(session(None))
            ask = routed({name: models.executor(spec).run for name, spec in judge.live.items()})
            leaf = live_leaf(judge.compiled, {name: name for name in judge.live})
            return rate_all(judge.compiled.bound(Binding(leaf)), items, ask)
        if not judge.asks_lm or judge.spec.recorded is not None:  # no journal is opened for what asks nobody
            return rate_all(judge.compiled.bound(Binding(recorded)), items)
        ask = opened.enter_context(session(judge.spec)).finish
        return judge.compiled.judge(items, ask, recorded=looked_up)


@dataclass(frozen=True, slots=True)
class _Recorded:
    """Gives the recorded verdicts of a judge's members; each source of them is read once."""

    judge: GivenJudge
    file: TableSource
    columns: Mapping[str, str] | None
    count: Count
    item_ids: Callable[[], Mapping[str, str] | None] = lambda: None
    beside: list[LookedUp] = field(default_factory=list)
    _found: dict[str, RecordedVerdicts] = field(default_factory=dict)

    def __call__(self, member: str) -> Rater:
        card, judge = self.judge.card, self.judge.compiled
        model = self.judge.spec.members.get(member, self.judge.spec)
        found = self.judge.verdicts or self._found.get(model.model)
        if found is None:
            found = self._found[model.model] = recorded_for(card, judge, model, self.file, self.columns)
        if judge.jurors:
            self.beside.append((member, found, judge.after(member)))
        return RecordedRater(found, member or judge_of(card), self.count, self.item_ids())


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
    _reached: list[Executor] = field(default_factory=list)

    def ask(self, outlasted: Outlasted | None) -> Ask:
        """To each model, by its number; one that outlasts its service where the run does."""
        ways: dict[str, Ask] = {str(number): executor.run for number, executor in enumerate(self._reached)}
        return routed(ways if outlasted is None else {to: outlasted.asking(ask) for to, ask in ways.items()})

    def juror(self, given: GivenJudge) -> Juror:
        """One judge, bound to whoever gives its verdicts."""
        judge, orders = given.compiled, 1 + given.compiled.pairs
        leaves: Sequence[Callable[[str], Rater]]
        if not judge.asks_lm:
            leaves, orders = [no_member], 0
        elif given.live:
            to = {member: self._reach(spec)[0] for member, spec in given.live.items()}
            leaves = [live_leaf(judge, to, self.count)]
        else:
            recorded = _Recorded(given, self.file, self.columns, self.count, beside=self.looked_up)
            leaves = [partial(self._leaf, given, recorded, sample) for sample in range(self.asking.samples)]
            if given.spec.recorded is not None:
                orders = 1
        members = 1 if judge.joint is None else len(judge.joint.members)
        self.count.total += self.items * members * orders * len(leaves)
        features = KeptFeatures(self.session.journal, given.name, self.processes)
        return Juror(given.name, judge, [judge.bound(Binding(leaf, features, self.count, orders)) for leaf in leaves])

    def _reach(self, spec: LMSpec) -> tuple[str, Executor]:
        """The executor of a model's calls, and its number; the first time, the model is asked if it answers."""
        executor = self.session.executor(spec)
        if executor not in self._reached:
            executor.preflight()
            self._reached.append(executor)
        return str(self._reached.index(executor)), executor

    def _leaf(self, given: GivenJudge, recorded: _Recorded, sample: int, member: str) -> Rater:
        """A member that is asked, or whose verdicts were recorded."""
        judge, juror = given.compiled, member in given.compiled.jurors
        model = given.spec.members.get(member, given.spec)
        if not juror and model.recorded is not None:
            return recorded(member)
        to, executor = self._reach(model)
        rater = PromptRater(
            judge.jurors[member] if juror else judge.module,
            scale=judge.scale,
            aspects=judge.aspects,
            to=to,
            sample=sample,
            samples=self.asking.samples,
            structured=self.asking.structured,
            anew=True,
            known=KnownAnswers(self.session.journal, client_of(executor.lm), member if juror else given.name),
            count=self.count,
        )
        if not sample:
            self.prompts.append((given.name, rater))
        return BothOrders(rater, judge.scale) if judge.pairs else rater


def abstaining(cards: Sequence[ProgramCard], below: float | None) -> Callable[[Judgments], Judgments]:
    """Leaves out the judgments that are less sure than asked for, or than the only judge was compiled for."""
    if below is None and len(cards) == 1:
        compiled = cards[0].settings.get("abstain_below")
        below = float(compiled) if isinstance(compiled, float | int) else None
    if not below or below < 0:
        return lambda judgments: judgments
    from judgec.compile.abstain import abstain, agreement_of  # all that fits judges comes with it

    return partial(abstain, below=below, of=agreement_of(cards[0].objective), scale=cards[0].scale)
