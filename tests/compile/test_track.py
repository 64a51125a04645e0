"""A compile as an MLflow run: the report's numbers under their names, and tables."""

import shutil
from pathlib import Path

from judgec.compile.report import by_group
from judgec.compile.track import HEADLINE, run_of
from judgec.connect.tracking.runs import CompileRun
from judgec.raters import programs
from judgec.records.estimate import Estimate
from tests.compile.small import Outcome, compiled_from
from tests.service import grading_world

WORLD = grading_world.rows(60, per_query=2)


def logged(found: Outcome, home: Path) -> CompileRun:
    saved = found.saved
    return run_of(saved, home, source="labels.jsonl", took=(1, 2))


def short(metric: Estimate | float) -> object:
    return metric.to_json() if isinstance(metric, Estimate) else metric


def test_metrics_are_the_report_under_its_names(plain: Outcome) -> None:
    compiled, run = plain.compiled, logged(plain, plain.settings.home)
    agreements = compiled.verification.agreements
    assert short(run.metrics["test.tau_b"]) == agreements["compiled"].estimates["tau_b"].to_json()
    assert short(run.metrics["test.uncompiled.qwk"]) == agreements["uncompiled"].estimates["qwk"].to_json()
    assert run.metrics["test.majority.n"] == len(compiled.dataset.test)
    assert run.metrics["test.bias"] == agreements["compiled"].bland_altman.bias
    assert short(run.metrics["prompt_gain.tau_b"]) == compiled.prompt_gain["tau_b"].to_json()
    assert short(run.metrics["difference.kappa"]) == compiled.decision.by_statistic["kappa"].to_json()
    assert run.headline is not None
    assert set(run.headline) <= {*HEADLINE, "test.objective.low", "test.objective.high"}
    assert len(run.headline) <= 15
    assert run.headline["test.gain"] == compiled.decision.difference.value
    table = run.tables["disagreements"]
    judged, test = compiled.verification.judgments["compiled"], compiled.dataset.test
    differ = {item.item_id for i, item in enumerate(test.items) if judged.grade[i, 0] != test.experts.target[i, 0, 0]}
    assert {row[0] for row in table["data"] if isinstance(row, list)} == differ
    assert table["columns"][:3] == ["item_id", "experts", "judge"]
    assert len(run.candidates) == len(compiled.choice.searched) + len(compiled.made)
    version = run.version
    assert version is not None
    assert (version.name, version.aliases, version.tags["version"]) == ("small", ("challenger",), "0001")
    assert "None" not in version.tags.values()


def test_statistic_that_is_undefined_makes_no_tag(tmp_path: Path) -> None:
    alike = [{**row, "query": "Which?", "answer": "None."} for row in WORLD]  # every verdict is the same
    outcome = compiled_from(tmp_path, alike)
    assert outcome.compiled.verification.agreements["compiled"].estimates["tau_b"].value is None
    version = logged(outcome, tmp_path).version
    assert version is not None
    assert "test.tau_b" not in version.tags
    assert "None" not in version.tags.values()


def test_aliases_of_the_registered_version_are_those_on_disk(plain: Outcome, tmp_path: Path) -> None:
    shutil.copytree(plain.settings.home, tmp_path / "home")
    compiled_from(tmp_path / "home", WORLD, seed=1)

    def aliases() -> tuple[str, ...]:
        version = logged(plain, tmp_path / "home").version
        assert version is not None
        return version.aliases

    assert aliases() == ()  # the later version has the challenger's by now
    programs.set_aliases(tmp_path / "home", "small", {"champion": 1})
    assert aliases() == ("champion",)


def test_groups_are_measured_on_their_own_rows_though_cells_are_missing(tmp_path: Path) -> None:
    rows = [
        {**{k: v for k, v in row.items() if k != "grade"}, "group": f"g{number // 2 % 2}", "grade.a": 1 + number % 4}
        | ({} if number % 4 == 0 else {"grade.b": 1 + number % 3})
        for number, row in enumerate(WORLD)
    ]
    compiled = compiled_from(tmp_path, rows, best="4").compiled
    test = {item.item_id: item.group for item in compiled.dataset.test.items}
    wanted = {
        group: sum(("grade.a" in row) + ("grade.b" in row) for row in rows if test.get(str(row["item_id"])) == group)
        for group in ("g0", "g1")
    }
    assert {
        name: found.estimates["tau_b"].n
        for name, found in by_group(compiled.dataset, compiled.verification.ratings["compiled"]).items()
    } == wanted
