"""Every judgment has a reason that names what is wrong with its item, or right."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from judgec.compile.calibrate import fit_source
from judgec.compile.calibrate_choice import Data
from judgec.evidence.model import EvidenceModel
from judgec.labels.experts import experts_of
from judgec.labels.labels import read_labels
from judgec.raters.calibrator import Family, Source
from judgec.raters.judge import JudgeTree
from judgec.raters.registry import judge_module
from judgec.records.judgment import Judgments
from judgec.records.label import FloatArray, IntArray, Item
from judgec.records.scale import Scale
from tests.raters.judgments import judgments
from tests.raters.trees import judge_of

REFUSAL = "I don't know, the documentation does not say."
ELSEWHERE = "Bananas ripen much faster in a paper bag beside two apples, as every grocer knows."
STRANGE = "Tibetan monks sang lullabies by moonlight."
FIGURE = re.compile(r"(?<![\w.,-])\d{2,}(?![\w.,-])")


def fitted(
    items: Sequence[Item],
    target: IntArray,
    scale: Scale,
    task: str,
    *,
    aspects: tuple[str, ...] = ("grade",),
    verdicts: FloatArray | None = None,
    family: Family = "multinomial",
) -> JudgeTree:
    """A judge of the evidence alone or of verdicts too; ``target`` has a column an aspect."""
    evidence = EvidenceModel.fit(items)
    read: Source = "evidence" if verdicts is None else "both"
    features, unknown = evidence.transform(items), np.full(len(items), -1)
    calibrators = {}
    for j, aspect in enumerate(aspects):
        data = Data(verdicts, features, target[:, j, None], np.arange(len(items)), scale, accept=unknown[:, None])
        ((_, one),) = fit_source(data, read, (family,))
        calibrators[aspect] = one.model_copy(update={"feature_names": evidence.names})
    fields = sorted({name for item in items for name in item.inputs})
    return judge_of(judge_module(task, scale, aspects, fields), scale, aspects, evidence, calibrators)


@pytest.fixture(scope="module")
def sensors() -> tuple[JudgeTree, list[Item]]:
    """A judge of the sensors' labels, and one item a question with an empty answer."""
    labels = read_labels("trainsets/sensors")
    judge = fitted(labels.items, experts_of(labels).target[..., 0], labels.scale, "grade", family="ordinal")
    questions = {item.query_id: item for item in labels.items}
    blank = [with_answer(item, "") for item in questions.values()]
    return judge, [item for item in blank if " not " not in item.text("reference")]


def with_answer(item: Item, answer: str) -> Item:
    return replace(item, inputs={**item.inputs, "answer": answer})


def of_twelve(judge: JudgeTree, items: Sequence[Item], *wanted: str) -> int:
    """How many of the first twelve reasons have one of these."""
    assert len(items) >= 12
    said = judge.graded(items[:12], None).rationale
    return sum(any(text in reason for text in wanted) for reason in said)


def test_every_judgment_has_a_reason_that_begins_with_the_grades_own_side(
    sensors: tuple[JudgeTree, list[Item]],
) -> None:
    judge, _ = sensors
    labels = read_labels("trainsets/sensors")
    found = judge.graded(labels.items[:200], None)
    for grade, reason in zip(found.grade[:, 0], found.rationale, strict=True):
        assert reason.startswith("In its favour: " if grade > 2 else "Against it: " if grade < 2 else ("In ", "Ag"))


PLANTED: dict[str, tuple[str, ...]] = {  # what is answered, {} being the reference, and what the reason may name
    "the reference": (
        "{}",
        "word for word",
        "numbers of the reference occur",
        "adds to the question are in the reference",
    ),
    "nothing": ("", "the answer is empty"),
    "a refusal": (REFUSAL, f'("{REFUSAL}") although'),
    "something else": (ELSEWHERE, "about something else"),
    "an unsupported sentence": ("{} " + STRANGE, f'no support in the contexts ("{STRANGE}")'),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_reason_of_a_planted_answer_names_what_was_planted(sensors: tuple[JudgeTree, list[Item]], planted: str) -> None:
    judge, blank = sensors
    answer, *wanted = PLANTED[planted]
    items = [with_answer(item, answer.format(item.text("reference"))) for item in blank]
    assert of_twelve(judge, items, *wanted) == 12


def test_reason_of_a_wrong_number_names_both(sensors: tuple[JudgeTree, list[Item]]) -> None:
    judge, blank = sensors
    known = [(item, found.group()) for item in blank if (found := FIGURE.search(item.text("reference")))]
    known = [(item, one) for item, one in known if f"{item.text('query')} {item.text('reference')}".count(one) == 1]
    known = known[:12]
    assert len(known) == 12
    planted = [with_answer(item, FIGURE.sub("7777", item.text("reference"), count=1)) for item, _ in known]
    for (_, figure), reason in zip(known, judge.graded(planted, None).rationale, strict=True):
        assert f'"{figure}"' in reason
        assert '"7777"' in reason


def test_reason_of_a_missing_half_quotes_it(sensors: tuple[JudgeTree, list[Item]]) -> None:
    judge, blank = sensors
    halves = [(item, item.text("reference").split(". ")) for item in blank]
    halves = [(item, parts) for item, parts in halves if len(parts) == 2 and min(map(len, parts)) > 30]
    planted = [with_answer(item, f"{parts[0]}.") for item, parts in halves]
    assert of_twelve(judge, planted, "lacks the last sentence", "of the reference occur") >= 10


def test_reason_of_another_entity_names_both() -> None:
    towns = ["Oslo", "Bergen", "Turku", "Malmo", "Aarhus", "Tartu", "Riga", "Gdansk", "Kiel", "Narvik"]
    items = [
        Item(
            f"{i}{j}",
            str(i),
            {
                "query": f"Where is the archive number {i} kept?",
                "reference": f"The archive is kept in the castle of {town}.",
                "answer": f"The archive is kept in the castle of {other}.",
            },
        )
        for i, town in enumerate(towns)
        for j, other in enumerate(towns)
        if j in {i, (i + 1) % 10}
    ]
    target = np.array([[int(item.inputs["answer"] == item.inputs["reference"])] for item in items])
    judge = fitted(items, target, Scale(name="accept", grades=(0, 1), accept_at=1), "grade")
    found = judge.graded(items, None)
    for item, right, reason in zip(items, target[:, 0], found.rationale, strict=True):
        town, other = (str(item.inputs[name]).rsplit(" ", 1)[1].rstrip(".") for name in ("reference", "answer"))
        if right:
            assert reason.startswith("In its favour: ")
        else:
            assert reason.startswith("Against it: ")
            assert f'"{town}"' in reason
            assert f'the answer has "{other}"' in reason


def test_reason_of_relevance_names_the_words_of_the_query_that_occur() -> None:
    queries = ("laminar wing flow", "slender cone drag", "shock tube heating", "panel flutter speed")
    pages = {
        0: "Bakers knead bread slowly.",
        1: "The {1} was measured at night in a hall.",
        2: "A report about {0} {1} and its {2}, with tables.",
    }
    items, target = [], []
    for copy in range(6):
        for q, query in enumerate(queries):
            for grade, page in pages.items():
                inputs = {"query": query, "document": f"{page.format(*query.split())} Sheet {copy}."}
                items.append(Item(f"{q}-{grade}-{copy}", str(q), inputs))
                target.append([grade])
    judge = fitted(items, np.array(target), Scale(grades=(0, 1, 2), accept_at=2), "relevance")
    asked = [
        Item("x", "x", {"query": "laminar wing flow", "document": f"{text} Sheet 9."})
        for text in (
            "A report about laminar wing and its flow, with tables.",
            "The wing was measured at night.",
            "Bakers sleep.",
        )
    ]
    good, middle, bad = judge.graded(asked, None).rationale
    assert good.startswith("In its favour: all 3")
    assert '("laminar", "wing", "flow")' in good
    assert "1 of 3" in middle
    assert '("wing"; not: "laminar", "flow")' in middle
    assert "Against it: none of the 3" in bad
    assert '("laminar", "wing", "flow")' in bad


def preferring() -> JudgeTree:
    """Has learned that the answer with the reference's words is the better one."""
    towns = ["Oslo", "Bergen", "Turku", "Malmo", "Aarhus", "Tartu", "Riga", "Gdansk"]
    items, target = [], []
    for i, town in enumerate(towns):
        good, bad = f"It is kept in {town} since 1950.", "It is kept somewhere in the north."
        for k, (a, b) in enumerate(((good, bad), (bad, good), (good, good))):
            inputs = {"query": "Where is it?", "answer_a": a, "answer_b": b, "reference": f"In {town} since 1950."}
            items.append(Item(f"{i}{k}", str(i), inputs))
            target.append([k])
    scale = Scale(name="preference", level="nominal", grades=("a", "b", "tie"))
    return fitted(items, np.array(target), scale, "preference", aspects=("preference",))


def test_reason_of_a_preference_says_what_the_other_answer_lacks() -> None:
    good, bad = "It is kept in Kiel since 1950.", "It is kept somewhere in the north."
    pair = {"query": "Where is it?", "answer_a": bad, "answer_b": good, "reference": "In Kiel since 1950."}
    turned = {**pair, "answer_a": good, "answer_b": bad}
    empty = {**pair, "answer_a": ""}
    found = preferring().graded([Item(str(n), "q", one) for n, one in enumerate((pair, turned, empty))], None)
    assert found.grade[:2, 0].tolist() == [1, 0]
    one, other, nothing = found.rationale
    assert one.startswith("For answer b: ")
    assert 'only b: "Kiel"' in one
    assert other.startswith("For answer a: ")
    assert 'only a: "Kiel"' in other
    assert "answer a is empty" in nothing


def test_reason_with_a_verdict_is_its_own_and_both_where_evidence_overrode_it(
    sensors: tuple[JudgeTree, list[Item]],
) -> None:
    labels = read_labels("trainsets/sensors")
    target = experts_of(labels).target[..., 0]
    chance = np.random.default_rng(0)
    stated = np.where(chance.random(len(target)) < 0.6, target[:, 0], chance.integers(0, 5, len(target)))
    judge = fitted(labels.items, target, labels.scale, "grade", verdicts=np.eye(5)[stated])
    raw = verdict_of(stated[:200], labels.items[:200], "as the rules say")
    found = judge.graded(labels.items[:200], raw)
    changed = found.grade[:, 0] != raw.grade[:, 0]
    assert changed.any()
    assert not changed.all()
    for row, reason in enumerate(found.rationale):
        if not changed[row]:
            assert reason == "as the rules say"
        else:
            before, after = stated[row] + 1, found.grade[row, 0] + 1
            assert reason.startswith(f"as the rules say [The verdict was {before}; ")
            assert f" made it {after}. {'In its favour' if after > before else 'Against it'}: " in reason
    overridden = [reason for reason in found.rationale if "; the evidence made it" in reason]
    assert len(overridden) >= 0.6 * changed.sum()  # of the others the verdict's own map decided more
    silent = judge.graded(labels.items[:50], verdict_of(stated[:50], labels.items[:50], ""))
    assert all(silent.rationale)


def verdict_of(stated: IntArray, items: Sequence[Item], reason: str) -> Judgments:
    ids = [item.item_id for item in items]
    return judgments(np.eye(5)[stated], stated, ids=ids, values=(1, 2, 3, 4, 5), reason=reason)


def test_reasons_of_several_aspects_name_the_aspect_where_they_differ() -> None:
    answers = ("Oslo", "I do not know.", "The north of the country, where many people live by the sea.", "")
    items = [
        Item(f"{i}{n}", str(i), {"query": "Which town?", "answer": answer, "reference": "Oslo"})
        for i in range(10)
        for n, answer in enumerate(answers)
    ]
    target = np.tile(np.array([[2, 2], [0, 1], [0, 2], [0, 0]]), (10, 1))
    judge = fitted(items, target, Scale(grades=(0, 1, 2)), "answer", aspects=("accuracy", "precision"))
    right, _, long, empty = judge.graded(items[:4], None).rationale
    assert "In its favour" in right
    assert long.startswith("accuracy: Against it: ")
    assert " precision: In its favour: " in long
    assert "the answer is empty" in empty
