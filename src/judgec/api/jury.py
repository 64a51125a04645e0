"""Opens the judges of a bulk run: each with its model; journal, caps and meter are theirs together."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from judgec.api.live import live_interview, live_specs
from judgec.api.options.judge import Asking
from judgec.api.recorded import recorded_for
from judgec.errors import UserError
from judgec.judges.judge import CompiledJudge, load_judge
from judgec.judges.pairwise import is_pairwise
from judgec.judges.recorded import RecordedInterview, judge_of
from judgec.judges.stream.ahead import Processes, count_of
from judgec.judges.stream.interview import AHEAD, FAR_AHEAD
from judgec.judges.stream.jury import Juror, Jury
from judgec.judges.stream.recall import Recall
from judgec.lm.door import door_of
from judgec.lm.executor import Executor, OnDone, Progress
from judgec.lm.patience import Patience
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.lm.switchboard import Switchboard
from judgec.lm.usage import Budget
from judgec.lm.watch import Watch
from judgec.records.card import ProgramCard
from judgec.records.judgment import Judgments
from judgec.store.journal.journal import Journal
from judgec.store.programs import Program
from judgec.store.tables import TableSource
from judgec.workspace import Workspace

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
    asking: Asking, workspace: Workspace, watch: Watch, *, caps: Budget | None = None, journal: Journal | None = None
) -> Session:
    """The way to the judges' models, in this process or on a cluster.

    Args:
        asking: Which model, and how it is asked.
        workspace: Where calls are journaled.
        watch: Told of calls that wait.
        caps: In place of those that ``asking`` has.
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
    return workspace.session(
        # What is free does not count against the caps: the same command goes on where the last one stopped.
        caps=caps or Budget(calls=asking.budget, usd=asking.max_cost, count_journaled=False),
        journal=journal,
        in_flight=asking.in_flight,
        spread=asking.engine == RAY,
        ray_address=asking.ray_address,
        patience=Patience(asking.max_wait, watch.waiting),
        batch="everything" if asking.batch else "nothing",
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

    Raises:
        UserError: Several samples of a model that says the same every time.
        ServiceError: A model cannot be reached.
    """
    reached: list[Executor] = []
    ahead = FAR_AHEAD if asking.batch else AHEAD

    if asking.live and asking.samples > 1:
        raise UserError(
            "--samples and --live: a recorded prompt is asked once an item; one is valid. Drop one of them."
        )

    def reach(spec: LMSpec) -> Executor:
        executor = session.executor(spec)
        if executor not in reached:
            executor.preflight()
            reached.append(executor)
        return executor

    judges = [load_judge(program) for program in loaded]
    alone = [judge.evidence for judge in judges if judge.evidence is not None and not judge.asks_lm]
    count_processes = count_of(workers, items, asks_lm=len(alone) < len(judges))
    processes = session.opened.enter_context(Processes(count_processes, alone)) if count_processes else None

    def juror(program: Program, judge: CompiledJudge) -> Juror:
        name = f"{program.card.name}@{program.card.version}"
        if not judge.asks_lm:
            return Juror(name, judge, None, Recall(session.journal, None, name, processes))
        pairs = is_pairwise(judge.module)
        if asking.live:
            specs = live_specs(program.card, judge, asking.lm, asking.api_base, asking.temperature)
            count.total += items * len(specs) * (1 + pairs)
            live = live_interview(judge, specs, reach, count.add)
            return Juror(name, judge, live, Recall(session.journal, None, name))
        spec = _spec(program.card, asking)
        if judge.jurors:
            count.total += items * len(judge.jurors) * (1 + pairs)
            board = Switchboard({name: reach(spec.members[name]) for name in judge.jurors})
            asked_jury = judge.jury(
                board.run,
                lambda juror: Recall(session.journal, door_of(board.members[juror].lm), juror),
                structured=asking.structured,
                ahead=ahead,
                on_verdict=count.add,
            )
            return Juror(name, judge, asked_jury, Recall(session.journal, None, name))
        if spec.recorded is not None:
            count.total += items
            recorded = recorded_for(program.card, spec, file, columns, judge.joint)
            interview = RecordedInterview(recorded, judge_of(program.card), pairs=pairs, on_verdict=count.add)
            return Juror(name, judge, interview, Recall(session.journal, None, name))
        count.total += items * asking.samples * (1 + pairs)
        executor = reach(spec)
        recall = Recall(session.journal, door_of(executor.lm), name)
        asked = judge.interview(
            executor.run,
            samples=asking.samples,
            structured=asking.structured,
            recall=recall,
            ahead=ahead,
            on_verdict=count.add,
        )
        return Juror(name, judge, asked, recall)

    return Jury(list(map(juror, loaded, judges)))


def _spec(card: ProgramCard, asking: Asking) -> LMSpec:
    """The card's model, or the one asked for; several samples need a temperature."""
    spec = LMSpec.from_card(card.lm, model=asking.lm, api_base=asking.api_base)
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
        api_base=spec.api_base,
        temperature=temperature,
        max_tokens=spec.max_tokens,
        timeout=spec.timeout,
        top_logprobs=spec.top_logprobs,
        extra=spec.extra,
    )


def abstaining(cards: Sequence[ProgramCard], below: float | None) -> Callable[[Judgments], Judgments]:
    """Leaves out the judgments that are less sure than asked for, or than the only judge was compiled for."""
    if below is None and len(cards) == 1:
        compiled = cards[0].settings.get("abstain_below")
        below = float(compiled) if isinstance(compiled, float | int) else None
    if not below or below < 0:
        return lambda judgments: judgments
    from judgec.compiler.abstain import abstain, agreement_of  # all that fits judges comes with it

    return partial(abstain, below=below, of=agreement_of(cards[0].objective), scale=cards[0].scale)
