"""Opens judges: who gives the verdicts of each, and the ways to them; journal, caps and meter are a session's.

Every verb judges by what is opened here.
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
from judgec.lm.journal.journal import Journal
from judgec.lm.outlast import Outlasted
from judgec.lm.router import routed
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Account
from judgec.lm.watch import Watch
from judgec.raters.asked_judges import AskedJudge
from judgec.raters.features import KeptFeatures
from judgec.raters.known import KnownAnswers
from judgec.raters.piece import Piece
from judgec.raters.prompt import PromptRater, leaf_rater
from judgec.raters.rate import AHEAD, FAR_AHEAD, nobody, rate_all, rated
from judgec.raters.rater import BothOrders, Count, Rater, RecordedRater
from judgec.raters.recorded import RecordedVerdicts
from judgec.raters.run import Bound
from judgec.raters.tree import Cascade, Leaf, Node, PromptLeaf
from judgec.raters.vote import Juror, Jury
from judgec.records.card import ProgramCard
from judgec.records.judgment import Judgments
from judgec.records.label import Item
from judgec.table.tables import TableSource
from judgec.verbs.options.judge import Asking
from judgec.verbs.recorded import COLUMNS, recorded_for, without
from judgec.verbs.spending import account_for, session_for
from judgec.verbs.whom import GivenJudge
from judgec.verbs.workspace import Workspace

ENGINES = _, RAY = "local", "ray"
SHOWN_SECONDS = 0.1  # between two steps of the progress bar

LookedUp: TypeAlias = tuple[GivenJudge, Leaf, RecordedVerdicts]
"""A part of a judge whose verdicts are looked up alone, with them."""


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


def _lacking(looked_up: Sequence[LookedUp], item_ids: Sequence[str]) -> list[str]:
    said = []
    for given, leaf, recorded in looked_up:
        lacks = int((~recorded.asked(leaf.name, item_ids)).sum())
        if lacks and lacks == len(item_ids) and isinstance(leaf, PromptLeaf):
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
    compiled, lock = judge.compiled, Lock()
    several = len(compiled.leaves) > 1
    with ExitStack() as stack:

        @cache
        def models() -> Session:
            return stack.enter_context(session(None))

        def reached(spec: LMSpec) -> Ask:
            with lock:
                return partial(models().finish, ask=models().other_whole(spec))

        def asked(leaf: Leaf) -> Rater:
            to = leaf.name if several else ""
            return leaf_rater(leaf, compiled.scale, compiled.aspects, both_orders=compiled.pairs, to=to)

        leaves = _Leaves(judge, table, None, Count(), asked, item_ids)
        for leaf in compiled.leaves:
            leaves.open(leaf)
        for sentence in _lacking(leaves.alone, [*item_ids().values()] if leaves.alone else []):
            watch.stage("verdicts", sentence)
        ways = {name if several else "": _once(reached, spec) for name, spec in judge.prompted.items()}
        if own := [leaf.name for leaf in compiled.leaves if not leaf.verdicts]:
            main = stack.enter_context(session(judge.spec)).finish
            ways |= {name if several else "": main for name in own}
        return rate_all(Bound(compiled.rater, compiled.run(leaves.open)), items, routed(ways) if ways else nobody)


def _once(reached: Callable[[LMSpec], Ask], spec: LMSpec) -> Ask:
    """The way to a model that is reached when somebody is asked about: no journal is for what asks nobody."""

    def ask(requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:
        yield from reached(spec)(requests, total=total)

    return ask


def _nobody(judge: GivenJudge, leaf: Leaf) -> Rater:
    """Refuse a prompt of which there are neither verdicts nor a model.

    Raises:
        UserError: Always.
    """
    of = (
        f"of {leaf.lm['model']}" if isinstance(leaf, PromptLeaf) and leaf.lm.get("model") else "of a model nobody named"
    )
    raise UserError(
        f"{judge.name}: the items hold no verdict of {leaf.name}, and its verdicts were {of}; provider/name is valid, "
        "for example openai/gpt-4o. Say with --lm whom to ask its prompt, or give its verdicts with --lm recorded:FILE."
    )


@dataclass(frozen=True, slots=True)
class _Leaves:
    """Opens the leaves of a judge: asked, looked up, or both where verdicts of a prompt were recorded."""

    judge: GivenJudge
    file: TableSource
    columns: Mapping[str, str] | None
    count: Count
    asked: Callable[[Leaf], Rater]
    item_ids: Callable[[], Mapping[str, str] | None] = lambda: None
    alone: list[LookedUp] = field(default_factory=list)
    _open: dict[str, Rater] = field(default_factory=dict)
    _found: dict[str, RecordedVerdicts | None] = field(default_factory=dict)

    def open(self, leaf: Leaf) -> Rater:
        """A leaf, once."""
        if leaf.name not in self._open:
            self._open[leaf.name] = self._looked_up(leaf) if leaf.verdicts else self.asked(leaf)
        return self._open[leaf.name]

    def _looked_up(self, leaf: Leaf) -> Rater:
        found, supplied = self._verdicts(leaf), leaf.name in self.judge.prompted
        if found is None:
            return self.asked(leaf) if supplied else _nobody(self.judge, leaf)
        recorded = RecordedRater(found, leaf.name, self.count, self.item_ids())
        if supplied:
            return replace(recorded, prompt=self.asked(leaf))
        self.alone.append((self.judge, leaf, found))
        return recorded

    def _verdicts(self, leaf: Leaf) -> RecordedVerdicts | None:
        """Each source is read once; None where it holds nothing of a prompt that can be asked."""
        card, judge = self.judge.card, self.judge.compiled
        spec, found = self.judge.spec.members.get(leaf.name, self.judge.spec), self.judge.verdicts
        if found is None:
            if spec.model not in self._found:
                self._found[spec.model] = recorded_for(
                    card, judge, spec, self.file, self.columns, needed=not self.judge.named
                )
            found = self._found[spec.model]
        typed = self.judge.verdicts is not None or (spec.recorded != COLUMNS and not self.judge.named)
        if found is not None and typed and not any(one.name in found.judges for one in judge.leaves if one.verdicts):
            found.require(leaf.name)  # a file of something else: nobody pays for that unasked
        lacks = found is None or (leaf.name in self.judge.prompted and leaf.name not in found.judges)
        return None if lacks else found


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
        samples = self.asking.samples if judge.asks_lm else 1
        raters = []
        for n in range(samples):
            asked = partial(self._asked, given, n)
            leaves = _Leaves(given, self.file, self.columns, self.count, asked)
            for leaf in judge.leaves:
                leaves.open(leaf)
            self.looked_up.extend(() if n else leaves.alone)
            run = judge.run(leaves.open, features=features, count=self.count, orders=orders)
            raters.append(Bound(judge.rater, run))
        self.count.total += self.items * len(judge.leaves) * orders * samples
        return Juror(given.name, judge, raters)

    def _executor(self, spec: LMSpec) -> Executor:
        """The executor of a model's calls; the first time, the model is asked if it answers."""
        executor = self.session.executor(spec)
        if executor not in self._reached:
            executor.preflight()
            self._reached.append(executor)
        return executor

    def _asked(self, given: GivenJudge, sample: int, leaf: Leaf) -> Rater:
        """A leaf that is asked; where it has recorded verdicts, its model is reached when somebody is asked about."""
        judge, name = given.compiled, leaf.name
        ask = partial(leaf_rater, leaf, judge.scale, judge.aspects, both_orders=judge.pairs, count=self.count)
        if leaf.verdicts:
            to = f"{given.name} {name}"
            self._ways[to] = _once(lambda spec: self._executor(spec).run, given.prompted[name])
            return ask(to=to)
        executor = self._executor(given.spec.members.get(name, given.spec))
        self._ways[to := str(self._reached.index(executor))] = executor.run
        known = name if given.spec.members else given.name
        rater = ask(
            to=to,
            sample=sample,
            samples=self.asking.samples,
            structured=self.asking.structured,
            anew=True,
            known=KnownAnswers(self.session.journal, client_of(executor.lm), known),
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
