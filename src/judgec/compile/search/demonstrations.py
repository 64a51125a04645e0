"""Demonstrations: train items with the experts' grades, shown in the prompt; no call is made to propose them.

*Bootstrapped* ones carry the judge's own reason on items where its uncompiled verdict already was the experts' (as
DSPy's BootstrapFewShot, without its calls: the uncompiled judge has graded the train items anyway); *labelled* ones
carry the expert's reason, and that one where no expert gave any. An item with neither is no demonstration: a model
that sees a grade without a reason learns to give none.

A demonstration carries what its grade needs: of long passages the one nearest to the answer (of a document the part
nearest to the query), cut to a window around its nearest sentence.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import dspy
import numpy as np

from judgec.compile.search.candidates import Candidate, first_predictor, with_demonstrations
from judgec.compile.search.task import Effort, Sizes, Task
from judgec.raters.pairwise import EXCHANGED
from judgec.raters.signatures import as_reply, check_kind, demonstration, description, reason_field
from judgec.records.consensus import settled
from judgec.records.label import UNLABELLED, IntArray, Item
from judgec.records.tasks.spec import PAIR

SHARE = 0.3  # of a prompt that demonstrations may be
LEAST_ROOM = 2_400  # characters, about 600 tokens, that they may have in any prompt: short items are worth showing
WINDOW = 600  # characters kept of a passage
LEFT_OUT = "(left out of this example)"  # in place of a passage, so that the others keep their numbers
_QUOTED_NOTE = re.compile(rf"^> {re.escape(LEFT_OUT)}$", re.MULTILINE)
_WORDS = re.compile(r"\w{3,}")
_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")
SET_SIZES: tuple[int, ...] = (4, 8, 16)  # demonstrations a set, tried in turn
N_SETS = 16  # sets proposed where the budget has room for them: a race makes many cheap
LABELLED: str = "labelled"
BOOTSTRAPPED: str = "bootstrapped"


@dataclass(frozen=True, slots=True)
class Demonstrations:
    """The optimizer ``labeled``."""

    needs_reflection: bool = False

    def effort(self, sizes: Sizes) -> Effort:  # noqa: ARG002 - as optimizers are asked
        """Proposing sets is free."""
        return Effort(0, 0, N_SETS)

    def search(self, task: Task) -> Sequence[Candidate]:
        """As many sets of demonstrations as a race has room for."""
        return list(demonstration_sets(task, (LABELLED,), task.starters(N_SETS)))


def demonstration_sets(task: Task, kinds: Sequence[str], n_sets: int) -> Iterator[Candidate]:
    """Candidates that differ in their demonstrations, the kinds in turn.

    Args:
        task: Its train items are shown.
        kinds: ``labelled``, ``bootstrapped``.
        n_sets: How many candidates at most; fewer when train items are too few for distinct sets.
    """
    train, predict = task.train, first_predictor(task.module)
    position, items = settled(task.expert(train)), tuple(map(condensed, task.train.items))
    reasons, room = reasons_by_kind(task), room_of(predict, train.items)
    seen: set[frozenset[int]] = set()
    for number in range(n_sets):
        kind, turn = kinds[number % len(kinds)], number // len(kinds)
        rng, pool = np.random.default_rng([task.seed, number]), np.array([*reasons[kind]], dtype=np.int64)
        chosen = _stratified(pool, items, position, SET_SIZES[turn % len(SET_SIZES)], room, rng)
        if not chosen or frozenset(chosen) in seen:
            continue
        seen.add(frozenset(chosen))
        demos = [_shown(task, i, items[i], reasons[kind][i]) for i in chosen]
        yield Candidate(
            name=f"{kind}-{turn + 1}",
            module=with_demonstrations(task.module, demos),
            queries=tuple(train.items[i].query_id for i in chosen),
            settings={"kind": kind, "demonstrations": len(demos), "seed": task.seed},
        )


def reasons_by_kind(task: Task) -> dict[str, dict[int, str]]:
    """The reason of each train item that can be shown, by its row: not of one whose grade two grades share.

    A judge that checks piece by piece says why in a form of its own, which no expert writes; a pair that was decided
    by both orders together has no reason of one of them.
    """
    train, said, predict = task.train, task.verdicts, first_predictor(task.module)
    position, verdict = settled(task.expert(train)), task.said(said)
    right = (position == verdict).all(axis=1) & said.scored
    right &= ~said.flipped if said.flipped is not None else True
    bare = reason_field(predict) not in predict.signature.output_fields
    found: dict[str, dict[int, str]] = {LABELLED: {}, BOOTSTRAPPED: {}}
    for i in map(int, np.flatnonzero((position >= 0).all(axis=1))):
        own = said.rationale[i].partition(EXCHANGED)[0] if right[i] else ""
        experts = "" if check_kind(task.module) else train.rationale(i)
        for kind, reason in ((LABELLED, experts or own), (BOOTSTRAPPED, own)):
            if bare or as_reply(predict, reason):
                found[kind][i] = reason
    return found


def _shown(task: Task, i: int, item: Item, reason: str) -> dspy.Example:
    """A train item as a demonstration, as sure as the judge was of the experts' grade, else as these agree on it."""
    experts, position = task.train.experts, settled(task.expert(task.train)[i])
    votes = (experts.accept_by if task.accept_only else experts.grade_by)[:, i]
    stated = task.verdicts.confidence[i].mean() if (task.said(task.verdicts)[i] == position).all() else np.nan
    sure = (votes == position)[votes != UNLABELLED].mean() if np.isnan(stated) else stated
    predict, grades = first_predictor(task.module), [int(one) for one in position]
    demo = demonstration(predict, item, grades, task.scale, reason=reason, confidence=round(100 * sure))
    return demo if "contexts" not in demo else demo.copy(contexts=_QUOTED_NOTE.sub(LEFT_OUT, demo.contexts))


def condensed(item: Item) -> Item:
    """An item whose passages are cut to what its grade needs; what is short stays as it is."""
    inputs, wanted = dict(item.inputs), _WORDS.findall(item.text("query").casefold())
    answers = [item.text(name) for name in ("answer", *PAIR)]
    near = {*_WORDS.findall(" ".join(answers).casefold())} - {*wanted} or {*wanted}
    contexts = item.texts("contexts")
    if sum(map(len, contexts)) > WINDOW:
        nearest = max(contexts, key=lambda text: _nearness(_best(text, near), near))
        inputs["contexts"] = tuple(_window(text, near) if text == nearest else LEFT_OUT for text in contexts)
    if len(item.text("document")) > WINDOW:
        inputs["document"] = _window(item.text("document"), {*wanted})
    return replace(item, inputs=inputs)


def _nearness(sentence: str, near: Collection[str]) -> int:
    return len({*_WORDS.findall(sentence.casefold())}.intersection(near))


def _best(text: str, near: Collection[str]) -> str:
    """The sentence of a text that shares most words with what it is held against."""
    return max(_SENTENCES.split(text), key=lambda sentence: _nearness(sentence, near))


def _window(text: str, near: Collection[str]) -> str:
    """The part of a text around its nearest sentence, whole words of at most ``WINDOW`` characters."""
    if len(text) <= WINDOW:
        return text
    best = _best(text, near)
    middle = text.index(best) + min(len(best), WINDOW) // 2
    start = min(max(0, middle - WINDOW // 2), len(text) - WINDOW)
    part = text[start : start + WINDOW]
    part = part if start == 0 else part.partition(" ")[2] or part
    ended = start + WINDOW == len(text)
    return f"{'… ' if start else ''}{part if ended else part.rpartition(' ')[0] or part}{'' if ended else ' …'}"


def room_of(predict: dspy.Predict, items: Sequence[Item]) -> int:
    """Characters of texts that demonstrations may have beside the usual item: ``SHARE`` of the prompt at most."""
    sizes = sorted(_size(item) for item in items)
    usual = sizes[len(sizes) // 2] if sizes else 0
    fixed = len(predict.signature.instructions) + sum(map(len, map(description, predict.signature.fields.values())))
    return max(LEAST_ROOM, int((usual + fixed) * SHARE / (1 - SHARE)))


def _size(item: Item) -> int:
    return sum(len(item.text(name)) for name in item.inputs)


def _stratified(
    pool: IntArray, items: Sequence[Item], position: IntArray, size: int, room: int, rng: np.random.Generator
) -> list[int]:
    """Up to ``size`` items of distinct queries, every grade in turn, within the prompt's room for them."""
    by_grade: dict[tuple[int, ...], list[int]] = {}
    for i in rng.permutation(pool):
        by_grade.setdefault(tuple(position[i]), []).append(int(i))
    grades = sorted(by_grade)
    rng.shuffle(grades)
    chosen: list[int] = []
    queries: set[str] = set()
    while len(chosen) < size and any(by_grade.values()):
        for grade in grades:
            while by_grade[grade]:
                i = by_grade[grade].pop()
                item = items[i]
                length = _size(item)
                if item.query_id not in queries and length <= room and len(chosen) < size:
                    chosen.append(i)
                    queries.add(item.query_id)
                    room -= length
                    break
    return chosen
