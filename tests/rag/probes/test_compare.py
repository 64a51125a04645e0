"""Two probes: systems on the same questions, generators on the same documents."""

from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from scipy import stats

from judgec.errors import InputError, UserError
from judgec.rag.probes.compare import PairedRates, compare, read_side
from judgec.records.estimate import Estimate
from judgec.records.scenario.outcome import Probed
from judgec.stats.intervals.significance import wilcoxon
from tests.rag.probes.report.test_summary import one
from tests.stats.known import known


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
    assert known(row.difference.low) > 0
    most = compare(("a", side(set(range(11)))), ("b", side(set()))).rows[0].difference
    assert most.value == pytest.approx(11 / 12)
    assert most.high == 1.0  # the interval alone would reach beyond
    assert row.wilcoxon is None


def test_compare_leaves_out_what_one_side_could_not_judge_and_says_so() -> None:
    first = [one(0, "error"), *side({1, 2})[1:]]
    found = compare(("a", first), ("b", side(set())))
    assert known(found.rows[0].mcnemar).n == 11
    assert found.rows[0].a.n == 11
    assert "left out" in found.notes[0]


@pytest.mark.parametrize(("documents", "smallest"), [(3, 0.25), (5, 0.0625)])
def test_compare_of_generators_is_wilcoxon_over_documents_with_the_smallest_p(documents: int, smallest: float) -> None:
    failing = side(set(range(documents)), documents, prefix="x")
    found = compare(("a", failing), ("b", side(set(), documents, prefix="y")))
    assert found.kind == "generators"
    test = found.rows[0].wilcoxon
    assert test is not None
    assert (test.p, test.smallest_p, test.n) == (smallest, smallest, documents)  # the paper's three pairs, and five
    assert "can show nothing" in found.notes[0]
    assert found.rows[0].difference.value == 1.0


def test_compare_of_generators_resamples_documents() -> None:
    first = [p for k in range(4) for p in side(set(range(8)), 16, prefix=f"x{k} ")]
    found = compare(("a", first), ("b", side({0, 1}, 16, prefix="y")))
    assert found.rows[0].difference.n_clusters == 16
    assert found.rows[0].difference.value == pytest.approx(0.5 - 2 / 16)


def test_compare_of_nothing_in_common_is_refused() -> None:
    elsewhere = [moved(one, data_set="other") for one in side({1}, scenario="S4", prefix="z")]
    with pytest.raises(UserError, match="no data set"):
        compare(("a", side({1})), ("b", elsewhere))


def moved(one: Probed, **verdict: str) -> Probed:
    return one.model_copy(update={"verdict": one.verdict.model_copy(update=verdict)})


def asked(failing: dict[tuple[str, str], int], *, prefix: str, scenario: str) -> list[Probed]:
    """Ten questions to each system on each data set, of which so many fail."""
    return [
        moved(answer, data_set=data_set, system=system)
        for (data_set, system), n in failing.items()
        for answer in side(set(range(n)), 10, prefix=f"{prefix} {data_set} ", scenario=scenario)
    ]


def test_compare_of_generators_pairs_their_rates_by_data_set_and_by_system() -> None:
    """RAGProbe's Figures 4 and 5: three data sets, five systems, scenarios against questions without any."""
    places = [(data, system) for data in ("qasper", "squad", "nq") for system in ("v", "w", "x", "y", "z")]
    first = {place: 5 + at % 4 for at, place in enumerate(places)}
    second = {place: 3 - at % 2 for at, place in enumerate(places)}
    plain = asked(second, prefix="b", scenario="plain")
    found = compare(("scenarios", asked(first, prefix="a", scenario="S1")), ("plain", plain))
    assert found.kind == "generators"
    assert [row.scenario for row in found.rows] == ["all"]
    assert found.rows[0].a.n_clusters == 30  # ten documents of one name in each of three data sets
    sets, systems = found.paired
    assert [name for name, _, _ in sets.rates] == ["qasper", "squad", "nq"]
    for name, a, b in systems.rates:
        mine = [place for place in places if place[1] == name]
        assert a.value == pytest.approx(sum(first[place] for place in mine) / 30)
        assert b.value == pytest.approx(sum(second[place] for place in mine) / 30)
    assert (sets.wilcoxon.n, sets.wilcoxon.p, sets.wilcoxon.smallest_p) == (3, 0.25, 0.25)
    assert (systems.wilcoxon.n, systems.wilcoxon.p, systems.wilcoxon.smallest_p) == (5, 0.0625, 0.0625)
    scipy = stats.wilcoxon([a.value or 0.0 for _, a, _ in systems.rates], [b.value or 0.0 for _, _, b in systems.rates])
    assert systems.wilcoxon.p == pytest.approx(scipy.pvalue)
    increases = [((a.value or 0.0) - (b.value or 0.0)) / (b.value or 1.0) for _, a, b in systems.rates]
    assert systems.mean_increase == pytest.approx(sum(increases) / 5)
    assert systems.to_json()["mean_relative_increase"] == systems.mean_increase
    said = [note for note in found.notes if "can show nothing" in note]
    assert [note.partition(":")[0] for note in said] == ["by data set", "by system"]


def of(system: str, failed: set[int], n: int = 12, **other: str) -> list[Probed]:
    return [moved(probed, system=system) for probed in side(failed, n, **other)]


def test_several_systems_are_compared_each_with_its_namesake_and_all_together() -> None:
    first = [*of("x", set(range(7))), *of("y", {0, 1}), *of("gone", {1})]
    second = [*of("x", {0}), *of("y", {2}), *of("new", {1})]
    found = compare(("p", first), ("q", second))
    rows = {(row.system, row.scenario): row for row in found.rows}
    assert list(rows) == [("", "all"), ("", "S1"), ("x", "all"), ("x", "S1"), ("y", "all"), ("y", "S1")]
    x, y = rows["x", "all"], rows["y", "all"]
    alone = compare(("p", of("x", set(range(7)))), ("q", of("x", {0}))).rows[0]
    assert (x.a, x.b, x.difference, x.mcnemar) == (alone.a, alone.b, alone.difference, alone.mcnemar)
    assert x.mcnemar is not None
    assert y.mcnemar is not None
    assert (x.mcnemar.p, y.mcnemar.p) == (2 * 0.5**6, 1.0)
    assert (x.p_holm, y.p_holm) == (2 * x.mcnemar.p, 1.0)
    assert rows["x", "S1"].p_holm is None
    whole = rows["", "all"]
    assert (whole.a.value, whole.b.value) == (9 / 24, 2 / 24)
    assert whole.mcnemar is None
    assert whole.difference.n_clusters == 12  # documents, not questions times systems
    assert [note.split()[0] for note in found.notes if note.endswith("left out")] == ["gone", "new"]
    assert [row.get("system") for row in found.to_json()["results"]] == [None, None, "x", "x", "y", "y"]  # type: ignore[attr-defined]  # a list of them


def test_systems_of_no_common_name_are_compared_one_with_one() -> None:
    both = [*side({1}), *[one(k, "pass", system="y") for k in range(2)]]
    with pytest.raises(UserError, match="holds x, y, the other z"):
        compare(("p", both), ("q", of("z", {1})))
    assert compare(("p", side({1})), ("q", of("z", {1}))).rows[0].system == ""


def test_read_side_reads_all_systems_or_the_one_that_is_named(tmp_path: Path) -> None:
    rows = [*side({1}), *[one(k, "pass", system="y") for k in range(2)]]
    path = tmp_path / "results.jsonl"
    path.write_text("".join(row.model_dump_json(exclude_defaults=True) + "\n" for row in rows))
    assert read_side(str(tmp_path)) == (str(tmp_path), rows)
    with pytest.raises(UserError, match="it holds x, y"):
        read_side(f"{tmp_path}:z")
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


@pytest.mark.parametrize(
    ("by", "rates", "increase"),
    [("system", "45 37 55 21 63 45 45 19 87 71", 77), ("data_set", "60 37 53 37 64 42", 53)],
)
def test_mean_relative_increase_is_the_papers(by: Literal["data_set", "system"], rates: str, increase: int) -> None:
    """RAGProbe, section V.B.3: 77 % more failures on average per pipeline, 53 % per data set."""
    shares = np.array(rates.split(), dtype=np.float64).reshape(-1, 2) / 100
    named = tuple((str(a), Estimate(value=a), Estimate(value=b)) for a, b in shares.tolist())
    test = wilcoxon(*shares.T)
    found = PairedRates(by, named, test).mean_increase
    assert found is not None
    assert round(100 * found) == increase
    assert PairedRates(by, (("x", Estimate(value=0.5), Estimate(value=0.0)),), test).mean_increase is None
