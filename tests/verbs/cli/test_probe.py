"""``judgec generate-queries`` and ``judgec probe`` as a user runs them, without a model."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from judgec.errors import GateError, InputError, UserError
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
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "systems.py").write_text(SYSTEM)
    return tmp_path


@pytest.mark.full
def test_generated_queries_are_probed_once_and_repeated_for_nothing(folder: Path) -> None:
    options = ["--index", CATALOGUE, "--experts", EXPERTS, "--per-passage", 4, "--references", "--out", "q.jsonl"]
    made = json.loads(judgec(folder, "generate-queries", *options, "--sample", "embedded=25", "--json").stdout)
    rows = [json.loads(line) for line in (folder / "q.jsonl").read_text().splitlines()]
    assert made["queries"] == len(rows) == len({row["query"] for row in rows}) == made["models"]["embedded"]["sampled"]
    assert all(row["lm"] == "embedded" and row["passage"] and row["reference"] and row["seed"] == 0 for row in rows)
    assert 0 < made["diversity"]["closeness"]["likeness"] < 1
    (folder / "counted.py").write_text(
        "from systems import talks as real\n\n\ndef talks(query):\n"
        "    with open('asked.txt', 'a') as log:\n        log.write('x')\n    return real(query)\n"
    )
    command = ["probe", "--scenarios", "S1,S6", "--index", CATALOGUE, "--n", 5, "--out", "p"]
    command += ["--system", "python:counted:talks"]
    first = json.loads(judgec(folder, *command, "--json", "--max-failure", "S6=0.2", code=1).stdout)
    asked = (folder / "asked.txt").read_text()
    assert len(asked) == 10
    assert json.loads(judgec(folder, *command, "--json").stdout)["results"] == first["results"]
    short, full = (judgec(folder, *command, *more).stdout for more in ((), ("-v",)))
    assert (folder / "asked.txt").read_text() == asked
    assert short.count("Failure rates") == 1
    assert "In all" not in short
    assert all(table in full for table in ("In all", "What to do"))


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


def test_generate_queries_says_which_model_has_no_share(tmp_path: Path) -> None:
    found = generate_queries(
        index=str(CATALOGUE), lm="embedded,openai/never-asked", per_passage=2, sample={"embedded": 3},
        out=tmp_path / "q.jsonl", api_base="http://127.0.0.1:9/v1", home=tmp_path,
    )  # fmt: skip
    assert "openai/never-asked: no share in --sample, so it was not asked" in found.notes
