"""Opens the judges of a bulk run: each with its model; journal, caps and meter are theirs together."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from judgec.errors import UserError
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
from judgec.raters.ahead import Processes, count_of
from judgec.raters.features import KeptFeatures
from judgec.raters.judge import Binding, CompiledJudge, load_judge, no_member
from judgec.raters.known import KnownAnswers
from judgec.raters.piece import Piece
from judgec.raters.programs import Program
from judgec.raters.prompt import PromptRater
from judgec.raters.rate import AHEAD, FAR_AHEAD, rated
from judgec.raters.rater import BothOrders, Count, Rater
from judgec.raters.recorded import RecordedRater, RecordedVerdicts, judge_of
from judgec.raters.vote import Juror, Jury
from judgec.records.card import EVIDENCE_ALONE, ProgramCard
from judgec.records.judgment import Judgments
from judgec.table.tables import TableSource
from judgec.verbs.live import live_leaf, live_specs
from judgec.verbs.options.judge import Asking
from judgec.verbs.recorded import recorded_for, without
from judgec.verbs.spending import account_for, session_for
from judgec.verbs.workspace import Workspace

ENGINES = _, RAY = "local", "ray"
SHOWN_SECONDS = 0.1  # between two steps of the progress bar
SAMPLING_TEMPERATURE = 0.7  # of several samples, where the judge's own is 0: they would all be the same


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
) -> "OpenJury":
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
    opening = _Opening(items, asking, session, count, file, columns, processes, outlasted)
    jurors = tuple(map(opening.juror, loaded, judges))
    ahead = FAR_AHEAD if asking.batch else AHEAD
    return OpenJury(Jury(jurors), opening.ways, tuple(opening.prompts), tuple(opening.looked_up), ahead)


@dataclass(frozen=True, slots=True)
class OpenJury:
    """The judges of a run, with the ways to their models.

    Args:
        jury: All of them as one rater.
        ways: To each model, by what requests call it.
        prompts: Those of them that are prompts to a model, with the judge's name.
        looked_up: Recorded judges beside others that are asked, with their verdicts, and who is asked in place of them.
        ahead: Pieces that may wait for a slow call in the first of them.
    """

    jury: Jury
    ways: Mapping[str, Ask]
    prompts: tuple[tuple[str, PromptRater], ...]
    looked_up: tuple[tuple[str, RecordedVerdicts, str | None], ...]
    ahead: int

    def lacking(self, item_ids: Sequence[str]) -> list[str]:
        """On how many items a recorded judge has no verdict, where others are asked; in a sentence each.

        Raises:
            UserError: On all of them: without it the others would be another judge.
        """
        missing = {name: (recorded.lacking(name, item_ids), then) for name, recorded, then in self.looked_up}
        return [without(name, lacks, len(item_ids), then) for name, (lacks, then) in missing.items() if lacks]

    def judge(self, pieces: Iterable[Piece]) -> Iterator[Judgments]:
        """The joint judgments on items, piece by piece."""
        for _, judged in rated(self.jury, pieces, routed(self.ways), ahead=self.ahead):
            yield judged


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
    outlasted: Outlasted | None
    prompts: list[tuple[str, PromptRater]] = field(default_factory=list)
    looked_up: list[tuple[str, RecordedVerdicts, str | None]] = field(default_factory=list)
    _reached: list[Executor] = field(default_factory=list)

    @property
    def ways(self) -> dict[str, Ask]:
        """To each model, by its number; one that outlasts its service where the run does."""
        ways: dict[str, Ask] = {str(number): executor.run for number, executor in enumerate(self._reached)}
        return ways if self.outlasted is None else {to: self.outlasted.asking(ask) for to, ask in ways.items()}

    def juror(self, program: Program, judge: CompiledJudge) -> Juror:
        """One judge, bound to whoever gives its verdicts."""
        card, asking, orders = program.card, self.asking, 1 + judge.pairs
        name = f"{card.name}@{card.version}"
        leaves: Sequence[Callable[[str], Rater]]
        if not judge.asks_lm:
            leaves, orders = [no_member], 0
        elif asking.live:
            specs = live_specs(card, judge, asking.lm, asking.api_base, asking.temperature)
            leaves = [live_leaf(judge, {member: self._reach(spec)[0] for member, spec in specs.items()}, self.count)]
        else:
            spec, looked_up = spec_for(card, asking), dict[str, RecordedVerdicts]()
            leaves = [partial(self._leaf, program, judge, spec, looked_up, sample) for sample in range(asking.samples)]
            if spec.recorded is not None:
                orders = 1
        members = 1 if judge.joint is None else len(judge.joint.members)
        self.count.total += self.items * members * orders * len(leaves)
        features = KeptFeatures(self.session.journal, name, self.processes)
        return Juror(name, judge, [judge.bound(Binding(leaf, features, self.count, orders)) for leaf in leaves])

    def _reach(self, spec: LMSpec) -> tuple[str, Executor]:
        """The executor of a model's calls, and its number; the first time, the model is asked if it answers."""
        executor = self.session.executor(spec)
        if executor not in self._reached:
            executor.preflight()
            self._reached.append(executor)
        return str(self._reached.index(executor)), executor

    def _leaf(
        self,
        program: Program,
        judge: CompiledJudge,
        spec: LMSpec,
        looked_up: dict[str, RecordedVerdicts],
        sample: int,
        member: str,
    ) -> Rater:
        """A member that is asked, or whose verdicts were recorded; these are read once."""
        card, juror = program.card, member in judge.jurors
        model = spec.members.get(member, spec)
        name = f"{card.name}@{card.version}"
        if not juror and model.recorded is not None:
            if model.model not in looked_up:
                looked_up[model.model] = recorded_for(card, judge, model, self.file, self.columns)
            if judge.jurors:
                self.looked_up.append((member, looked_up[model.model], judge.after(member)))
            return RecordedRater(looked_up[model.model], member or judge_of(card), self.count)
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
            known=KnownAnswers(self.session.journal, client_of(executor.lm), member if juror else name),
            count=self.count,
        )
        if not sample:
            self.prompts.append((name, rater))
        return BothOrders(rater, judge.scale) if judge.pairs else rater


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


def asked_at(card: ProgramCard, asking: Asking) -> str:
    """Model and host of a judge: nothing is asked where evidence alone decides, whatever --lm names.

    Raises:
        UserError: The judge was compiled at another endpoint than the one that would be asked.
    """
    if card.evidence_alone:
        return EVIDENCE_ALONE
    if not asking.live:
        return spec_for(card, asking).asked_at
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
