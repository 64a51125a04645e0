"""Test queries, their generator and probes from Python: frames in, frames out, the commands' files beside them."""

import asyncio
import json
import re
from pathlib import Path

import pandas as pd
import pytest

import judgec
from judgec.errors import InputError, ServiceError, UserError
from tests.service.fake_openai import FakeOpenAI
from tests.service.policies import good
from tests.service.replies import Call, Outcome, answer, read_call
from tests.verbs.cli.process import ROOT
from tests.verbs.cli.process import judgec as run

CATALOGUE = ROOT / "trainsets" / "sensors" / "catalogue"
EXPERTS = ["Which sensor measures up to 70 m\u00b3/h?", "What is the supply voltage?", "How long may the cable be?"]
TALKS, ECHO = "python:builtins:repr", "python:builtins:str"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "trainsets").symlink_to(ROOT / "trainsets")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_generate_queries_of_a_frame_of_experts_gives_the_rows_of_its_file(here: Path) -> None:
    found = judgec.generate_queries(
        index=CATALOGUE, experts=pd.DataFrame({"query": EXPERTS}), per_passage=4, sample=15, references=True, home=here
    )
    assert len(found) == len(found.queries) == 15
    written = [json.loads(line) for line in found.out.read_text(encoding="utf-8").splitlines()]
    assert found.queries.to_dict("records") == written
    assert found.queries["reference"].str.len().min() > 0
    counts = found.counts.loc["embedded"].to_dict()
    assert counts["written"] >= counts["pooled"] >= counts["sampled"] == 15
    assert repr(found) == "<GeneratedQueries 15 queries by embedded, in queries.jsonl>"
    assert "<table" in found._repr_html_()
    listed = judgec.generate_queries(
        index=CATALOGUE, experts=EXPERTS, per_passage=4, sample={"embedded": 15}, home=here
    )
    assert listed.queries["query"].tolist() == found.queries["query"].tolist()


def test_generate_queries_of_bad_input_says_what_is_valid(here: Path) -> None:
    with pytest.raises(InputError, match="no column 'query'; the columns are text"):
        judgec.generate_queries(index=CATALOGUE, experts=pd.DataFrame({"text": EXPERTS}))
    with pytest.raises(UserError, match="--sample other=3: not MODEL=COUNT"):
        judgec.generate_queries(index=CATALOGUE, sample={"other": 3})
    with pytest.raises(UserError, match="per_passage=0; a number of at least 1 is valid"):
        judgec.generate_queries(index=CATALOGUE, per_passage=0)
    with pytest.raises(UserError, match="each once, are needed"):
        judgec.generate_queries(index=CATALOGUE, lm=["embedded", "embedded"])
    assert not list(here.glob("*.jsonl"))


def test_compile_queries_of_a_frame_gives_a_generator_that_writes(here: Path) -> None:
    experts = pd.read_csv(ROOT / "trainsets" / "sensors" / "expert_queries.csv")
    found = judgec.compile_queries(index=CATALOGUE, experts=experts, per_passage=3, name="mine", home=here)
    assert (found.name, found.report["program"], found.report["version"]) == ("mine@1", "mine", 1)
    assert found.promoted is found.report["promoted"]
    compiled = found.table.loc["compiled"].to_dict()
    assert compiled["value"] == found.report["test"]["compiled.value"]["value"]
    assert compiled["value.low"] < compiled["value"] < compiled["value.high"]
    assert found.reason in repr(found)
    assert "<table" in found._repr_html_()
    assert "accepted by rules: no expert was asked" in found.notes
    written = judgec.generate_queries(index=CATALOGUE, generator=found.name, passages=4, home=here)
    assert len(written) > 0


def test_probe_of_questions_in_a_frame_says_where_each_system_fails(here: Path) -> None:
    questions = pd.DataFrame(
        {"query": ["How much is it?", "How old is it?"], "reference": ["how much is it", "12 years"]}
    )
    found = judgec.probe(
        questions=questions, system=[TALKS, ECHO], out=here / "p", home=here, max_failure={"given": 0.2}
    )
    assert found.results[["scenario", "system", "data_set", "n"]].to_dict("records") == [
        {"scenario": "given", "system": "repr", "data_set": "questions", "n": 2},
        {"scenario": "given", "system": "str", "data_set": "questions", "n": 2},
    ]
    report = json.loads((here / "p" / "report.json").read_text(encoding="utf-8"))
    assert found.report == report
    assert found.results["failure_rate"].tolist() == [one["failure_rate"]["value"] for one in report["results"]]
    assert (found.results["failure_rate.low"] <= found.results["failure_rate"]).all()
    assert found.report_path.is_file()
    assert found.cases["answer"].tolist() == [*map(repr, questions["query"]), *questions["query"]]
    assert set(found.cases["outcome"]) <= {"pass", "fail"}
    assert found.gate == report["gate_verdict"] == "not shown"  # two questions show nothing
    assert list(found.breaches) == report["gate"]
    assert repr(found) == f"<ProbeReport {report['verdict']} Gate not shown.>"
    assert "<table" in found._repr_html_()
    both = judgec.compare_probes(f"{found.out}:repr", f"{found.out}:str")
    rates = found.results["failure_rate"].tolist()
    row = both.results.loc["all"].to_dict()
    assert (row["a"], row["b"], row["difference"]) == pytest.approx((*rates, rates[0] - rates[1]))
    assert 0 < row["p"] <= 1
    assert both.verdict in repr(both)
    same = judgec.compare_probes(found, found).results
    assert same["system"].tolist()[::2] == ["", "repr", "str"]
    assert (same["difference"] == 0).all()


def test_people_grade_the_verdicts_of_a_probe_and_a_later_run_keeps_their_grades(here: Path) -> None:
    questions = pd.DataFrame({"query": [f"How wide is the D{n}?" for n in range(6)], "reference": ["12 mm"] * 6})
    asked = {"questions": questions, "system": ECHO, "out": here / "p", "home": here}
    judgec.probe(**asked)  # type: ignore[arg-type]
    file = here / "p" / "verdicts.jsonl"
    typed = ("labels", "export", str(file), "ann.csv", "--annotators", "ann", "--json")
    listed = json.loads(run(here, *typed).stdout)
    assert listed["items"] == 6
    sheet = pd.read_csv(here / "ann.csv")
    assert "judge_grade" not in sheet.columns  # people would anchor on it
    sheet["grade"] = ["fail"] * 4 + ["pass"] * 2
    sheet.to_csv(here / "ann.csv", index=False)
    run(here, "labels", "import", str(file), "ann.csv", "--annotators", "ann")
    found = judgec.agreement(file, judges="judge_grade")
    assert found.agreement.n == 6
    assert found.estimates["exact"].value == pytest.approx(4 / 6)  # an echo answers nothing
    judgec.probe(**asked)  # type: ignore[arg-type]
    assert judgec.agreement(file, judges="judge_grade").estimates["exact"].value == pytest.approx(4 / 6)
    file.write_text(file.read_text(encoding="utf-8") + "{cut", encoding="utf-8")
    with pytest.raises(UserError, match=r"verdicts.jsonl:7: .* a row of JSON is valid"):
        judgec.probe(**asked)  # type: ignore[arg-type]
    assert file.read_text(encoding="utf-8").endswith("{cut")


def test_probe_inside_a_running_event_loop_and_without_limits_has_no_gate(here: Path) -> None:
    corpus = judgec.index(CATALOGUE, out=here / "corpus")

    async def inside() -> judgec.ProbeReport:
        return judgec.probe(scenarios="S6", index=corpus, system=ECHO, n=2, out=here / "p", home=here)

    found = asyncio.run(inside())
    assert (found.gate, found.breaches) == (None, ())
    assert found.results["failures"].tolist() == [2]


@pytest.mark.full
def test_probe_whose_systems_all_fail_is_an_error_and_leaves_the_reasons(here: Path) -> None:
    (here / "fails_for_the_api.py").write_text("def fails(query):\n    raise RuntimeError('out of order')\n")
    with pytest.raises(ServiceError, match="no system gave an answer"):
        judgec.probe(
            questions=[{"query": "Why?", "reference": "So."}],
            system="python:fails_for_the_api:fails",
            out="p",
            home=here,
        )
    assert "out of order" in (here / "p" / "results.jsonl").read_text(encoding="utf-8")


def writing(call: Call) -> Outcome:
    """Questions of pumps: for every third weight the answer is made up; no judge is asked."""
    inputs, outputs = call.prompt.inputs, {output.name for output in call.prompt.outputs}
    heavy = next(iter(re.findall(r"weighs (\d+)", " ".join(inputs.values()))), "0")
    said = f"{heavy if int(heavy) % 3 else 5000} kg"
    asked = f"How heavy is pump {heavy}?" if "examples" not in inputs else ""
    one = {"queries": f"How heavy is pump P{heavy}?", "nuggets": f"vital: It weighs {heavy} kg.", "right": "1"}
    one |= {"question": asked, "answer": said, "options": f"{said}\n1 g\n2 g\n3 g"}
    return answer(call, one) if outputs & one.keys() else good(call)


@pytest.fixture
def pumps(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    folder = here / "pumps"
    folder.mkdir()
    for n in range(30, 70):
        text = f"# Pump P{n}\n\nThe pump P{n} weighs {n} kg, as anybody who carried the heavy thing knows.\n"
        (folder / f"p{n}.md").write_text(text, encoding="utf-8")
    return folder


def temperatures(server: FakeOpenAI) -> dict[str, set[object]]:
    """By what is asked for, with the inputs of a prompt that asks for an answer."""
    found: dict[str, set[object]] = {}
    for number, body in enumerate(server.bodies):
        call = read_call(number, body)
        for output in call.prompt.outputs:
            found.setdefault(output.name, set()).add(body.get("temperature"))
    return found


def test_probe_draws_anew_what_falls_says_so_and_asks_no_second_time(here: Path, pumps: Path) -> None:
    with FakeOpenAI(writing) as server:
        asked = {"scenarios": ["S1", "S3"], "index": pumps, "system": ECHO, "lm": "openai/fake"}
        asked |= {"api_base": server.base_url, "home": here, "out": here / "p"}
        found = judgec.probe(**asked)  # type: ignore[arg-type]
        calls = server.calls
        assert temperatures(server)["right"] == {0}
        assert temperatures(server)["question"] == {0.7}
        judgec.probe(**asked)  # type: ignore[arg-type]
        assert server.calls == calls
    report = json.loads(found.report_path.with_name("report.json").read_text(encoding="utf-8"))
    by = {one["scenario"]: one for one in report["drafts"]}
    assert {name: one["kept"] for name, one in by.items()} == {"S1": 10, "S3": 10}
    assert all(sum(one["fell"].values()) == one["written"] - one["kept"] > 0 for one in by.values())
    (note,) = [note for note in report["notes"] if "drafts fell" in note]
    fell = sum(one["written"] - one["kept"] for one in by.values())
    assert note.startswith(f"{fell} of {fell + 20} drafts fell: ")
    assert note in found.report_path.read_text(encoding="utf-8")
    assert found.results["n"].tolist() == [10, 10]


def test_generate_queries_reads_answers_and_rubrics_off_at_temperature_0(here: Path, pumps: Path) -> None:
    with FakeOpenAI(writing) as server:
        asked = {"index": pumps, "experts": EXPERTS, "lm": "openai/fake", "references": True, "rubrics": True}
        found = judgec.generate_queries(**asked, api_base=server.base_url, passages=12, home=here)  # type: ignore[arg-type]
    assert temperatures(server) == {"queries": {0.7}, "answer": {0}, "nuggets": {0}}
    assert all(int(row["reference"].split()[0]) % 3 for row in found.queries.to_dict("records"))
    assert found.pool.dropped["openai/fake"]["unreliable (answer_in_passage)"] == 12 - len(found)
    rubrics = [body for body in server.bodies if "so that an answer can be checked" in json.dumps(body)]
    assert len(rubrics) == len(found)


def test_generate_queries_of_which_nothing_is_left_ends_with_1_and_the_reason(here: Path, pumps: Path) -> None:
    with FakeOpenAI(lambda call: answer(call, {"queries": "What does this passage say?"})) as server:
        typed = ("--index", str(pumps), "--lm", "openai/fake", "--api-base", server.base_url, "--passages", "3")
        ended = run(here, "generate-queries", *typed, code=1, OPENAI_API_KEY="none")
    assert "openai/fake: 0 usable queries: 3 of 40 passages gave 3" in ended.stderr
    assert "1 unreliable" in ended.stderr
    assert not (here / "queries.jsonl").exists()
