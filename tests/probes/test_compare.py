"""Two probes: systems on the same questions, generators on the same documents."""

from pathlib import Path

import pytest

from judgec.errors import InputError, UserError
from judgec.probes.compare import compare, read_side
from judgec.records.scenario.outcome import Probed
from tests.probes.report.test_summary import one


def side(failed: set[int], n: int = 12, *, scenario: str = "S1", prefix: str = "") -> list[Probed]:
    return [one(k, "fail" if k in failed else "pass", scenario=scenario, query=f"{prefix}{k}?") for k in range(n)]


def test_compare_of_systems_is_mcnemar_on_shared_questions() -> None:
    found = compare(("a", side({0, 1, 2, 3, 4, 5, 6})), ("b", side({0})))
    assert found.kind == "systems"
    whole, row = found.rows
    assert (whole.scenario, row.scenario) == ("all", "S1")
    assert row.mcnemar is not None
    assert (row.mcnemar.a_only, row.mcnemar.b_only, row.mcnemar.p) == (6, 0, 2 * 0.5**6)
    assert row.difference.value == pytest.approx(0.5)
    assert row.difference.low is not None
    assert row.difference.low > 0
    most = compare(("a", side(set(range(11)))), ("b", side(set()))).rows[0].difference
    assert most.value == pytest.approx(11 / 12)
    assert most.high == 1.0  # the interval alone would reach beyond
    assert row.wilcoxon is None


def test_compare_leaves_out_what_one_side_could_not_judge_and_says_so() -> None:
    first = [one(0, "error"), *side({1, 2})[1:]]
    found = compare(("a", first), ("b", side(set())))
    assert found.rows[0].mcnemar is not None
    assert found.rows[0].mcnemar.n == 11
    assert found.rows[0].a.n == 11
    assert "left out" in found.notes[0]


def test_compare_of_generators_is_wilcoxon_over_documents_with_the_smallest_p() -> None:
    found = compare(("a", side({0, 1, 2}, 3, prefix="x")), ("b", side(set(), 3, prefix="y")))
    assert found.kind == "generators"
    test = found.rows[0].wilcoxon
    assert test is not None
    assert (test.p, test.smallest_p, test.n) == (0.25, 0.25, 3)  # the paper's three pairs
    assert "can show nothing" in found.notes[0]
    assert found.rows[0].difference.value == 1.0


def test_compare_of_five_documents_has_the_papers_smallest_p() -> None:
    found = compare(("a", side(set(range(5)), 5, prefix="x")), ("b", side(set(), 5, prefix="y")))
    assert found.rows[0].wilcoxon is not None
    assert found.rows[0].wilcoxon.smallest_p == 0.0625


def test_compare_of_generators_resamples_documents() -> None:
    first = [p for k in range(4) for p in side(set(range(8)), 16, prefix=f"x{k} ")]
    found = compare(("a", first), ("b", side({0, 1}, 16, prefix="y")))
    assert found.rows[0].difference.n_clusters == 16
    assert found.rows[0].difference.value == pytest.approx(0.5 - 2 / 16)


def test_compare_of_nothing_in_common_is_refused() -> None:
    with pytest.raises(UserError, match="share no question and no scenario"):
        compare(("a", side({1})), ("b", side({1}, scenario="S4", prefix="z")))


def test_read_side_wants_one_system(tmp_path: Path) -> None:
    rows = [*side({1}), *[one(k, "pass", system="y") for k in range(2)]]
    path = tmp_path / "results.jsonl"
    path.write_text("".join(row.model_dump_json(exclude_defaults=True) + "\n" for row in rows))
    with pytest.raises(UserError, match="it holds x, y; one system is compared"):
        read_side(str(tmp_path))
    name, found = read_side(f"{tmp_path}:y")
    assert name.endswith(":y")
    odd = found[0].model_copy(update={"reply": found[0].reply.model_copy(update={"answer": "a\u2028b\x85c"})})
    (tmp_path / "odd.jsonl").write_text(odd.model_dump_json(exclude_defaults=True) + "\n", encoding="utf-8")
    assert read_side(str(tmp_path / "odd.jsonl"))[1] == [odd]
    assert len(found) == 2
    with pytest.raises(UserError, match=r"no results.jsonl there"):
        read_side(str(tmp_path / "nowhere"))
    path.write_text("{}\n")
    with pytest.raises(InputError, match=r"results.jsonl:1"):
        read_side(str(tmp_path))
