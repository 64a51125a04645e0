"""``judgec.compare`` and ``judgec.audit``: judges held against labels that they have not learned from."""

import asyncio
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

import judgec
from judgec.errors import UserError
from judgec.lm.watch import Silent
from judgec.raters import programs
from judgec.report.report import write_page
from judgec.report.words import CONSTRUCTED
from judgec.verbs.cli.output import print_report
from judgec.verbs.compare import compare, compared_report
from judgec.verbs.options.compare import CompareOptions
from tests.compile.small import compiled_from, write

COLOURS = ("red", "green", "blue", "white", "black")


def rows(queries: int, name: str) -> list[dict[str, object]]:
    """Two answers a query, graded 1 + how many of four words are those of the reference, but for one in six."""
    made: list[dict[str, object]] = []
    for q in range(queries):
        right = [COLOURS[(q + i) % 5] for i in range(4)]
        for k, quality in enumerate((q % 5, (q // 2 + 3) % 5)):
            words = [word if i < quality else f"something{i}" for i, word in enumerate(right)]
            inputs = {
                "query": f"Which colours has flag {name}{q}?",
                "answer": " ".join(words),
                "reference": " ".join(right),
            }
            grade = 1 + quality if (2 * q + k) % 6 else 1 + (quality + 1) % 5  # experts err too
            made.append({"item_id": f"{name}{q}/{k}", "query_id": f"{name}{q}", **inputs, "grade": grade})
    return made


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two versions of the embedded judge ``e`` of grades 1-5."""
    home = tmp_path_factory.mktemp("held")
    for seed in (0, 1):
        compiled_from(home, rows(60, "c"), name="e", accept_at="3", seed=seed, lm="embedded")
    return home


@pytest.fixture(scope="module")
def few() -> pd.DataFrame:
    """Labels of new queries without the grade 5, beside all that the judges were compiled on."""
    made = [*rows(60, "c"), *(row for row in rows(30, "f") if row["grade"] != 5)]
    return pd.DataFrame(made).rename(columns={"query": "Frage"})


def test_compare_on_a_frame_leaves_out_what_was_learned_and_reads_the_judges_scale(
    home: Path, few: pd.DataFrame, tmp_path: Path
) -> None:
    fresh = int(few["query_id"].str.startswith("f").sum())
    found = judgec.compare("e@1", "e@2", labels=few, columns={"Frage": "query"}, home=home)
    left_out = found.report["left_out"]
    assert isinstance(left_out, int)
    assert 0 < left_out < 120  # the test items of both stay
    assert found.comparison.a.n == len(few) - left_out > fresh
    assert found.comparison.a.estimates["accept_agreement"].value is not None
    file = write(tmp_path / "few.jsonl", [{str(k): v for k, v in row.items()} for row in few.to_dict("records")])
    judges = [judgec.load_judge(name, home=home) for name in ("e@1", "e@2")]
    again = judgec.compare(judges[0], judges[1], labels=file, columns={"Frage": "query"})
    pd.testing.assert_frame_equal(again.table, found.table)
    gap = found.table["a"] - found.table["b"]
    assert found.table["difference"].dropna().to_dict() == pytest.approx(gap.dropna().to_dict())
    assert len(found.differing) == found.report["differ"]
    assert found.verdict in repr(found)
    assert "<table" in found._repr_html_()
    assert not found.constructed


def test_comparison_on_constructed_labels_says_so_on_page_screen_and_in_its_report(
    home: Path, few: pd.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "few.jsonl", [{str(k): v for k, v in row.items()} for row in few.to_dict("records")])
    (tmp_path / "datasheet.toml").write_text('[source]\nlabels = "constructed"\n')
    options = CompareOptions(
        a="e@1", b="e@2", labels=str(tmp_path / "few.jsonl"), columns={"Frage": "query"}, home=home
    )
    found = compare.run(options, Silent())
    assert found.constructed
    assert "experts" not in found.verdict
    assert found.report["notes"] == list(found.notes)
    shown = compared_report(found, options, None)
    print_report(shown)
    printed = capsys.readouterr()
    assert "constructed grades" in printed.out
    assert f"note: {CONSTRUCTED}" in printed.err
    write_page(shown, tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert html.index(CONSTRUCTED) < html.index('<p class="verdict')
    assert html.count(CONSTRUCTED) == 1
    assert "constructed grades that neither has learned from" in html
    assert "experts" not in html.replace(CONSTRUCTED, "").partition("<main>")[2].partition("</header>")[0]


def test_audit_of_a_judge_on_a_frame_gives_findings_verdict_and_report(home: Path, few: pd.DataFrame) -> None:
    judge = judgec.load_judge("e@1", home=home)

    async def inside() -> judgec.JudgeAudit:
        return judgec.audit(judge, only=["length"], items=20, labels=few, columns={"Frage": "query"})

    found = asyncio.run(inside())
    assert found.findings.index.tolist() == ["length"]
    assert found.findings.loc["length", "status"] in {"pass", "fail", "not shown"}
    assert found.verdict in {"passed", "failed", "not shown"}
    assert found.audit is not None
    assert found.audit.findings[0].sentence in found.report_path.read_text(encoding="utf-8").replace("&#x27;", "'")
    assert found.card.audit is not None
    assert "length" in found._repr_html_()


def test_labels_that_were_learned_or_are_nowhere_are_refused(home: Path, few: pd.DataFrame) -> None:
    sides = programs.load(home, "e@1").split["queries"]
    known = few[few["query_id"].map(sides).isin(["train", "dev"])]
    assert 0 < len(known) < 120
    for verb in (judgec.audit, partial(judgec.compare, "e@2")):
        with pytest.raises(UserError, match=rf"has learned from all {len(known)} labelled items"):
            verb("e@1", labels=known, columns={"Frage": "query"}, home=home)
        with pytest.raises(UserError, match="report does not say where its labels are"):  # they were in memory
            verb("e@1", home=home)
    with pytest.raises(UserError, match="nobody"):
        judgec.compare("e@1", "nobody", home=home)


def test_accepts_and_columns_of_raters_are_read_on_the_judges_scale_and_grades_off_it_refused(
    home: Path, few: pd.DataFrame
) -> None:
    fresh = few[few["query_id"].str.startswith("f")].rename(columns={"Frage": "query"})
    bare = fresh.drop(columns="grade")
    found = judgec.compare("e@1", "e@2", labels=bare.assign(accept=fresh["grade"] >= 3), home=home)
    assert found.comparison.a.estimates["accept_agreement"].value is not None
    raters = bare.assign(ann=fresh["grade"], bo=fresh["grade"])
    rate = judgec.estimate(bare, judge="e@1", labels=raters, annotators=("ann", "bo"), home=home)
    assert rate.labelled == rate.aspects["grade"].n == len(fresh)
    assert rate.value is not None or rate.refused
    off = fresh.assign(grade=[1 + n % 6 for n in range(len(fresh))])
    with pytest.raises(UserError, match=r"grade 6 is not on scale grade .*name a judge of their scale"):
        judgec.compare("e@1", "e@2", labels=off, home=home)
