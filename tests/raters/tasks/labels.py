"""Constructed labels of the rejection and reliability tasks: written by rule, no expert gave them."""

import random
from pathlib import Path

from tests.compile.small import write

THINGS = ("pump", "valve", "meter", "probe", "sensor", "gateway", "cable", "relay")
ASKED = ("carbon footprint", "price in euros", "parking permit", "insured value", "designer", "torque", "weight")
REPLIES = {
    "answered": "The {asked} of the {thing} is {number}, and it has been so since 2019.",
    "refused": "I am sorry, but the documents do not say anything about the {asked} of the {thing}.",
    "refused_then_answered": "The documents do not state the {asked}. However, the {thing} usually has {number} of it.",
    "described": "The provided documents describe the installation and the wiring of the {thing}.",
    "described_then_answered": "The documents describe the {thing}. Its {asked} is {number}, as is usual for these.",
    "error": "",
}


def rejection_labels(path: Path, n: int = 60) -> Path:
    """Two annotators; the second takes one in ten for another outcome."""
    rng = random.Random(0)
    rows: list[dict[str, object]] = []
    for number in range(n):
        outcome = list(REPLIES)[number % len(REPLIES)]
        thing, asked = THINGS[number % len(THINGS)], ASKED[number % len(ASKED)]
        answer = REPLIES[outcome].format(thing=f"{thing} {number}", asked=asked, number=10 + number)
        query = f"What is the {asked} of the {thing} {number}?"
        other = rng.choice(list(REPLIES)) if rng.random() < 0.1 else outcome
        for annotator, said in (("a", outcome), ("b", other)):
            rows.append({"query": query, "answer": answer, "outcome": said, "annotator": annotator})
    return _write(path, rows)


def reliability_labels(path: Path, n: int = 60) -> Path:
    """Three annotators of pairs with one planted fault each, or none."""
    rng = random.Random(1)
    rows: list[dict[str, object]] = []
    for number in range(n):
        thing, other = THINGS[number % len(THINGS)], THINGS[(number + 3) % len(THINGS)]
        weight = 10 + 7 * number
        passage = f"The {thing} {number} weighs {weight} grams. It is made of steel and was released by the factory."
        good = {"question_in_passage": 1, "answer_in_passage": 1, "self_contained": 1}
        query, answer = f"How much does the {thing} {number} weigh?", f"{weight} grams"
        kind = number % 4
        if kind == 1:
            query, good["question_in_passage"] = f"Which licence does the harbour {other} of Lisbon need?", 0
        if kind == 2:
            answer, good["answer_in_passage"] = f"{weight + 5} kilometres of coast", 0
        if kind == 3:
            query, good["self_contained"] = "How much does it weigh as stated in the passage above?", 0
        for annotator in ("a", "b", "c"):
            grades = {name: 1 - grade if rng.random() < 0.05 else grade for name, grade in good.items()}
            labels = {f"grade.{name}": grade for name, grade in grades.items()}
            row: dict[str, object] = {"query": query, "passage": passage, "answer": answer, "annotator": annotator}
            rows.append({**row, "query_id": f"p{number}", **labels})
    return _write(path, rows)


def _write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.with_name(f"{path.stem}.datasheet.toml").write_text('[source]\nlabels = "constructed"\n')
    return write(path, rows)
