"""Labels on an interval scale through the verbs: proposed, compared, compiled, judged."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import judgec
from judgec.errors import UserError
from judgec.labels.experts import experts_of
from judgec.records.scale import Scale
from judgec.report.label_report import agreement_between
from judgec.verbs.agreement import agreement_report
from judgec.verbs.options.agreement import AgreementOptions

RATERS = ("annotator_anna", "annotator_ben")


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    rng, good = np.random.default_rng(0), np.random.default_rng(1).random(120)
    rows = pd.DataFrame(
        {"item_id": f"i{i}", "query_id": f"q{i // 4}", "query": f"Which is {i // 4}?"}
        | {"answer": f"It is {i}" + " good" * int(9 * good[i])}
        for i in range(120)
    )
    given = np.clip(100 * good[:, None] + rng.normal(0, 8, (120, 2)), 0, 100).round(1)
    rows[[*RATERS]] = given
    rows.to_csv(tmp_path / "labels.csv", index=False)
    return tmp_path / "labels.csv"


def test_init_takes_a_range_for_an_interval_scale_and_keeps_few_or_whole_numbers_as_grades(labels: Path) -> None:
    scale = judgec.init(labels, annotators=RATERS, grades=("0..100",)).project.scale
    assert scale is not None
    assert (scale.level, scale.grades) == ("interval", (0, 100))
    whole = labels.with_name("whole.csv")
    table = pd.read_csv(labels)
    table.assign(**{name: table[name].astype(int) // 10 for name in RATERS}).to_csv(whole, index=False)
    scale = judgec.init(whole, annotators=RATERS, best="10", replace=True).project.scale
    assert scale is not None
    assert scale.level == "ordinal"


def test_raters_of_numbers_have_the_interval_alpha_and_no_kappa(labels: Path) -> None:
    labelled = judgec.read_labels(labels, annotators=RATERS, scale={"level": "interval", "grades": [0, 100]}).label_set
    agreement = agreement_between(experts_of(labelled), labelled.scale, labelled.aspects)
    given = pd.read_csv(labels)[[*RATERS]].to_numpy()
    observed = ((given[:, 0] - given[:, 1]) ** 2).mean()
    expected = 2 * given.var(ddof=1)
    assert agreement["krippendorff_alpha"] == pytest.approx(1 - observed / expected, abs=1e-9)
    assert agreement["fleiss_kappa"] is None
    assert agreement["pairwise"][0]["kappa"] is None


def test_the_grade_of_a_number_is_the_nearest_one_that_the_sheet_lists() -> None:
    scale = Scale(level="interval", grades=(0, 50, 100)).with_values([12.5, 30.0, 80.0])
    assert scale.stated(2, 30.0) == 50
    assert Scale(level="interval", grades=(0, 100)).with_values([30.0]).stated(1, 31.0) == 30


@pytest.mark.parametrize(
    "asked",
    [
        {"lm": "openai/gpt-4o-mini"},
        {"candidates": ["openai/gpt-4o-mini", judgec.Function("half", lambda answer: 50.0)]},
    ],
    ids=["alone", "beside a function"],
)
def test_a_language_model_is_refused_for_numbers(labels: Path, tmp_path: Path, asked: dict[str, Any]) -> None:
    with pytest.raises(UserError, match="interval scale, and a language model"):
        judgec.compile_judge(
            labels, annotators=RATERS, scale={"level": "interval", "grades": [0, 100]}, home=tmp_path, **asked
        )


@pytest.mark.full
def test_pages_of_hundreds_of_numbers_have_no_cell_for_each(labels: Path, tmp_path: Path) -> None:
    interval = {"level": "interval", "grades": [0, 100]}
    found = judgec.compile_judge(labels, annotators=RATERS, scale=interval, home=tmp_path, name="ours")
    page = found.report_path.read_text(encoding="utf-8")
    assert "Bland-Altman" in page
    assert "Confusion" not in page
    assert len(page) < 1_500_000
    judged = pd.read_csv(labels)
    judged["machine"] = np.linspace(0, 100, len(judged))
    compared = judgec.agreement(judged, annotators=RATERS, judges="machine", scale=interval)
    options = AgreementOptions(file=str(labels), annotators=RATERS, judges={"machine": ""})
    charts = agreement_report(compared, options, tmp_path / "page.html").charts
    assert "Bland-Altman" in charts
    assert "Confusion" not in charts
