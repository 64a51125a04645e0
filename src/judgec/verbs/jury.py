"""Opens the judges of a bulk run: each with its model; journal, caps and meter are theirs together."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from judgec.errors import UserError
from judgec.lm.door import door_of
from judgec.lm.executor import Ask, Executor, OnDone, Progress
from judgec.lm.hosts import own_endpoint
from judgec.lm.journal.journal import Journal
from judgec.lm.outlast import Outlasted
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.lm.switchboard import Switchboard
from judgec.lm.usage import Account
from judgec.lm.watch import Watch
from judgec.raters.judge import CompiledJudge, load_judge
from judgec.raters.live import LiveInterview
from judgec.raters.programs import Program
from judgec.raters.recorded import RecordedInterview, judge_of
from judgec.raters.stream.ahead import Processes, count_of
from judgec.raters.stream.interview import AHEAD, FAR_AHEAD
from judgec.raters.stream.jurors import JuryInterview
from judgec.raters.stream.jury import Juror, Jury
from judgec.raters.stream.recall import Recall
from judgec.records.card import EVIDENCE_ALONE, ProgramCard
from judgec.records.judgment import Judgments
from judgec.table.tables import TableSource
from judgec.verbs.live import live_interview, live_specs
from judgec.verbs.options.judge import Asking
from judgec.verbs.recorded import recorded_for
from judgec.verbs.spending import account_for, session_for
from judgec.verbs.workspace import Workspace

ENGINES = _, RAY = "local", "ray"
SHOWN_SECONDS = 0.1  # between two steps of the progress bar
SAMPLING_TEMPERATURE = 0.7  # of several samples, where the judge's own is 0: they would all be the same


@dataclass
class VerdictCount:
    """Counts the verdicts of a run and tells how far it is.

    Args:
        session: Its meter is shown beside the count.
        on_done: Told now and then.
    """

    session: Session
    on_done: OnDone
    done: int = field(default=0, init=False)
    total: int = field(default=0, init=False)
    unscored: int = field(default=0, init=False)
    _shown: float = field(default=0.0, init=False)

    def add(self, done: int, unscored: int) -> None:
        """Verdicts that have come."""
        self.done += done
        self.unscored += unscored
        if time.monotonic() - self._shown > SHOWN_SECONDS:
            self.on_done(Progress(self.done, self.total, self.unscored, self.session.spent))
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


def open_jury(
    loaded: Sequence[Program],
    items: int,
    asking: Asking,
    session: Session,
    count: VerdictCount,
    file: TableSource = "",
    columns: Mapping[str, str] | None = None,
    *,
    workers: int | None = 1,
    outlasted: Outlasted | None = None,
) -> Jury:
    """The judges, ready to judge.

    Args:
        loaded: The programs.
        items: How many items there will be.
        asking: Which model, and how it is asked.
        session: The way to it.
        count: Told of verdicts.
        file: What is judged, for judges whose recorded verdicts are columns of it.
        columns: judgec's names of these columns by theirs.
        workers: Processes that read evidence; None for as many as are worth it. They end with the session.
        outlasted: Told of a service that is lost, in place of an error: what it has not answered is unscored then.

    Raises:
        UserError: Several samples of a model that says the same every time.
        ServiceError: A model cannot be reached.
    """
    if asking.live and asking.samples > 1:
        raise UserError(
            "--samples and --live: a recorded prompt is asked once an item; one is valid. Drop one of them."
        )
    judges = [load_judge(program) for program in loaded]
    alone = [judge.evidence for judge in judges if judge.evidence is not None and not judge.asks_lm]
    count_processes = count_of(workers, items, asks_lm=len(alone) < len(judges))
    processes = session.opened.enter_context(Processes(count_processes, alone)) if count_processes else None
    door = _Door(items, asking, session, count, file, columns, processes, outlasted)
    return Jury(list(map(door.juror, loaded, judges)))


@dataclass(frozen=True, slots=True)
class _Door:
    """What the judges of a run share while they are opened, one after the other."""

    items: int
    asking: Asking
    session: Session
    count: VerdictCount
    file: TableSource
    columns: Mapping[str, str] | None
    processes: Processes | None
    outlasted: Outlasted | None
    reached: list[Executor] = field(default_factory=list)

    @property
    def ahead(self) -> int:
        """How many pieces may wait for a slow call."""
        return FAR_AHEAD if self.asking.batch else AHEAD

    def reach(self, spec: LMSpec) -> Executor:
        """What makes the calls to a model; the first time it is looked whether it answers."""
        executor = self.session.executor(spec)
        if executor not in self.reached:
            executor.preflight()
            self.reached.append(executor)
        return executor

    def ask(self, ask: Ask) -> Ask:
        """The way to a model: one that outlasts its service where the run does."""
        return ask if self.outlasted is None else self.outlasted.asking(ask)

    def juror(self, program: Program, judge: CompiledJudge) -> Juror:
        """One judge, with whoever gives its verdicts."""
        name = f"{program.card.name}@{program.card.version}"
        if not judge.asks_lm:
            return Juror(name, judge, None, Recall(self.session.journal, None, name, self.processes))
        if self.asking.live:
            return Juror(name, judge, self._live(program.card, judge), self._features(name))
        spec = spec_for(program.card, self.asking)
        if judge.jurors:
            return Juror(name, judge, self._jurors(judge, spec), self._features(name))
        if spec.recorded is not None:
            return Juror(name, judge, self._recorded(program.card, judge, spec), self._features(name))
        self.count.total += self.items * self.asking.samples * (1 + judge.pairs)
        executor = self.reach(spec)
        recall = Recall(self.session.journal, door_of(executor.lm), name)
        asked = judge.interview(
            self.ask(executor.run),
            samples=self.asking.samples,
            structured=self.asking.structured,
            recall=recall,
            ahead=self.ahead,
            on_verdict=self.count.add,
        )
        return Juror(name, judge, asked, recall)

    def _features(self, name: str) -> Recall:
        """Where features alone are looked up: the verdicts come from several models, or from none."""
        return Recall(self.session.journal, None, name)

    def _live(self, card: ProgramCard, judge: CompiledJudge) -> LiveInterview:
        asking = self.asking
        specs = live_specs(card, judge, asking.lm, asking.api_base, asking.temperature)
        self.count.total += self.items * len(specs) * (1 + judge.pairs)
        return live_interview(judge, specs, lambda spec: self.ask(self.reach(spec).run), self.count.add)

    def _jurors(self, judge: CompiledJudge, spec: LMSpec) -> JuryInterview:
        self.count.total += self.items * len(judge.jurors) * (1 + judge.pairs)
        board = Switchboard({name: self.reach(spec.members[name]) for name in judge.jurors})
        return judge.jury(
            self.ask(board.run),
            lambda juror: Recall(self.session.journal, door_of(board.members[juror].lm), juror),
            structured=self.asking.structured,
            ahead=self.ahead,
            on_verdict=self.count.add,
        )

    def _recorded(self, card: ProgramCard, judge: CompiledJudge, spec: LMSpec) -> RecordedInterview:
        self.count.total += self.items
        recorded = recorded_for(card, spec, self.file, self.columns, judge.joint)
        pairs = judge.pairs
        return RecordedInterview(recorded, judge_of(card), pairs=pairs, on_verdict=self.count.add)


def spec_for(card: ProgramCard, asking: Asking) -> LMSpec:
    """The card's model, or the one asked for; several samples need a temperature."""
    spec = LMSpec.from_card(card.lm, model=asking.lm, api_base=asking.api_base, asks=not card.evidence_alone)
    if spec.members:
        for option, given in (("--samples", asking.samples > 1), ("--temperature", asking.temperature is not None)):
            if given:
                raise UserError(
                    f"{option}: {card.name}@{card.version} is a jury, which is asked as it was measured. Leave it out."
                )
        return spec
    if asking.samples > 1 and (spec.embedded or spec.recorded is not None):
        who = "the embedded engine says" if spec.embedded else "recorded verdicts say"
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


def asked_at(card: ProgramCard, asking: Asking) -> str:
    """What answers for a judge, and where: nothing is asked where evidence alone decides, whatever --lm names.

    Raises:
        UserError: The judge was compiled at another endpoint than the one that would be asked.
    """
    if card.evidence_alone:
        return EVIDENCE_ALONE
    if not asking.live:
        spec = spec_for(card, asking)
        return (asking.lm or card.engine or spec.model) if spec.embedded else spec.asked_at
    models = [one.rpartition("=")[2].strip() for one in (asking.lm or "").split(",") if "/" in one]
    asked = [LMSpec.parse(one, api_base=asking.api_base).asked_at for one in models]
    return ", ".join(asked) or str(asking.lm or card.lm.get("model"))


def abstaining(cards: Sequence[ProgramCard], below: float | None) -> Callable[[Judgments], Judgments]:
    """Leaves out the judgments that are less sure than asked for, or than the only judge was compiled for."""
    if below is None and len(cards) == 1:
        compiled = cards[0].settings.get("abstain_below")
        below = float(compiled) if isinstance(compiled, float | int) else None
    if not below or below < 0:
        return lambda judgments: judgments
    from judgec.compile.abstain import abstain, agreement_of  # all that fits judges comes with it

    return partial(abstain, below=below, of=agreement_of(cards[0].objective), scale=cards[0].scale)
