import re
from pathlib import Path

import pytest

from judgec.labels.labels import read_label_file
from judgec.labels.reading import as_reading
from judgec.report.label_report import LabelReport, label_report


def report_of(folder: Path, content: str, *annotators: str, best: str | None = None) -> LabelReport:
    (folder / "t.csv").write_text(content)
    return label_report(read_label_file(str(folder / "t.csv"), as_reading(annotators=annotators, best=best)), "family")


def test_counts_and_agreement_by_hand(tmp_path: Path) -> None:
    content = "query,answer,group,agent,al,bo,cy\nq,a,g1,x,1,1,\nq,,g1,y,2,1,\nr,b,g2,x,2,2,\nr,b,,y,3,,2\n"
    report = report_of(tmp_path, content, "al", "bo", "cy", best="3")
    assert (report["rows"], report["items"], report["labels"], report["queries"]) == (4, 4, 8, 2)
    assert report["histogram"]["al"] == {"1": 1, "2": 2, "3": 1}
    assert report["histogram"]["cy"] == {"1": 0, "2": 1, "3": 0}
    assert (report["groups"], report["agents"]) == ({"g1": 2, "g2": 1}, {"x": 2, "y": 2})
    # x: (1 + 1) / 2 and 2; y: (2 + 1) / 2 and (3 + 2) / 2.
    assert [(one["agent"], one["n"]) for one in report["by_agent"]] == [("y", 2), ("x", 2)]
    means = [one["mean"]["value"] for one in report["by_agent"] if one["mean"] is not None]
    assert means == pytest.approx([2.0, 1.5])
    assert (report["duplicates"], report["empty_answers"]) == (1, 1)
    assert sum(report["split"].values()) == 4
    al_bo, al_cy = report["agreement"]["pairwise"]
    # al and bo: (1,1) (2,1) (2,2). Concordant 1, tied on al 1, on bo 1: tau-b 1/2.
    # Exact 2/3; margins al 1, 2, bo 2, 1: chance (2 + 2) / 9, kappa (6 - 4) / (9 - 4).
    assert (al_bo["annotators"], al_bo["n"]) == (["al", "bo"], 3)
    assert [al_bo["tau_b"], al_bo["kappa"], al_bo["exact"]] == pytest.approx([0.5, 0.4, 2 / 3])
    assert (al_cy["n"], al_cy["tau_b"], al_cy["kappa"], al_cy["exact"]) == (1, None, 0, 0)
    assert report["agreement"]["note"].startswith("Undefined where")
    # Observed 1/2; shares 3/8, 4/8, 1/8; chance 26/64: kappa (32 - 26) / (64 - 26).
    assert report["agreement"]["fleiss_kappa"] == pytest.approx(6 / 38)
    estimate = report["agreement"]["estimates"]["fleiss_kappa"]
    assert estimate["low"] is None
    assert str(estimate["note"]).startswith("no interval: 2 clusters")
    assert any(re.search("quer(y|ies): below 10", note) for note in report["notes"])


def test_aspects_are_counted_and_compared_apart(tmp_path: Path) -> None:
    content = "query,answer,al.x,al.y,bo.x,bo.y\nq,a,0,1,0,0\nr,b,1,0,1,1\n"
    report = report_of(tmp_path, content, "al", "bo", best="1")
    assert report["histogram"]["bo"] == {"x": {"0": 1, "1": 1}, "y": {"0": 1, "1": 1}}
    assert report["agreement"]["pairwise"][0]["kappa"] == pytest.approx(0)
    apart = {name: part["pairwise"][0]["kappa"] for name, part in report["agreement"]["aspects"].items()}
    assert apart == {"x": pytest.approx(1), "y": pytest.approx(-1)}


def test_preferences_have_no_tau_and_nominal_alpha(tmp_path: Path) -> None:
    report = report_of(tmp_path, "query,answer_a,answer_b,al,bo\nq,x,y,a,a\nr,x,y,tie,b\n", "al", "bo")
    assert report["agreement"]["level"] == "nominal"
    assert report["agreement"]["pairwise"][0]["tau_b"] is None
    assert "no order" in report["agreement"]["note"]


@pytest.mark.parametrize(("other", "note"), [("al", "One annotator"), ("bo", "No two annotators")])
def test_nothing_to_compare_is_said(tmp_path: Path, other: str, note: str) -> None:
    report = report_of(tmp_path, f"query,answer,annotator,grade\nq,a,al,1\nr,b,{other},2\n", "*")
    agreement = report["agreement"]
    assert (agreement["pairwise"], agreement["fleiss_kappa"], agreement["krippendorff_alpha"]) == ([], None, None)
    assert agreement["note"].startswith(note)
    assert (report["ceiling"], report["against_others"], report["adjudicators"]) == ({}, [], [])


def test_own_accepts_are_counted_beside_grades(tmp_path: Path) -> None:
    report = report_of(tmp_path, "query,answer,grade,accept\nq,a,1,yes\nr,b,2,\ns,c,3,no\n")
    assert (report["accepts"], report["accept_only"]) == ({"expert": {"accept": 1, "reject": 1}}, False)


def test_fleiss_kappa_has_an_interval_over_queries_for_each_aspect(tmp_path: Path) -> None:
    rows = [f"q{i},a{i}{k},{i % 2},{(i + k) % 2},{i % 2},{int(i > 3)}" for i in range(12) for k in range(2)]
    report = report_of(tmp_path, "query,answer,al.x,al.y,bo.x,bo.y\n" + "\n".join(rows) + "\n", "al", "bo", best="1")
    whole = report["agreement"]
    for part in (whole, whole["aspects"]["y"]):
        found = part["estimates"]["fleiss_kappa"]
        assert found["value"] == pytest.approx(part["fleiss_kappa"])
        assert isinstance(found["low"], float)
        assert isinstance(found["high"], float)
        assert -1 <= found["low"] < part["fleiss_kappa"] < found["high"] <= 1  # type: ignore[operator]  # not None
    assert whole["aspects"]["x"]["estimates"]["fleiss_kappa"]["low"] is None  # al and bo agree on every item
    assert "no interval" in str(whole["aspects"]["x"]["estimates"]["fleiss_kappa"]["note"])


def test_ceiling_is_the_weighted_mean_of_each_annotator_against_the_others_without_adjudicators(tmp_path: Path) -> None:
    # Al and bo agree on 12 items and differ on 4, of which cy decides; cy is asked about nothing else.
    plain = [f"q{k},a,{1 + k % 3},{1 + k % 3}," for k in range(12)]
    disputed = [f"d{k},a,3,1,3" for k in range(4)]
    report = report_of(tmp_path, "\n".join(["query,answer,al,bo,cy", *plain, *disputed]), "al", "bo", "cy", best="3")
    al, bo, cy = report["against_others"]
    assert report["adjudicators"] == ["cy"]
    told = [(one["annotator"], one["n"], one["adjudicator"]) for one in (al, bo, cy)]
    assert told == [("al", 16, False), ("bo", 16, False), ("cy", 4, True)]
    assert bo["exact"] == 12 / 16  # al and cy both say 3 where bo says 1
    exact = report["ceiling"]["exact"]
    assert isinstance(exact, dict)
    assert exact["value"] == pytest.approx(((al["exact"] or 0) * 16 + 12) / 32)
    assert any(note.startswith("cy: asked only") for note in report["notes"])


def test_a_language_without_a_stemmer_is_named(tmp_path: Path) -> None:
    question = "Коли було збудовано вежу і хто її спроєктував {}?"
    rows = "".join(f"{question.format(n)},Вежа була збудована у році {n} і є високою.,{1 + n % 2}\n" for n in range(9))
    for content, stemmers in ((rows, ["Ukrainian"]), ("is it,yes,1\nis it,no,2\n", [])):
        notes = report_of(tmp_path, f"query,answer,grade\n{content}")["notes"]
        assert [re.findall("no stemmer for (.*):", note)[0] for note in notes if "stemmer" in note] == stemmers
