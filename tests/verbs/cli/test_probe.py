"""``judgec generate-queries`` and ``judgec probe`` as a user runs them, without a model."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from judgec.errors import GateError, InputError, ServiceError, UserError
from judgec.verbs.cli.commands import probe
from judgec.verbs.generate_queries import generate_queries
from tests.verbs.cli.process import ROOT, judgec

CATALOGUE = ROOT / "trainsets" / "sensors" / "catalogue"
EXPERTS = ROOT / "trainsets" / "sensors" / "expert_queries.csv"
SYSTEM = '''"""Systems under test."""
REFUSAL = "The documents do not answer this question."


def refuses(query):
    return REFUSAL


def talks(query):
    return {"answer": "It is 4711 in every case.", "contexts": ["nothing of use"]}


def fails(query):
    raise RuntimeError("out of order")
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "systems.py").write_text(SYSTEM)
    return tmp_path


@pytest.mark.full
def test_generate_queries_samples_by_model_and_reports(folder: Path) -> None:
    options = [
        "--index",
        CATALOGUE,
        "--experts",
        EXPERTS,
        "--per-passage",
        4,
        "--sample",
        "embedded=25",
        "--references",
    ]
    report = json.loads(judgec(folder, "generate-queries", *options, "--out", "q.jsonl", "--json").stdout)
    rows = [json.loads(line) for line in (folder / "q.jsonl").read_text().splitlines()]
    assert report["queries"] == len(rows) == 25
    assert all(row["lm"] == "embedded" and row["passage"] and row["reference"] and row["seed"] == 0 for row in rows)
    assert len({row["query"] for row in rows}) == 25
    assert report["models"]["embedded"]["sampled"] == 25
    assert 0 < report["diversity"]["closeness"]["likeness"] < 1
    assert any("baseline" in note for note in report["notes"])
    short = judgec(folder, "generate-queries", *options[:-3], "--sample", "embedded=5000", "--out", "s.jsonl", code=2)
    assert "--sample embedded=5000: " in short.stderr
    assert "47 of 47 passages gave" in short.stderr
    assert not (folder / "s.jsonl").exists()


def run(home: Path, **wanted: Any) -> None:
    """The command in this process."""
    known: dict[str, Any] = {"scenarios": ["S1"], "system": ["python:systems_of_probe:talks"]}
    probe(**{"out": home / "out", "home": home, **known, "index": [str(CATALOGUE)], "n": 2, "json": True, **wanted})


def test_probe_writes_its_reports_and_tests_the_upper_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("systems_of_probe.py").write_text(SYSTEM)
    systems = ["python:systems_of_probe:refuses", "python:systems_of_probe:talks"]
    with pytest.raises(
        GateError,
        match=r"^GATE FAILED: --max-failure: S6 x refuses x catalogue: the failure rate may be as high as \.46",
    ):
        run(tmp_path, scenarios=["S1,S4", "S6"], system=systems, n=6, max_failure=["S6=0.2"])
    report = json.loads(capsys.readouterr().out)
    cells = {(cell["scenario"], cell["system"]): cell for cell in report["results"]}
    assert {key: cell["failure_rate"]["value"] for key, cell in cells.items()} == {
        ("S1", "refuses"): 1.0,
        ("S1", "talks"): 1.0,
        ("S4", "refuses"): 1.0,
        ("S4", "talks"): 1.0,
        ("S6", "refuses"): 0.0,
        ("S6", "talks"): 1.0,
    }
    assert cells["S6", "refuses"]["rejection"]["refused"] == 6
    assert cells["S6", "talks"]["rejection"]["answered"] == 6
    assert report["systems_failing"]["S6"] == {"failing": 1, "of": 2}
    assert len(report["gate"]) == 2
    assert report["gate_verdict"] == "failed"  # talks answered all six that it should have refused
    assert report["mlflow_run_id"]
    assert json.loads((tmp_path / "out" / "report.json").read_text()) == report
    assert ET.parse(tmp_path / "out" / "junit.xml").getroot().get("tests") == "36"  # noqa: S314 - our own
    assert "Failure rates" in (tmp_path / "out" / "report.html").read_text()
    probe(compare=("out:refuses", "out:talks"), json=True)
    rows = {row["scenario"]: row for row in json.loads(capsys.readouterr().out)["results"]}
    expected = {"p": 0.03125, "smallest_p": 0.03125, "a_only_failed": 0, "b_only_failed": 6, "n": 6}
    assert rows["S6"]["mcnemar"] == expected


@pytest.mark.full
def test_probe_that_is_repeated_asks_nothing_again(folder: Path) -> None:
    (folder / "counted.py").write_text(
        "from systems import talks as real\n\n\ndef talks(query):\n"
        "    with open('asked.txt', 'a') as log:\n        log.write('x')\n    return real(query)\n"
    )
    command = ["probe", "--scenarios", "S1,S6", "--index", CATALOGUE, "--n", 5, "--out", "p", "--json"]
    command += ["--system", "python:counted:talks"]
    first = json.loads(judgec(folder, *command, "--max-failure", "S6=0.2", code=1).stdout)
    asked = (folder / "asked.txt").read_text()
    assert len(asked) == 10
    assert json.loads(judgec(folder, *command).stdout)["results"] == first["results"]
    assert (folder / "asked.txt").read_text() == asked
    compared = json.loads(judgec(folder, "probe", "--compare", "p", "p", "--json").stdout)
    assert compared["results"][0]["mcnemar"]["p"] == 1.0


@pytest.mark.full
def test_probe_of_given_questions_needs_no_index(folder: Path) -> None:
    (folder / "q.csv").write_text("query,reference\nHow much is it?,4711\nHow old is it?,12 years\n")
    done = judgec(folder, "probe", "--questions", "q.csv", "--system", "python:systems:talks", "--json")
    (cell,) = json.loads(done.stdout)["results"]
    assert (cell["scenario"], cell["failures"], cell["n"]) == ("given", 1, 2)


@pytest.mark.full
def test_probe_on_screen_is_a_verdict_one_table_and_the_fixes(folder: Path) -> None:
    command = ["probe", "--scenarios", "S1,S6", "--index", CATALOGUE, "--n", 5, "--out", "p"]
    command += ["--system", "python:systems:talks"]
    short = judgec(folder, *command)
    assert "In all" not in short.stdout
    assert "data set" not in short.stdout
    assert "S6: " in short.stderr
    assert short.stdout.count("Failure rates") == 1
    full = judgec(folder, *command, "-v").stdout
    assert "In all" in full
    assert "What to do" in full


@pytest.mark.parametrize(
    ("wanted", "error", "said"),
    [
        ({"scenarios": ["S9"]}, UserError, "no such scenario"),
        ({"system": []}, UserError, "--system: none given"),
        ({"scenarios": []}, UserError, "--scenarios: none given"),
        ({"index": []}, UserError, "--index: none given"),
        ({"system": ["rag-bm25"]}, UserError, "judgec's agents search an index"),
        ({"system": ["python:systems_of_probe:none"]}, UserError, "none: no such function"),
        ({"scenarios": ["mine.yaml"]}, UserError, "mine: prompts of its own, which rules cannot follow; needs --lm"),
        ({"scenarios": ["bad.yaml"]}, InputError, "bad.yaml:2: key colour is not known"),
        pytest.param(
            {"system": ["python:systems_of_probe:fails"]},
            ServiceError,
            "no system gave an answer",
            marks=pytest.mark.full,
        ),
        ({"max_failure": ["S2=1"]}, UserError, "--max-failure S2=1"),
        ({"metric": ["bias"]}, UserError, "metric bias: no rule sees it"),
        ({"metric": ["niceness"]}, UserError, "--metric: 'niceness' is not valid; valid are correctness"),
        ({"metric": ["judge:nobody"]}, UserError, "there is no judge 'nobody'"),
        ({"judge": "nobody"}, UserError, "there is no judge 'nobody'"),
        ({"judge": "zero-shot:grade"}, UserError, "a judge of grade; zero-shot:answer is valid"),
        ({"rejection_judge": "nobody"}, UserError, "--rejection-judge: there is no judge 'nobody'"),
        ({"reliability": "nobody"}, UserError, "--reliability: there is no judge 'nobody'"),
    ],
)
def test_probe_of_bad_input_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: dict[str, Any], error: type[Exception], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("systems_of_probe.py").write_text(SYSTEM)
    Path("bad.yaml").write_text("id: bad\ncolour: blue\n")
    shipped = (ROOT / "src/judgec/rag/queries/scenarios/S1.yaml").read_text()
    Path("mine.yaml").write_text(shipped.replace("id: S1", "id: mine").replace("  - |\n", "  - |\n    Be brief.\n"))
    with pytest.raises(error) as caught:
        run(tmp_path, **wanted)
    assert said in str(caught.value)


@pytest.mark.full
def test_probe_with_a_scenario_of_the_users_own(folder: Path) -> None:
    (folder / "scenarios").mkdir()
    text = (ROOT / "src/judgec/rag/queries/scenarios/S1.yaml").read_text().replace("id: S1", "id: mine")
    (folder / "scenarios" / "mine.yaml").write_text(text)
    command = ["probe", "--scenarios", "mine", "--index", CATALOGUE, "--n", 3, "--system", "python:systems:talks"]
    (cell,) = json.loads(judgec(folder, *command, "--json").stdout)["results"]
    assert (cell["scenario"], cell["n"]) == ("mine", 3)


def test_generate_queries_says_which_model_has_no_share(tmp_path: Path) -> None:
    found = generate_queries(
        index=str(CATALOGUE),
        lm="embedded,openai/never-asked",
        per_passage=2,
        sample={"embedded": 3},
        out=tmp_path / "q.jsonl",
        api_base="http://127.0.0.1:9/v1",
        home=tmp_path,
    )
    assert "openai/never-asked: no share in --sample, so it was not asked" in found.notes
