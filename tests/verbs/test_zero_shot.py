"""Judges without labels, by name and in Python: the papers' prompts before there is any label, never promoted."""

import csv
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import judgec
from judgec.errors import UserError
from judgec.labels.split.draw import FRESH, trainable
from judgec.lm.watch import Silent
from judgec.records.scale import Scale
from judgec.records.tasks.grade import borrowed_meanings
from judgec.records.tasks.registry import TASKS
from judgec.verbs.judge_file import next_step
from judgec.verbs.next_labels import choose_next, read_unlabelled
from judgec.verbs.options.labels import NextOptions
from judgec.verbs.zero_shot import said_by, zero_shot_of_file
from tests.compile.small import compiled_from, write
from tests.prompts import unquote
from tests.service.checking_world import claims_row
from tests.service.fake_openai import FakeOpenAI
from tests.service.replies import Call, Outcome, answer
from tests.verbs.cli.judging import KEY

QUERY = {"query": "How wide is the range?"}
Row = dict[str, object]
ANSWER = {**QUERY, "answer": "0.6 to 70 m3/h", "contexts": ["The range is 0.6 to 70 m3/h."]}


def best(call: Call) -> Outcome:
    return answer(call, {one.name: one.labels[-1] for one in call.prompt.outputs if one.labels})


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return tmp_path


def judged(home: Path, server: FakeOpenAI, rows: list[dict[str, object]], name: str, **options: object) -> Any:
    given: dict[str, object] = {"lm": "openai/gpt-4o-mini", "api_base": server.base_url, "progress": False}
    return judgec.judge_file(
        write(home / "items.jsonl", rows),
        judge=name,
        home=home,
        out=home / "out.jsonl",
        **(given | options),  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("name", "row", "key", "grade"),
    [
        ("zero-shot", ANSWER, "grade", 5),
        ("zero-shot:grade", {**QUERY, "answer": "So."}, "grade", 5),
        ("zero-shot", {**QUERY, "document": "The range is 0.6 to 70 m3/h."}, "grade", 2),
        ("zero-shot:relevance", {**QUERY, "document": "The range."}, "grade", 2),
        ("zero-shot:umbrela", {**QUERY, "document": "The range."}, "grade", 3),
        ("zero-shot:answer", ANSWER, "grades", {"relevance": 2, "accuracy": 2, "completeness": 2, "precision": 2}),
        ("zero-shot:rejection", {**QUERY, "answer": "I cannot say."}, "grade", "refused"),
    ],
)
def test_every_task_has_a_judge_without_labels(
    home: Path, name: str, row: dict[str, object], key: str, grade: object
) -> None:
    with FakeOpenAI(best) as server:
        found = judged(home, server, [{**row, "item_id": "a"}], name)
        assert found.frame()[key].iloc[0] == grade
        assert any(note.startswith("UNPROVEN JUDGE: ") for note in found.report["notes"])
        assert found.report["unproven"].startswith("no label was given")
        assert found.frame()["unproven"].tolist() == [True]
        (step,) = next_step(found)
        assert re.search(rf"labels next \S+ 50 --judge {name} --lm openai/gpt-4o-mini --api-base \S+ --home", step)
        sent = str([body["messages"] for body in server.bodies])
        assert ("0.6 to 70 m3/h." in sent) == ("contexts" in row or "0.6" in str(row.get("document")))
        assert not (home / "programs").exists()


def test_a_pair_is_asked_in_both_orders(home: Path) -> None:
    row: dict[str, object] = {**QUERY, "answer_a": "0.6 to 70", "answer_b": "Wide.", "item_id": "a"}
    with FakeOpenAI(best) as server:
        found = judged(home, server, [row], "zero-shot")
        assert found.frame()["grade"].iloc[0] == "tie"
        assert sum("Wide." in str(body["messages"]) for body in server.bodies) == 2


@pytest.mark.parametrize(
    ("name", "row", "options", "said"),
    [
        ("zero-shot", ANSWER, {"lm": None}, r"--judge zero-shot: it has no model of its own; --lm MODEL is needed"),
        ("zero-shot:nope", ANSWER, {}, r"task 'nope' is not known; valid are"),
        ("zero-shot:paper:grade", {**QUERY, "answer": "70"}, {}, r"zero-shot:paper:grade: reference missing"),
        ("zero-shot:paper:rejection", {**QUERY, "answer": "70"}, {}, r"no prompt of a paper for rejection"),
        ("zero-shot", {"farbe": "blau"}, {}, r"the columns farbe, item_id tell no task; zero-shot:TASK"),
    ],
)
def test_what_cannot_be_judged_so_is_refused_before_anything_is_asked(
    home: Path, name: str, row: dict[str, object], options: dict[str, object], said: str
) -> None:
    with FakeOpenAI(best) as server:
        with pytest.raises(UserError, match=said):
            judged(home, server, [{**row, "item_id": "a"}], name, **options)
        assert server.calls == 0


def test_python_makes_a_judge_that_fits_itself_to_what_it_is_given(home: Path) -> None:
    with FakeOpenAI(best) as server:
        asked = {"lm": "openai/gpt-4o-mini", "api_base": server.base_url, "home": home}
        judge = judgec.zero_shot("grade", **asked)  # type: ignore[arg-type]
        assert "UNPROVEN" in repr(judge)
        assert not judge.card.promoted
        bare = judge(query="How wide?", answer="0.6 to 70 m3/h")
        assert isinstance(bare, judgec.Judgment)
        assert (bare.grade, dict(bare.details)) == (5, {"unproven": True})
        assert "contexts" not in str(server.bodies[-1]["messages"])
        judge(**ANSWER)  # type: ignore[call-overload]
        assert "judging it against the contexts" in str(server.bodies[-1]["messages"]).replace("\\n", " ")
        rows = judgec.zero_shot("umbrela", **asked)(pd.DataFrame([{**QUERY, "document": "The range."}]))  # type: ignore[arg-type]
        assert (rows["grade"].tolist(), rows["unproven"].tolist()) == ([3], [True])
        assert judgec.zero_shot("relevance", **asked).card.scale.grades == (0, 1, 2)  # type: ignore[arg-type]
        assert not (home / "programs").exists()


@pytest.mark.parametrize("said", ["relevance", "umbrela", "answer", "paper:relevance", "paper:grade"])
def test_judge_without_labels_is_named_again_by_what_it_was_made_of(said: str) -> None:
    assert said_by(judgec.zero_shot(said, lm="openai/gpt-4o-mini").card) == said


def by_number(call: Call) -> Outcome:
    """The best grade, and a confidence that the document itself names."""
    said = int(str(call.prompt.inputs["document"]).rsplit(" ", 1)[-1])
    return answer(call, {"grade": call.prompt.outputs[1].labels[-1], "confidence": str(said)})


def test_labels_next_takes_what_a_judge_without_labels_says_it_is_least_sure_of(home: Path) -> None:
    sure = [95, 40, 90, 20, 85, 97, 30, 92, 88, 99, 91, 10]
    rows: list[dict[str, object]] = [
        {"item_id": f"i{n}", "query": f"Question {n}?", "document": f"Document {n}: {value}"}
        for n, value in enumerate(sure)
    ]
    file, out = write(home / "items.jsonl", rows), home / "next.csv"
    with FakeOpenAI(by_number) as server:
        asked: dict[str, Any] = {"lm": "openai/gpt-4o-mini", "api_base": server.base_url, "home": home, "out": out}
        options = NextOptions(file=str(file), next=4, judge="zero-shot", **asked)
        found = choose_next(options, Silent())
    assert found.calls == len(sure)
    with out.open(newline="") as opened:
        picked = [(row["stratum"], int(row["document"].rsplit(" ", 1)[-1])) for row in csv.DictReader(opened)]
    drawn = {value for stratum, value in picked if stratum == "random"}
    assert len(drawn) == 2
    items = read_unlabelled(str(file), task="relevance").items
    train = {sure[i] for i in trainable(items, FRESH)}  # hard items must not become test items
    taken = train - drawn
    assert len(taken) > 2
    assert {value for stratum, value in picked if stratum == "uncertain"} == set(sorted(taken)[:2])


def league(
    home: Path, server: FakeOpenAI, answers: list[Row], documents: list[Row], judge: object, **more: object
) -> judgec.Tournament:
    given: dict[str, Any] = {"lm": "openai/gpt-4o-mini", "api_base": server.base_url, "progress": False, "home": home}
    given |= {"judge": judge, "answers": [pd.DataFrame(answers)], "documents": pd.DataFrame(documents)}
    return judgec.evaluate(out=home / "out", **(given | more))


def played(home: Path, server: FakeOpenAI, judge: object, relevance: str | None) -> judgec.Tournament:
    both = [(q, agent) for q in range(3) for agent in ("old", "new")]
    answers: list[Row] = [
        {"query_id": f"q{q}", "query": f"What is {q}?", "agent": agent, "answer": f"It is {q} {agent}"}
        for q, agent in both
    ]
    documents: list[Row] = [
        {"query_id": f"q{q}", "agent": agent, "doc_id": f"d{q}", "document": f"What {q} is."} for q, agent in both
    ]
    return league(home, server, answers, documents, judge, relevance_judge=relevance)


@pytest.mark.parametrize(("relevance", "best_grade"), [("zero-shot", 2), ("zero-shot:umbrela", 3)])
def test_a_tournament_takes_judges_without_labels_for_answers_and_documents(
    home: Path, relevance: str, best_grade: int
) -> None:
    with FakeOpenAI(best) as server:
        python = judgec.zero_shot("preference", lm="openai/gpt-4o-mini", api_base=server.base_url, home=home)
        found = played(home, server, python, relevance)
    assert found.found.relevance is not None
    assert {*found.found.relevance.grades.values()} == {best_grade}
    assert found.found.unproven.startswith("no label was given")
    assert any(note.startswith(f"UNPROVEN: {relevance} graded the documents") for note in found.found.notes)


def test_the_error_of_a_wrong_relevance_judge_names_the_one_without_labels(home: Path) -> None:
    with FakeOpenAI(best) as server:
        with pytest.raises(UserError, match="--relevance-judge zero-shot --lm MODEL grades them") as caught:
            played(home, server, "zero-shot", "nope")
        assert str(caught.value).startswith("--relevance-judge: there is no judge 'nope'")
        with pytest.raises(UserError, match="a judge of grade; one of relevance is needed"):
            played(home, server, "zero-shot", "zero-shot:grade")
        assert server.calls == 0


def by_document(call: Call) -> Outcome:
    """A document that says so is very relevant, others are not; of answers the best grades."""
    labels = {one.name: one.labels for one in call.prompt.outputs if one.labels}
    if "document" not in call.prompt.inputs:
        return best(call)
    return answer(call, {"grade": labels["grade"][-1 if "fact" in str(call.prompt.inputs["document"]) else 0]})


def test_a_judge_of_single_answers_sees_the_relevant_documents_of_all_agents_with_their_numbers(home: Path) -> None:
    agents = ("old", "new", "odd")
    answers: list[Row] = [
        {"query_id": "q", "query": "What is it?", "agent": name, "answer": f"Said by {name} [1]. Noise [2]."}
        for name in agents
    ]
    documents: list[Row] = [
        {"query_id": "q", "agent": name, "doc_id": f"{kind}-{name}", "document": f"A {kind} of {name}."}
        for name in agents
        for kind in ("fact", "rumour")
    ]
    with FakeOpenAI(by_document) as server:
        how = {"relevance_judge": "zero-shot", "citation_form": "[{n}]"}
        found = league(home, server, answers, documents, "zero-shot:answer", **how)
        prompts = [str(body["messages"]) for body in server.bodies if "ready" not in str(body)]
    assert len(prompts) == len(documents) + len(answers)
    seen = [prompt for prompt in prompts if "Said by" in prompt]
    for prompt in seen:
        (name,) = (name for name in agents if f"Said by {name}" in prompt)
        (number,) = re.findall(rf"Said by {name} \[P(\d)\]", prompt)
        assert re.search(rf"\[P{number}\] relevance 2[^\[]*\\n> A fact of {name}\.", prompt)
        assert prompt.count("grades of relevance to the query") == 1
        assert all(f"A fact of {other}." in prompt for other in agents)
        assert "rumour" not in prompt
        assert "Noise [not shown]." in prompt
    assert any("relevant documents of all agents" in note for note in found.found.notes)
    told = (home / "out" / "items.jsonl").read_text(encoding="utf-8")  # the page shows what the reasons speak of
    assert "Noise [not shown]" in told
    assert "[P3] relevance 2" in told
    assert "A rumour" not in told


@pytest.mark.parametrize("judge", ["zero-shot:answer", "zero-shot:paper:answer", "zero-shot:grade"])
def test_a_judge_of_single_answers_is_told_of_no_documents_where_all_are_hidden(home: Path, judge: str) -> None:
    agents = ("old", "new")
    said: Row = {"query_id": "q", "query": "What is it?"}
    answers: list[Row] = [{**said, "agent": one, "answer": f"Said by {one}."} for one in agents]
    documents: list[Row] = [{**said, "agent": one, "doc_id": one, "document": f"A rumour of {one}."} for one in agents]
    with FakeOpenAI(by_document) as server:
        found = league(home, server, answers, documents, judge, relevance_judge="zero-shot")
        prompts = [str(body["messages"]) for body in server.bodies if "Said by" in str(body)]
    assert len(prompts) == 2
    assert not [one for one in prompts if "contexts" in one]
    assert any(note.startswith("2 of 2 answers were judged without documents") for note in found.found.notes)


LABELLED: list[dict[str, object]] = [
    {**QUERY, "item_id": str(n), "query_id": str(n), "answer": f"{n % 5} of 5 facts are right.", "grade": 1 + n % 5}
    for n in range(40)
]


def counts(call: Call) -> Outcome:
    """Grades an answer by the figure that it begins with."""
    said = "".join(unquote(call.prompt.inputs.get("answer", "")))
    place = int(said[0]) if said[:1].isdigit() else 0
    return answer(call, {one.name: one.labels[min(place, 4)] for one in call.prompt.outputs if one.labels})


def test_a_judge_without_labels_is_compared_and_audited_as_any_other_and_nothing_is_saved(home: Path) -> None:
    file = write(home / "labels.jsonl", LABELLED)
    with FakeOpenAI(counts) as good, FakeOpenAI(best) as same:
        judge = judgec.zero_shot("grade", lm="openai/same", api_base=same.base_url, home=home)
        asked: dict[str, Any] = {"labels": file, "lm": "openai/good", "api_base": good.base_url, "home": home}
        found = judgec.compare("zero-shot", judge, **asked)
        audited = judgec.audit("zero-shot", **asked, only=["length"])

    assert found.comparison.a.estimates["exact"].value == 1.0
    assert found.comparison.b.estimates["exact"].value == 8 / 40
    assert found.report["a"] == {"program": "zero-shot", "version": None, "lm": "openai/good"}
    assert audited.findings.index.tolist() == ["length"]
    assert audited.report["mlflow_run_id"] is None
    assert not (home / "programs").exists()


def test_a_judge_without_labels_stands_beside_a_compiled_one_on_its_test_items(home: Path) -> None:
    rows = [claims_row(n) for n in range(60)]
    compiled_from(home, rows, name="own", lm="embedded")
    with FakeOpenAI(best) as server:
        asked: dict[str, Any] = {"lm": "openai/good", "api_base": server.base_url, "home": home}
        asked["labels"] = write(home / "labels.jsonl", rows)
        found = judgec.compare("zero-shot", "own@1", **asked)

    assert found.b == "own@1"
    assert found.comparison.a.n == found.comparison.b.n == 60 - int(str(found.report["left_out"])) > 0


def test_a_judge_without_labels_needs_some_to_be_compared_on(home: Path) -> None:
    with pytest.raises(UserError, match="--labels FILE names what it is held against"):
        judgec.compare("zero-shot:grade", "zero-shot:grade", lm="openai/good", home=home)
    file = write(home / "labels.jsonl", LABELLED)
    with pytest.raises(UserError, match="--lm MODEL is needed"):
        judgec.compare("zero-shot:grade", "zero-shot:grade", labels=file, home=home)


@pytest.mark.parametrize(
    ("name", "row", "key", "grade", "words"),
    [
        ("paper", {**QUERY, "document": "The range."}, "grade", 2, "- Somewhat relevant: The document is on topic but"),
        ("paper", {**QUERY, "answer": "70", "reference": "70 m3/h"}, "grade", 5, "Treat the Label as the definitive"),
        (
            "paper:answer",
            ANSWER,
            "grades",
            dict.fromkeys(("relevance", "accuracy", "completeness", "precision"), 2),
            "The answer mentions a similar product or product line",
        ),
        ("paper", {**QUERY, "contexts": "c", "answer_a": "70", "answer_b": "no"}, "grade", "tie", "Avoid any position"),
    ],
)
def test_papers_prompts_are_in_their_own_words(
    home: Path, name: str, row: dict[str, object], key: str, grade: object, words: str
) -> None:
    with FakeOpenAI(best) as server:
        found = judged(home, server, [{**row, "item_id": "a"}], f"zero-shot:{name}")
        assert found.frame()[key].iloc[0] == grade
        system = server.bodies[-1]["messages"][0]["content"]  # type: ignore[index]  # of JSON
        assert isinstance(system, str)
        assert words in system
        assert "worst first" not in system  # no rubric but the paper's
        if "reference" in row:
            assert system.index("`grade`") < system.index("`reason`")  # score first, as vRAG-Eval asks


def test_zero_shot_takes_the_meanings_that_judgec_toml_has_and_else_says_whose_they_are(tmp_path: Path) -> None:
    (tmp_path / "sheet.csv").write_text("query,answer\nq,a\n")
    asked = zero_shot_of_file("zero-shot", str(tmp_path / "sheet.csv"), {}, "openai/fake", None)
    assert "vRAG-Eval" in borrowed_meanings("grade", asked.card.scale)[0]
    told = 'task = "grade"\n[scale]\ngrades = [1, 2, 3, 4, 5]\nmeanings = ["bad", "weak", "fair", "good", "best"]\n'
    (tmp_path / "judgec.toml").write_text(told)
    asked = zero_shot_of_file("zero-shot", str(tmp_path / "sheet.csv"), {}, "openai/fake", None)
    assert asked.card.scale.meanings == ("bad", "weak", "fair", "good", "best")
    assert borrowed_meanings("grade", asked.card.scale) == ()


@pytest.mark.parametrize("beside", ["judgec.toml", "sheet.datasheet.toml"])
def test_zero_shot_asks_for_the_grades_that_the_file_is_said_to_have(home: Path, beside: str) -> None:
    (home / "sheet.csv").write_text("query,answer,grade\nq,a,0\nq,b,2\nr,a,3\n")
    told = "[scale]\nname = 'help'\ngrades = [0, 1, 2, 3]\naccept_at = 2\n"
    (home / beside).write_text(f"task = 'grade'\n{told}")
    named = str(home / "sheet.csv")
    asked = zero_shot_of_file("zero-shot", named, {}, "openai/fake", None)
    assert asked.card.scale == Scale(name="help", grades=(0, 1, 2, 3), accept_at=2)
    with FakeOpenAI(best) as server:
        model: dict[str, Any] = {"lm": "openai/gpt-4o-mini", "api_base": server.base_url, "home": home}
        assert set(
            judgec.judge_file(named, judge="zero-shot", out=home / "out.jsonl", **model).frame()["judge_grade"]
        ) == {3}
        found = judgec.compare("zero-shot:grade", "zero-shot:grade", labels=named, **model)
    assert found.comparison.a.n == 3
    for other in ("task = 'relevance'\n" + told, "task = 'grade'\n[scale]\nlevel = 'interval'\ngrades = [0, 100]\n"):
        (home / beside).write_text(other)
        assert zero_shot_of_file("zero-shot:grade", named, {}, "openai/fake", None).card.scale == TASKS["grade"].scale
