"""Judges with one fault each, as plain functions: fast enough to audit hundreds of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judgec.records.judgment import UNSCORED, Judgments
from judgec.records.label import Experts, Item
from judgec.records.scale import Scale
from judgec.trust.audits.subject import AuditSubject

SCALE = Scale(grades=(1, 2, 3, 4, 5), accept_at=4)
PREFERENCE = Scale(name="preference", level="nominal", grades=("a", "b", "tie"))
Seen = Mapping[str, str]
Grader = Callable[[Item, int], int | None]  # position of the grade; the run


@dataclass
class FakeJudge:
    """Gives each item the grade that ``grade`` says; a pairwise one is asked in both orders, like the real one.

    Args:
        grade: From an item and the number of the run to a position on the scale, or None for no verdict.
        scale: Its grades.
    """

    grade: Grader
    scale: Scale = SCALE

    def __call__(self, items: Sequence[Item], *, run: int = 0, one_order: bool = False) -> Judgments:
        positions = [self.grade(item, run) for item in items]
        lost = np.array([position is None for position in positions])
        grade = np.array([UNSCORED if position is None else position for position in positions], dtype=np.int64)
        spread = np.eye(len(self.scale.grades))[np.maximum(grade, 0)][:, None]
        spread[lost] = np.nan
        return Judgments(
            item_ids=tuple(item.item_id for item in items),
            aspects=("grade",),
            probabilities=spread,
            grade=grade[:, None],
            score=spread @ np.array(self.scale.values),
            accept=np.where(lost, UNSCORED, grade >= 3)[:, None].astype(np.int64),
            confidence=np.full((len(items), 1), np.nan),
            rationale=("",) * len(items),
            unscored=tuple("malformed reply" if missing else None for missing in lost),
        )


def quality(item: Item) -> int:
    """The grade that the item deserves, 0-4: how many claims of its answer its reference and its documents hold.

    A claim is ``Fact N.``; a wrong reference or wrong documents hold none of them.
    """
    claims = set(item.text("answer").replace("\n", " ").split("Fact ")[1:])
    named = {claim.split(".")[0] for claim in claims}
    against = item.text("reference") or item.text("contexts")
    return min(4, sum(f"Fact {name}." in against for name in named))


def items(
    n: int = 60, seed: int = 0, *, per_query: int = 1, fields: Sequence[str] = ("reference", "contexts")
) -> tuple[Item, ...]:
    """Answers with 1 to 4 right claims, to as many queries as it takes; three agents, two groups."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(n):
        query = number // per_query
        facts = [f"Fact {query}-{k}." for k in range(4)]
        said = facts[: int(rng.integers(1, 5))]
        inputs: dict[str, str | tuple[str, ...]] = {
            "query": f"What is known about {query}?",
            "answer": " ".join([*said, "It is not known since when, because nobody asked."]),
            "reference": " ".join(facts),
            "contexts": (" ".join(facts[:2]), " ".join(facts[2:])),
        }
        kept = {name: text for name, text in inputs.items() if name in {"query", "answer", *fields}}
        agent, group = ("gpt-4o-rag", "claude-rag", "llama-3-rag")[number % 3], ("law", "tax")[query % 2]
        made.append(Item(f"i{number}", f"q{query}", kept, agent, group))
    return tuple(made)


def pairs(n: int = 60, seed: int = 0) -> tuple[Item, ...]:
    """Pairs of such answers."""
    made = []
    for one, other in zip(items(n, seed), items(n, seed + 1), strict=True):
        inputs = {"query": one.text("query"), "answer_a": one.text("answer"), "answer_b": other.text("answer")}
        inputs |= {"reference": one.text("reference"), "agent_a": "gpt-4o-rag", "agent_b": "claude-rag"}
        made.append(Item(one.item_id, one.query_id, inputs))
    return tuple(made)


def better(item: Item) -> int:
    """Which answer of a pair is better, 0 a, 1 b, 2 tie."""
    a, b = (
        quality(Item("", "", {"answer": item.text(name), "reference": item.text("reference")}))
        for name in ("answer_a", "answer_b")
    )
    return 2 if a == b else int(b > a)


def subject(
    grade: Grader,
    given: Sequence[Item],
    *,
    scale: Scale = SCALE,
    expert: Callable[[Item], int] | None = None,
    model: str = "openai/gpt-4o",
) -> AuditSubject:
    """An audit's subject; experts grade by ``expert``."""
    codes: dict[str, int] = {}
    cluster = np.array([codes.setdefault(item.query_id, len(codes)) for item in given], dtype=np.int64)
    experts = None
    if expert is not None:
        grades = np.array([[expert(item)] for item in given], dtype=np.int64)
        experts = Experts(
            grades[..., None],
            np.full_like(grades, -1)[..., None],
            cluster,
            ("e",),
            grades[None],
            np.full_like(grades, -1)[None],
        )
    pairwise = scale is PREFERENCE
    return AuditSubject(
        FakeJudge(grade, scale),
        tuple(given),
        scale,
        tuple(given[0].inputs),
        model=model,
        experts=experts,
        pairwise=pairwise,
    )


def noisy(grade: Grader, share: float, seed: int) -> Grader:
    """The same judge, off by one grade in a share of its replies, anew for every text and run."""

    def graded(item: Item, run: int) -> int | None:
        position = grade(item, run)
        text = "\0".join(map(str, sorted(item.inputs.items())))
        rng = np.random.default_rng([seed, run, *text.encode()[:4000]])
        if position is None or rng.random() >= share:
            return position
        return min(4, max(0, position + (1 if rng.random() < 0.5 else -1)))

    return graded
