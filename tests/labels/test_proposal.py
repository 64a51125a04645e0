"""What people call their columns and how they write grades: what is seen in a table is what a person sees."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import judgec
from judgec.errors import InputError, UserError
from judgec.labels.labels import label_file
from judgec.labels.proposal import LabelProposal, UserChoices, propose
from judgec.labels.reading import Datasheet, as_reading, read_datasheet
from judgec.records.label import LabelSet
from judgec.table.table import Row, Table
from judgec.table.tables import read_table

DATA = Path(__file__).parents[2].parent / "shared" / "data"
QUESTIONS = ["Where is the fuse of the pump?", "How do I reset the gauge?", "Who may open the valve?", "What is known?"]
ANSWERS = ["It is behind the cover.", "Hold both keys for five seconds.", "Only trained staff may.", "Six bar."]
PEOPLE = {"Mia", "Noah"}


def table(**columns: Sequence[object]) -> Table:
    """A table of twelve rows: values are repeated as often as needed, texts are told apart by a number."""
    rows: list[dict[str, object]] = []
    for i in range(12):
        row = {name: values[i % len(values)] for name, values in columns.items()}
        rows.append({name: f"{v} ({i})" if v in QUESTIONS + ANSWERS else v for name, v in row.items()})
    return Table("t.csv", tuple(columns), tuple(rows), tuple(range(2, 14)))


def seen(file: Table, said: UserChoices | None = None) -> tuple[LabelProposal, LabelSet]:
    """The proposal, and the labels read by it."""
    found = propose(file, Datasheet(), said or UserChoices())
    sheet = Datasheet(scale=found.scale)
    labels = label_file(
        file, sheet, as_reading(task=found.task, columns=found.columns, annotators=found.annotators)
    ).labels
    return found, labels


def graders_of(labels: LabelSet) -> set[str]:
    return {label.annotator for label in labels.labels}


def long_of(wide: Table, people: Sequence[str]) -> Table:
    """The same grades, a row each."""
    rows: list[Row] = [
        {"query": row["query"], "answer": row["answer"], "annotator": who, "grade": row[who]}
        for row in wide.rows
        for who in people
        if row[who] != ""
    ]
    return Table("l.csv", tuple(rows[0]), tuple(rows), tuple(range(2, len(rows) + 2)))


@pytest.mark.parametrize("name", ["Athena-2", "Onyx-8B", "rubric_v3"])
def test_name_of_a_version_among_people_is_asked_about_and_both_lines_run(name: str) -> None:
    wide = table(query=QUESTIONS, answer=ANSWERS, Mia=[1, 2, 3, 3], Noah=[1, 3, 3, 2], **{name: [2, 2, 3, 1]})
    for file in (wide, long_of(wide, ("Mia", "Noah", name))):
        (doubt,) = propose(file, Datasheet(), UserChoices()).unsure
        assert re.search(rf"--annotators Mia,Noah where.* judge, --annotators Mia,Noah,{name} where", doubt)
        for people, judges in ((("Mia", "Noah"), (name,)), (("Mia", "Noah", name), ())):
            found, labels = seen(file, UserChoices(annotators=people))
            assert (found.judges, found.unsure, graders_of(labels)) == (judges, (), set(people))
    assert any(name in note and "--annotators Mia,Noah" in note for note in label_file(file, Datasheet()).labels.notes)


@pytest.mark.parametrize(
    "names",
    [
        ("question", "response", "ground_truth", "score"),
        ("Frage", "Antwort", "Musterantwort", "Bewertung"),
        ("user_input", "actual_output", "expected_output", "human_score"),
        ("Prompt", "Model Output", "Gold Answer", "Human Rating"),
        ("userQuestion", "botAnswer", "expectedAnswer", "stars"),
        ("input", "output", "ideal", "rating"),
        ("Kundentext", "KI-Vorschlag", "reference", "grade"),
        ("Frage", "Antwort des Bots", "Antwort (Gold)", "Note"),
        ("User question text", "Vorschlag", "Expected reply", "score"),
    ],
)
def test_columns_by_the_names_that_people_give_them(names: Sequence[str]) -> None:
    values: list[Sequence[object]] = [QUESTIONS, ANSWERS, ANSWERS[::-1], [1, 5, 3, 4, 2, 5, 1]]
    found, labels = seen(table(**dict(zip(names, values, strict=True))))
    assert found.task == "grade"
    assert [found.columns.get(name, name) for name in names] == ["query", "answer", "reference", "grade"]
    assert (labels.scale.grades, labels.scale.accept_at) == ((1, 2, 3, 4, 5), 4)
    assert not labels.scale.meanings  # nobody said what these people's grades mean


@pytest.mark.parametrize(
    ("column", "values", "grades", "accept_at"),
    [
        ("label", ["good", "bad"], ("bad", "good"), "good"),
        ("thumbs", ["up", "down", ""], ("down", "up"), "up"),
        ("feedback", ["👍", "👎"], ("👎", "👍"), "👍"),
        ("Urteil", ["ja", "nein", "teilweise"], ("nein", "teilweise", "ja"), "ja"),
        ("quality", ["Good", "Fair", "Poor", "Excellent"], ("Poor", "Fair", "Good", "Excellent"), "Good"),
        ("verdict", ["correct", "partly correct", "wrong"], ("wrong", "partly correct", "correct"), "correct"),
        ("stars", ["5 stars", "1 star", "3 stars"], ("1 star", "3 stars", "5 stars"), "5 stars"),
        ("stars", ["★★★", "★", "★★★★"], ("★", "★★★", "★★★★"), "★★★★"),
        ("rating", ["4", "2", "5"], (1, 2, 3, 4, 5), 4),
        ("rating", ["4", "2", "3"], (1, 2, 3, 4), 3),
        ("score", [0, 1, 2], (0, 1, 2), 2),
        ("score", [0.5, 0.0, 1.0], (0, 0.5, 1), 1),
        ("score", [10, 2, 7], tuple(range(1, 11)), 7),
    ],
)
def test_scale_from_what_was_written(
    column: str, values: Sequence[object], grades: Sequence[object], accept_at: object
) -> None:
    found, labels = seen(table(question=QUESTIONS, answer=ANSWERS, **{column: values}))
    assert found.scale is not None
    assert (found.scale.grades, found.scale.accept_at) == (grades, accept_at)
    assert labels.scale == found.scale


@pytest.mark.parametrize("values", [["yes", "no"], [1, 0], [True, False], ["pass", "fail"], ["TRUE", "FALSE"]])
@pytest.mark.parametrize("column", ["label", "is_correct", "human_label", "accept"])
def test_yes_and_no_are_accept_and_reject(column: str, values: Sequence[object]) -> None:
    found, labels = seen(table(question=QUESTIONS, response=ANSWERS, **{column: values}))
    assert found.columns.get(column, column) == "accept"
    assert found.scale is None
    assert labels.accept_only
    assert {label.accept for label in labels.labels} == {True, False}


@pytest.mark.parametrize(
    "raters",
    [
        *(("annotator_1", "annotator_2"), ("Experte A", "Experte B", "Experte C"), ("rater1", "rater2", "rater3")),
        *(
            ("rating_anna", "rating_ben"),
            ("score (Anna)", "score (Ben)"),
            ("anna", "ben", "cem"),
            ("Müller", "Dr. Lee"),
        ),
    ],
)
@pytest.mark.parametrize("values", [[1, 5, 3], ["good", "bad"], ["yes", "no"]], ids=["numbers", "words", "yes"])
def test_one_column_a_rater_is_seen(raters: Sequence[str], values: Sequence[object]) -> None:
    columns = {name: [*values[i % 2 :], *values[: i % 2]] for i, name in enumerate(raters)}
    rows = [
        {"question": QUESTIONS[i % 4] + str(i), "answer": ANSWERS[i % 4], "id": i, "comment": "so so " + str(i)}
        | {name: each[i % len(values)] for name, each in columns.items()}
        for i in range(12)
    ]
    found, labels = seen(Table("t.csv", tuple(rows[0]), tuple(rows), tuple(range(12))))
    assert (found.annotators, graders_of(labels)) == (tuple(raters), set(raters))
    assert len(labels.labels) == 12 * len(raters)
    assert labels.accept_only is (values == ["yes", "no"])


def test_long_table_with_a_column_of_raters_keeps_items_together() -> None:
    rows = [
        {"id": f"row{i}", "prompt_id": i // 3, "prompt": f"What is the range of {i // 3}?", "reply": "Six bar.",
         "reviewer": "abc"[i % 3], "score": i % 4 + 1, "model": "gpt", "remarks": f"text {i}"}
        for i in range(12)
    ]  # fmt: skip
    found, labels = seen(Table("t.csv", tuple(rows[0]), tuple(rows), tuple(range(12))))
    assert found.columns == {
        "prompt": "query", "reply": "answer", "reviewer": "annotator", "prompt_id": "query_id", "model": "agent",
        "remarks": "rationale", "score": "grade",
    }  # fmt: skip
    assert found.unused == ("id",)  # it names rows, not items: every label would be an item of its own
    assert (len(labels.items), graders_of(labels)) == (4, {"a", "b", "c"})


def pairs(**columns: Sequence[object]) -> Table:
    return table(Question=QUESTIONS, **{"Answer A": ANSWERS, "Answer B": ANSWERS[::-1]}, **columns)


@pytest.mark.parametrize(
    ("names", "values"),
    [
        (("response_a", "response_b", "winner"), ["model_a", "model_b", "tie", "tie (bothbad)"]),
        (("Answer 1", "Answer 2", "preferred"), ["A", "B", "Tie"]),
        (("output1", "output2", "label"), ["left", "right", "equal"]),
        (("model_a_response", "model_b_response", "vote"), ["A is better", "B is better", "draw"]),
    ],
)
def test_two_answers_are_a_preference_with_ties_however_they_are_written(
    names: Sequence[str], values: Sequence[str]
) -> None:
    cells = {names[0]: ANSWERS, names[1]: ANSWERS[::-1], "model_a": ["x"], "model_b": ["y"], names[2]: values}
    found, labels = seen(table(question=QUESTIONS, **cells))
    assert (found.task, found.columns[names[2]], found.columns["model_a"]) == ("preference", "preference", "agent_a")
    assert labels.scale.grades == ("a", "b", "tie")
    assert {label.grades["grade"] for label in labels.labels} == {0, 1, 2}
    assert labels.labels[0].grades["grade"] == 0


PASSAGES = ["The fuse is behind the cover.", "Both keys reset the gauge.", "The valve is locked, as a rule."]


@pytest.mark.parametrize(
    ("name", "values", "ours"),
    [
        ("Source passage", PASSAGES, "contexts"),
        ("Text der Quelle", PASSAGES, "contexts"),
        ("Document title", PASSAGES, None),
        ("Source page", ["https://pumps.example/manual/fuse.html", "https://pumps.example/manual/keys.html"], None),
    ],
)
def test_what_an_answer_rests_on_is_seen_by_a_word_of_its_name(
    name: str, values: Sequence[str], ours: str | None
) -> None:
    found, labels = seen(table(**{"Question": QUESTIONS, "Bot answer": ANSWERS, name: values, "Rating": [1, 2, 3]}))
    assert found.columns.get(name) == ours
    assert found.unused == (() if ours else (name,))
    assert ("contexts" in labels.items[0].inputs) is bool(ours)


def test_several_aspects_are_graded_each() -> None:
    aspects: dict[str, Sequence[object]] = {"relevance": [1, 2, 3], "Accuracy": [3, 1, 2], "fluency": [3, 3, 1]}
    found, labels = seen(table(question=QUESTIONS, answer=ANSWERS, **aspects))
    assert found.task == "answer"
    assert labels.aspects == ("relevance", "accuracy", "fluency")


@pytest.mark.parametrize("name", ["passage", "document", "text", "content"])
def test_documents_for_queries_are_relevance_accepted_in_the_upper_half(name: str) -> None:
    found, labels = seen(table(query=QUESTIONS, doc_id=["a", "b", "c"], **{name: ANSWERS}, relevance=[0, 1, 2, 3]))
    assert found.task == "relevance"
    assert (labels.scale.grades, labels.scale.accept_at) == ((0, 1, 2, 3), 2)


def test_threshold_is_the_one_that_an_accept_column_beside_the_grades_follows() -> None:
    grades = [1, 2, 3, 4, 5]
    found, _ = seen(table(query=QUESTIONS, answer=ANSWERS, grade=grades, accept=[grade >= 3 for grade in grades]))
    assert found.scale is not None
    assert found.scale.accept_at == 3


def test_words_without_an_order_ask_for_it_and_take_it() -> None:
    file = table(question=QUESTIONS, answer=ANSWERS, label=["blue", "green", "red"])
    with pytest.raises(UserError, match=r"blue, green, red, .* not known.*--grades WORST,\.\.\.,BEST"):
        seen(file)
    found, labels = seen(file, UserChoices(grades=("red", "blue", "green"), accept_at="blue"))
    assert (labels.scale.grades, labels.scale.accept_at) == (("red", "blue", "green"), "blue")
    assert found.why["scale"] == "as given"
    with pytest.raises(UserError, match="--accept-at pink"):
        seen(file, UserChoices(grades=("red", "blue", "green"), accept_at="pink"))


def test_what_is_said_goes_before_the_datasheet_and_that_before_what_is_seen() -> None:
    file = table(question=QUESTIONS, reply=ANSWERS, other=ANSWERS[::-1], score=[1, 2, 3])
    declared = read_datasheet("none.csv", {"grades": [1, 2, 3, 4], "accept_at": 2})
    assert propose(file, declared, UserChoices()).scale == declared.scale
    said = propose(file, declared, UserChoices(columns={"other": "answer"}, accept_at="3"))
    assert said.columns["other"] == "answer"
    assert said.scale is not None
    assert said.scale.accept_at == 3


METRIC = [0.83, 0.41, 0.97, 0.12, 0.66, 0.05, 0.74, 0.39, 0.91, 0.58, 0.22, 0.88]


@pytest.mark.parametrize(
    ("file", "wanted"),
    [
        (table(foo=["a", "b"], bar=[1, 2]), "query or the answer"),
        (table(query=QUESTIONS, answer=ANSWERS), "like labels"),
        (pairs(Notes=["close call", ""]), "like labels"),  # a remark is no winner
        (pairs(winner=[1, 0]), "the winner: '1'"),
        (pairs(Ann=["A", "B", "equi"]), "--winner-words 'equi=SIDE'"),  # no order of grades
        (table(question=QUESTIONS, answer=ANSWERS, faithfulness=METRIC, coherence=METRIC), "grades of people"),
        (table(question=QUESTIONS, answer=ANSWERS, grade=[1, 2, 3], judged_by=["a@1", "b@2"]), "a judge's verdicts"),
        (table(question=QUESTIONS, answer=ANSWERS, **{"AI grade": [1, 5, 3]}), r"AI grade.*--map 'AI grade=grade'"),
    ],
)
def test_table_without_labels_says_what_to_name(file: Table, wanted: str) -> None:
    with pytest.raises(InputError, match=wanted):
        seen(file)


def test_labels_that_somebody_names_are_taken() -> None:
    found, _ = seen(graded(**{"AI grade": MIA}), UserChoices(columns={"AI grade": "grade"}))
    assert found.labels == ("AI grade",)
    rows = graded(grade=[1, 2, 3], judged_by=["support@1", "support@2"])
    found, labels = seen(rows, UserChoices(columns={"grade": "grade"}))
    assert "annotator" not in found.columns.values()
    assert graders_of(labels) == {"expert"}
    assert propose(pairs(Feedback=["A", "B", "tie"]), Datasheet(), UserChoices()).columns["Feedback"] == "preference"


def test_what_a_judge_wrote_is_no_label() -> None:
    rows: list[Row] = [
        {"query": f"q{n}", "answer": f"a{n}", "grade": n % 5, "judged_by": "graded@1"} for n in range(12)
    ]
    with pytest.raises(UserError, match="graded@1"):
        judgec.read_labels(rows)
    named = {"grade": "judge_grade", "judged_by": "judge_judged_by"}
    theirs = [{named.get(key, key): cell for key, cell in row.items()} for row in rows]
    assert len(judgec.read_labels([{**row, "grade": 1 + n % 4} for n, row in enumerate(theirs)])) == 12


REAL: Mapping[str, tuple[str, object, int]] = {  # task, lowest accepted grade without the datasheet, annotators
    "labels/clapnq_aspects": ("answer", 3, 7),
    "labels/clapnq_faithfulness": ("grade", 3, 7),
    "labels/cranfield_relevance": ("relevance", 1, 1),
    "labels/evouna_nq_accept": ("grade", None, 1),
    "labels/expertqa_rand_val_usefulness": ("grade", 2, 174),
    "labels/nq301_accept": ("grade", None, 3),
    "labels/pandalm_preference": ("preference", None, 3),
    "recorded/llmrubric_dialogue": ("answer", 3, 13),
    "recorded/mtbench_preference": ("preference", None, 65),
    "recorded/summeval_aspects": ("answer", 4, 3),
    "recorded/trecdl20_relevance": ("relevance", 2, 1),
}


@pytest.mark.full
@pytest.mark.skipif(not DATA.is_dir(), reason=f"{DATA} is not here: no real label file is looked at")
@pytest.mark.parametrize("name", REAL)
def test_real_label_files_are_seen_as_their_datasheets_declare_them(name: str) -> None:
    file = read_table(str(DATA / f"{name}.jsonl"))
    sheet = read_datasheet(file.path)
    task, accept_at, annotators = REAL[name]
    found, labels = seen(file)
    assert (found.task, dict(found.columns)) == (task, {})
    assert found.scale is None or (sheet.scale and found.scale.grades == sheet.scale.grades)
    assert (found.scale.accept_at if found.scale else None) == accept_at
    assert len({label.annotator for label in labels.labels}) == annotators
    declared = label_file(file, sheet).labels
    assert [label.grades for label in labels.labels] == [label.grades for label in declared.labels]
    assert propose(file, sheet, UserChoices()).scale in (sheet.scale, None)
    assert replace(sheet, scale=None).task == task


MIA, NOAH, THIRD = [1, 5, 3, 4, 2, 5, 1], [1, 4, 3, 5, 2, 5, 2], [2, 5, 3, 4, 1, 5, 2]


def graded(**columns: Sequence[object]) -> Table:
    return table(Question=QUESTIONS, Reply=ANSWERS, **columns)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        *(("Version", ["A", "B", "C"]), ("Version", [1, 2]), ("Arm", ["v1", "v2"]), ("Model version", ["r1", "r2"])),
        *(("Ausführung", ["r1", "r2"]), ("Run", [1, 2, 3]), ("System", ["gpt-4o", "claude-3"])),
    ],
)
def test_version_is_the_agent_and_no_grade(name: str, values: Sequence[object]) -> None:
    found, labels = seen(graded(**{name: values, "Grader Mia": MIA, "Grader Noah": NOAH, "AI grade": THIRD}))
    assert found.columns[name] == "agent"
    assert (found.annotators, found.judges) == (("Grader Mia", "Grader Noah"), ("AI grade",))
    assert (graders_of(labels), found.unsure) == ({"Grader Mia", "Grader Noah"}, ())


@pytest.mark.parametrize(
    ("name", "values"),
    [
        *(("Priority", ["high", "low", "medium"]), ("Priority", [1, 2, 3]), ("Rank", [1, 2, 3]), ("Nr.", [1, 2, 3, 4])),
        *(("Difficulty", [1, 2, 3, 4, 5]), ("Mia confidence", [1, 2, 3, 4, 5]), ("Mean", [1, 4.5, 3]), ("Median", MIA)),
        *(("Final", MIA), ("Relevancy", [0.25, 0.913, 0.5]), ("helpful", [0, 1])),
        ("AI comment", ["fine, I think", "so so"]),
    ],
)
def test_column_beside_people_that_is_nobodys_grade_is_not_read(name: str, values: Sequence[object]) -> None:
    found, _ = seen(graded(**{"Mia": MIA, name: values, "Noah": NOAH}))
    assert (found.annotators, found.judges, found.unused) == (("Mia", "Noah"), (), (name,))


def test_mean_of_the_others_is_nobody_whatever_it_is_called() -> None:
    found, _ = seen(graded(Mia=MIA, Noah=NOAH, Endnote=[(a + b) / 2 for a, b in zip(MIA, NOAH, strict=True)]))
    assert found.annotators == ("Mia", "Noah")


@pytest.mark.parametrize(
    ("mia", "noah", "grades"),
    [
        (["good", "bad"], ["good", "bad", "fair"], ("bad", "fair", "good")),
        (["ja", "nein"], ["nein", "", "ja"], ("nein", "ja")),
        (["ja", "nein", "ja"], ["Ja", "Nein", "Nein"], ("Nein", "ja")),  # capital letters drop nobody
        ([1, "-", 3, 5], [2, 4, "-", ""], (1, 2, 3, 4, 5)),
        ([1, 5], [2, 3, 4], (1, 2, 3, 4, 5)),
        (["★", "★★★"], ["★★", "★★★"], ("★", "★★", "★★★")),
    ],
)
def test_people_are_found_by_the_union_of_what_they_gave(
    mia: Sequence[object], noah: Sequence[object], grades: Sequence[object]
) -> None:
    found, labels = seen(graded(Mia=mia, Noah=noah))
    assert (found.annotators, graders_of(labels), labels.scale.grades) == (("Mia", "Noah"), PEOPLE, grades)


def test_second_person_of_three_rows_with_a_grade_of_her_own_is_read() -> None:
    rows = [("What does it cost?", "3 euros", "good", "good"), ("Can it be returned?", "Yes.", "bad", "bad"),
            ("Who repairs it?", "I do not know.", "bad", "fair")]  # fmt: skip
    names = ("Question", "Reply", "Mia", "Noah")
    found, labels = seen(Table("t.csv", names, tuple(dict(zip(names, row, strict=True)) for row in rows), (2, 3, 4)))
    assert (found.annotators, labels.scale.grades, len(labels.labels)) == (("Mia", "Noah"), ("bad", "fair", "good"), 6)


ASPECTS = ("relevance", "accuracy")
BY_PERSON = {f"{name}.{aspect}": MIA for name in ("mia", "noah", "gpt") for aspect in ASPECTS}
YES = {"Mia": ["yes", "no"], "Noah": ["no", "yes", "yes"], "LLM verdict": ["yes", "no", "no"]}
PEERS = {"Mia": ["A", "B", "tie"], "Noah": ["B", "A", "tie"], "GPT-4": ["A", "B"]}
DOCUMENTS = table(
    query=QUESTIONS, doc_id=["a", "b"], document=ANSWERS, Mia=[0, 1, 2], Noah=[0, 2, 2], ragas=[0, 1, 1]
)  # fmt: skip


@pytest.mark.parametrize(
    ("file", "task", "people", "labels", "judges"),
    [
        (
            graded(relevance=MIA, accuracy=NOAH, llm_relevance=THIRD, llm_accuracy=THIRD),
            *("answer", (), ASPECTS, ("llm_relevance", "llm_accuracy")),
        ),
        (graded(**BY_PERSON), "answer", ("mia", "noah"), None, ("gpt.relevance", "gpt.accuracy")),
        (graded(relevance=[0, 1, 2], llm_relevance=[0, 2, 2]), None, (), ("relevance",), ("llm_relevance",)),
        (graded(**YES), "grade", ("Mia", "Noah"), None, ("LLM verdict",)),
        (pairs(**PEERS), "preference", ("Mia", "Noah"), None, ("GPT-4",)),
        (DOCUMENTS, "relevance", ("Mia", "Noah"), None, ("ragas",)),
    ],
)
def test_machine_of_every_task_is_a_judge(
    file: Table, task: str | None, people: tuple[str, ...], labels: tuple[str, ...] | None, judges: tuple[str, ...]
) -> None:
    found, read = seen(file)
    assert (found.task, found.annotators, found.judges) == (task or found.task, people, judges)
    assert found.labels == (labels or found.labels)
    assert read.aspects == (ASPECTS if task == "answer" else ("grade",))


def test_machine_in_a_column_of_annotators_is_none_unless_somebody_names_it() -> None:
    file = table(Question=QUESTIONS, Reply=ANSWERS, annotator=["mia", "noah", "gpt-4", "kai"], grade=MIA)
    found, labels = seen(file)
    assert (found.judges, graders_of(labels)) == (("gpt-4",), {"mia", "noah", "kai"})
    assert any(note.startswith("gpt-4 (3 rows") for note in labels.notes)
    every = ("mia", "noah", "kai", "gpt-4")
    assert graders_of(label_file(file, Datasheet(), as_reading(columns=found.columns, annotators=every)).labels) == set(
        every
    )
    alone = table(Question=QUESTIONS, Reply=ANSWERS, annotator=["gpt-4"], grade=MIA)
    assert graders_of(label_file(alone, Datasheet(), as_reading(columns=found.columns)).labels) == {"gpt-4"}


def test_what_people_settled_on_is_the_label_or_where_they_differed_one_more_of_them() -> None:
    whole, _ = seen(graded(Mia=MIA, Noah=NOAH, Adjudicated=THIRD))
    assert (whole.annotators, whole.labels) == ((), ("Adjudicated",))
    some, _ = seen(graded(Mia=MIA, Noah=NOAH, Adjudicated=["", "", 4]))
    assert some.annotators == ("Mia", "Noah", "Adjudicated")


FIFTHS = [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("columns", "typed"),
    [
        ({"Grader Mia": MIA, "Grader Noah": NOAH, "Jo": THIRD}, "--annotators 'Grader Mia,Grader Noah,Jo'"),
        ({"Mia": MIA, "Noah": NOAH, "Ben": ["ja", "nein"], "Lea": ["nein", "ja"]}, "--annotators Ben,Lea"),
        ({"Mia": MIA, "Final": THIRD}, "--map Final=grade"),
        ({"Note": [1, 6, 2, 3]}, "--grades 6,5,4,3,2,1"),
        (
            {"mia_relevance": MIA, "mia_fluency": NOAH, "noah_relevance": NOAH, "noah_fluency": MIA},
            "--map mia_relevance=mia.relevance --map mia_fluency=mia.fluency --map noah_relevance=noah.relevance",
        ),
        (
            {"Relevance (Mia)": MIA, "Fluency (Mia)": NOAH, "Relevance (Noah)": NOAH, "Fluency (Noah)": MIA},
            "--map 'Relevance (Mia)=Mia.relevance'",
        ),
        (dict.fromkeys(("Mia 1", "Mia 2", "Noah"), FIFTHS), "--annotators Noah,Mia "),  # repeated gradings, perhaps
        (dict.fromkeys(("Score (1st)", "Score (2nd)"), FIFTHS), "--annotators Score "),
        (dict.fromkeys(("Mia 1", "Mia 2", "Mia 3", "Noah 1", "Noah 2"), FIFTHS), "--annotators Mia,Noah "),
        (
            dict.fromkeys(("Mia early", "Mia late", "Noah early", "Noah late"), FIFTHS),
            "--annotators 'Mia early,Mia late,",
        ),
    ],
)
def test_what_could_be_read_otherwise_is_said_with_what_to_type(
    columns: Mapping[str, Sequence[object]], typed: str
) -> None:
    found = propose(graded(**columns), Datasheet(), UserChoices())
    assert [typed in one for one in found.unsure] == [True]


@pytest.mark.parametrize(
    ("heads", "people"),
    [
        (("Mia 1", "Mia 2", "Noah 1", "Noah 2"), ("Mia", "Noah")),
        (("grade_mia_run1", "grade_mia_run2"), ("grade_mia",)),
        (("Mia Runde 1", "Mia Runde 2", "GPT-4 Runde 1", "GPT-4 Runde 2"), ("Mia",)),
        (("Rater 1", "Rater 2"), ("Rater 1", "Rater 2")),
        (("Expert A 1", "Expert A 2", "Expert B 1", "Expert B 2"), ("Expert A", "Expert B")),
        (("Score Mia 1", "Score Mia 2", "Score Noah 1", "Score Noah 2"), ("Score Mia", "Score Noah")),
    ],
)
def test_repeated_gradings_are_not_further_people(heads: Sequence[str], people: Sequence[str]) -> None:
    found, labels = seen(graded(**dict.fromkeys(heads, FIFTHS)))
    assert (found.annotators, graders_of(labels), found.unsure) == (tuple(people), set(people), ())


@pytest.mark.parametrize(
    ("no", "yes"),
    [
        *(("nein", "ja"), ("non", "oui"), ("no", "sí"), ("no", "si"), ("нет", "да"), ("否", "是"), ("いいえ", "はい")),
        *(("não", "sim"), ("nie", "tak"), ("nee", "ja"), ("nej", "ja"), ("아니오", "예")),
    ],
)
def test_yes_and_no_of_other_languages_are_one_word_each_whatever_their_case(no: str, yes: str) -> None:
    words = [yes, no, yes.upper(), f"{no} ", yes]
    found, labels = seen(table(question=QUESTIONS, answer=ANSWERS, Mia=words, Noah=words[::-1]))
    assert found.annotators == ("Mia", "Noah")
    assert found.scale is not None
    assert (found.scale.grades, found.scale.accept_at) == ((no, yes), yes)
    counts = [word.rpartition(" (")[0] for word in found.why["scale"].removeprefix("seen: ").split(", ")]
    assert sorted(counts) == sorted([no, yes])
    assert [label.grades["grade"] for label in labels.labels[:4]] == [1, 1, 0, 0]


@pytest.mark.parametrize("people", [("Mia", "Noah"), ("grade",), ("Mia",)])
def test_metrics_from_0_to_1_are_judges_and_no_labels(people: Sequence[str]) -> None:
    names = ("hallucination_score", "toxicity", "faithfulness", "answer_relevancy", "Context Precision")
    grades = {name: [1, 4, 5, 2, 3] for name in people}
    found, labels = seen(table(question=QUESTIONS, answer=ANSWERS, **dict.fromkeys(names, METRIC), **grades))
    assert (found.judges, found.labels) == (names, tuple(people))
    assert len(labels.scale.grades) == 5


@pytest.mark.parametrize(
    "heads",
    [
        ("Mia Relevanz", "Mia Stil", "Noah Relevanz", "Noah Stil"),
        ("Stil Mia", "Relevanz Mia", "Stil Noah", "Relevanz Noah"),
        ("Mia Ton", "Mia Inhalt", "Noah Ton", "Noah Inhalt"),
    ],
)
def test_propose_people_by_parts_in_any_language_asks_and_its_line_reads_them(heads: tuple[str, ...]) -> None:
    file = table(Question=QUESTIONS, Reply=ANSWERS, **{head: [1, 2, 3, 4, 5] for head in heads})
    (doubt,) = propose(file, Datasheet(), UserChoices()).unsure
    typed = {theirs: ours for each in heads for theirs, ours in [(each, doubt.split(f"'{each}=")[1].split("'")[0])]}
    found, labels = seen(file, UserChoices(columns=typed))
    assert {name.casefold() for name in found.annotators} == {"mia", "noah"}
    assert len(labels.aspects) == 2


def test_winner_beside_each_answers_grades_is_the_preference() -> None:
    sides: dict[str, Sequence[object]] = {"question": QUESTIONS, "answer 1": ANSWERS, "answer 2": ANSWERS[::-1]}
    sides |= {"Mia 1": FIFTHS, "Mia 2": [3, 4, 5, 1, 2], "preferred": ["answer 1", "answer 2", "tie"]}
    beside = pairs(Mia_A=FIFTHS, Mia_B=[4, 5, 1, 2], Winner=["A", "B", "tie"])
    for file, winner in ((beside, "Winner"), (table(**sides), "preferred")):
        found = propose(file, Datasheet(), UserChoices())
        assert (found.task, found.columns[winner], found.annotators) == ("preference", "preference", ())
        assert len(found.unused) == 2


@pytest.mark.parametrize(("question", "asked"), [("Frage", 1), ("Question", 0)])
def test_best_grade_of_a_german_note_is_asked_for(question: str, asked: int) -> None:
    rows: list[Row] = [
        {question: f"Which pump {i}?", "Reply": f"The {i}th.", "Note Mia": 1 + i % 5, "Note Ben": 1 + (i + i // 7) % 5}
        for i in range(20)
    ]
    table = Table("notes.csv", tuple(rows[0]), tuple(rows), tuple(range(2, 22)))
    assert len(propose(table, Datasheet(), UserChoices()).unsure) == asked


def test_an_automatic_check_is_no_person() -> None:
    check = {"Lena": ["yes"], "Paul": ["no", "yes"], "Automatic check": ["yes", "yes", "yes", "no", "no", "no"]}
    found = propose(table(query=QUESTIONS, answer=ANSWERS, **check), Datasheet(), UserChoices())
    assert (found.annotators, found.judges) == (("Lena", "Paul"), ("Automatic check",))


HALVES = [1.5, 2, 2.5, 1, 3, 2.5]


@pytest.mark.parametrize(
    ("columns", "odd"),
    [
        ({"Sanne": [1, 2, 3, 3], "Mehmet": [1, 3, 3, 2], "Quill": HALVES}, "Quill"),  # decimals beside whole numbers
        ({"Quill": HALVES, "Sanne": [1, 2, 3, 3]}, "Quill"),
        ({"Sanne": [1, 2, 3, ""], "Mehmet": ["", 3, 3, 2], "Quill": [1, 2, 3, 3]}, "Quill"),  # all rows, others 3 of 4
        ({"Sanne": [1, 2, 3, 3], "Selene": [1, 3, 3, 2]}, "Selene"),
    ],
)
def test_column_unlike_the_others_is_asked_about_and_both_lines_run(
    columns: Mapping[str, Sequence[object]], odd: str
) -> None:
    people = [name for name in columns if name != odd]
    wide = table(query=QUESTIONS, answer=ANSWERS, **columns)
    long = long_of(wide, tuple(columns))
    gaps = len(long.rows) < len(columns) * len(wide.rows)  # which say nothing of names in a column of annotators
    assert bool(propose(long, Datasheet(), UserChoices()).unsure) is not gaps
    for file in (wide, *([] if gaps else [long])):
        (doubt,) = propose(file, Datasheet(), UserChoices()).unsure
        assert doubt.startswith(f"{odd}: a judge or a person")
        assert f"--annotators {','.join(people)} where" in doubt
        assert sorted(re.findall(r"--annotators (\S+)", doubt)[1].split(",")) == sorted(columns)
        assert propose(file, Datasheet(), UserChoices(annotators=tuple(columns))).unsure == ()
    found, labels = seen(wide, UserChoices(annotators=tuple(people)))
    assert (found.judges, graders_of(labels)) == ((odd,), {*people})


@pytest.mark.parametrize(
    "columns",
    [
        {"Sanne": [1, 2, 3, 3], "Mehmet": [1, "", 3, ""]},  # a second person grades a part
        {"Rater 1": [1, 2, 3, 3], "Rater 2": [1, "", 3, ""], "Rater 3": ["", 3, "", 2]},
        {"Sanne": [1, 2, 3, 3], "Mehmet": [1, 3, 3, 2], "Prüfer Tim": HALVES},
        {"Sanne": HALVES, "Mehmet": [1, 3.5, 3, 2]},
    ],
)
def test_ordinary_columns_of_people_are_not_asked_about(columns: Mapping[str, Sequence[object]]) -> None:
    found = propose(table(query=QUESTIONS, answer=ANSWERS, **columns), Datasheet(), UserChoices())
    assert (found.annotators, found.unsure) == (tuple(columns), ())


def test_two_columns_of_grades_on_different_scales_are_asked_about_and_both_lines_run() -> None:
    file = table(query=QUESTIONS, answer=ANSWERS, Quill=[12, 55, 90, 71], Sanne=[1, 2, 5, 4])
    (doubt,) = propose(file, Datasheet(), UserChoices()).unsure
    for label in ("Quill", "Sanne"):
        assert f"--map {label}=grade" in doubt
        said = propose(file, Datasheet(), UserChoices(columns={label: "grade"}))
        assert (said.labels, said.unsure) == ((label,), ())
