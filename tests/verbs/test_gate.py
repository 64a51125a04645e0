"""Gates on a real judge of a fake model, and the pytest plugin that checks them."""

import shutil
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from judgec.compile.held_out import spread
from judgec.errors import UserError
from judgec.raters import programs
from judgec.records.label import Item
from judgec.verbs.gate import AgreementGate, check
from tests.compile.small import compiled_from, write
from tests.service.fake_openai import FakeOpenAI
from tests.service.planted_judge import leaning, lowest, planted
from tests.service.planted_judge import rows as planted_rows

COLOURS = ("red", "green", "blue", "white", "black")
pytest_plugins = ["pytester"]
# Where judgec is installed pytest finds the plugin by itself, and must not be given it twice.
INSTALLED = any(plugin.name == "judgec" for plugin in entry_points(group="pytest11"))
PLUGIN = () if INSTALLED else ("-p", "judgec.pytest_plugin")


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
    """Two versions of the embedded judge ``e``, labels that neither has seen, answers without labels."""
    home = tmp_path_factory.mktemp("gated")
    for seed in (0, 1):
        compiled_from(home, rows(60, "c"), name="e", accept_at="3", seed=seed, lm="embedded")
    fresh = rows(40, "f")
    write(home / "fresh.jsonl", fresh)
    write(home / "answers.jsonl", [{name: v for name, v in row.items() if name != "grade"} for row in fresh])
    return home


def gate(home: Path, **demands: Any) -> AgreementGate:
    return AgreementGate(judge="e@1", home=home, **{"labels": "fresh.jsonl", **demands})


def test_gate_on_the_lower_bound_of_tau_b_opens_below_it_and_stays_shut_above(home: Path) -> None:
    measured = check(gate(home, min_tau_b=-1.0))
    assert measured.passed
    assert measured.agreement is not None
    low = measured.agreement.estimates["tau_b"].low
    value = measured.agreement.estimates["tau_b"].value
    assert low is not None
    assert value is not None
    shut = check(gate(home, min_tau_b=(low + value) / 2))  # the value would do, its lower bound does not
    assert not shut.passed
    assert "its lower bound has to be at least" in shut.reasons[0]
    assert shut.reasons[0].startswith("GATE NOT SHOWN: tau-b +.")
    assert check(gate(home, min_tau_b=0.999)).reasons[0].startswith("GATE FAILED: tau-b +.")
    assert check(gate(home, min_tau_b=0.999, max_failure_rate=0.0)).verdict == "failed"
    assert check(gate(home, min_tau_b=low - 1e-9)).passed


def test_gate_says_who_is_no_annotator(home: Path) -> None:
    fresh = [{**row, "annotator": "Mia"} for row in rows(40, "f")]
    write(home / "rated.jsonl", [*fresh, *({**row, "annotator": "gpt-4", "grade": 1} for row in fresh)])
    both, alone = (check(gate(home, labels=name, min_tau_b=-1.0)) for name in ("rated.jsonl", "fresh.jsonl"))
    assert both.agreement is not None
    assert alone.agreement is not None
    assert both.agreement.estimates == alone.agreement.estimates
    assert "gpt-4 (80 rows of column annotator): no annotator" in both.told


def test_gate_on_failures_counts_missing_verdicts_and_with_answers_rejections(home: Path) -> None:
    assert check(gate(home, max_failure_rate=0.0)).failure_rate == 0.0
    rejected = check(gate(home, labels=None, answers="answers.jsonl", max_failure_rate=0.0))
    assert rejected.failure_rate is not None
    assert 0.1 < rejected.failure_rate < 1
    assert "of 80 answers fail" in rejected.reasons[0]
    assert rejected.reasons[0].startswith("GATE FAILED: ")
    assert check(gate(home, answers="answers.jsonl", max_failure_rate=rejected.failure_rate)).passed


def test_gate_on_another_judge_compares_paired(home: Path) -> None:
    same = check(gate(home, not_worse_than="e@1"))
    assert same.passed
    assert same.difference is not None
    assert same.difference.value == 0.0
    shut = check(gate(home, not_worse_than="e@2", margin=-2.0))  # "at least 2 better" is impossible
    assert not shut.passed
    assert "e@1 minus e@2" in shut.reasons[0]
    assert shut.reasons[0].startswith("GATE FAILED: ")


def test_gate_on_another_judge_stays_shut_where_few_labels_show_nothing(home: Path) -> None:
    """Two judges that say the same of six queries; a zero-width interval would open any gate."""
    write(home / "few.jsonl", rows(6, "f"))
    demanded = {"labels": "few.jsonl", "not_worse_than": "e@2"}
    unsure = check(gate(home, **demanded))
    assert unsure.difference is not None
    assert unsure.difference.value == 0.0
    assert unsure.difference.low == pytest.approx(-2.5706 * 2 / 10, rel=1e-4)  # t(5) at .975, 2 / (6 + 4)
    assert unsure.verdict == "not shown"
    assert unsure.reasons[0].startswith("GATE NOT SHOWN: tau-b, e@1 minus e@2: +.000 [-.514, +.514]")
    wide = check(gate(home, **demanded, margin=0.6))
    assert wide.passed, wide.sentence
    assert wide.sentence.startswith("GATE PASSED: tau-b, e@1 minus e@2: ")
    assert check(gate(home, labels="few.jsonl", not_worse_than="e@1", margin=0.0)).passed


def test_gate_without_demand_or_fitting_labels_is_refused(home: Path) -> None:
    with pytest.raises(UserError, match="nothing is demanded"):
        check(gate(home))
    split = programs.load(home, "e@1").split["queries"]
    learned = [row for row in rows(60, "c") if split.get(row["query_id"]) in {"train", "dev"}]
    write(home / "learned.jsonl", learned)
    with pytest.raises(UserError, match=f"has learned from all {len(learned)} labelled items"):
        check(gate(home, labels="learned.jsonl", min_tau_b=0.0))


OWN = {"query": "User question", "answer": "Bot reply", "reference": "Ideal reply", "query_id": "Ticket #"}


@pytest.fixture
def own_home(home: Path, tmp_path: Path) -> Path:
    """The same judge, labels and answers, whose columns have a user's own names."""
    shutil.copytree(home / "programs", tmp_path / "programs")
    renamed = [{OWN.get(name, name): value for name, value in row.items()} for row in rows(40, "f")]
    write(tmp_path / "graded.jsonl", [{("Ann" if n == "grade" else n): v for n, v in row.items()} for row in renamed])
    write(tmp_path / "new.jsonl", [{n: v for n, v in row.items() if n not in {"grade", "Ticket #"}} for row in renamed])
    return tmp_path


def test_gate_reads_columns_under_a_users_own_names(home: Path, own_home: Path) -> None:
    columns = {theirs: ours for ours, theirs in OWN.items()}
    demands = {"min_tau_b": 0.1, "max_failure_rate": 1.0}
    plain = check(gate(home, answers="answers.jsonl", **demands))
    names = {"labels": "graded.jsonl", "answers": "new.jsonl", "columns": columns, "annotators": ("Ann",)}
    ours = check(gate(own_home, **names, **demands))
    assert ours.failure_rate == plain.failure_rate
    assert ours.agreement is not None
    assert plain.agreement is not None
    assert ours.agreement.estimates["tau_b"].value == plain.agreement.estimates["tau_b"].value


def test_spread_takes_one_of_every_query_before_two_of_any() -> None:
    items = [Item(str(i), f"q{i // 3}", {}) for i in range(9)]
    chosen = spread(items, 4, [5, 1, 9, 4, 4, 4, 7, 2, 3])
    assert [items[i].query_id for i in chosen].count("q0") <= 2
    assert {items[i].query_id for i in chosen} == {"q0", "q1", "q2"}
    assert chosen == sorted(chosen)
    assert 1 in chosen  # the smallest number of q0


MARKED = """
import pytest

@pytest.mark.judgec(judge="e@1", home={home!r}, labels="fresh.jsonl", min_tau_b=-1.0, max_failure_rate=0.5)
def test_open(judgec_outcome):
    assert judgec_outcome.passed
    assert judgec_outcome.failure_rate == 0.0

@pytest.mark.judgec(judge="e@1", home={home!r}, labels="fresh.jsonl", min_tau_b=0.999)
def test_shut():
    raise AssertionError("the body must not run")

@pytest.mark.judgec(judge="nobody", home={home!r}, min_tau_b=0.5)
def test_missing_judge(): ...

@pytest.mark.judgec(judge="e@1", min_tau=0.5)
def test_misspelt(): ...

def test_unmarked(): ...
"""


@pytest.mark.filterwarnings("ignore")  # of the inner run
def test_plugin_fails_marked_tests_whose_bounds_are_not_met(home: Path, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(MARKED.format(home=str(home)))
    done = pytester.runpytest_inprocess(*PLUGIN, "--strict-markers", "-p", "no:cacheprovider")
    done.assert_outcomes(passed=2, failed=3)
    done.stdout.fnmatch_lines(["*GATE FAILED: tau-b *its lower bound has to be at least .999*"])
    done.stdout.fnmatch_lines(["*there is no judge 'nobody'*"])
    done.stdout.fnmatch_lines(["*min_tau unknown; judge is needed, valid are judge, home, labels*"])
    assert "the body must not run" not in done.stdout.str()


NAMED = """
import pytest

@pytest.mark.judgec(
    judge="e@1", home={home!r}, labels="graded.jsonl", answers="new.jsonl", min_tau_b=-1.0, max_failure_rate=1.0
)
def test_open(judgec_outcome):
    assert judgec_outcome.facts["items"] == 80
    assert judgec_outcome.failure_rate > 0.1
"""


@pytest.mark.filterwarnings("ignore")  # of the inner run
def test_plugin_reads_files_as_judgec_toml_says(own_home: Path, pytester: pytest.Pytester) -> None:
    columns = "".join(f'"{theirs}" = "{ours}"\n' for ours, theirs in OWN.items())
    (own_home / "judgec.toml").write_text(f'task = "grade"\nannotators = ["Ann"]\n[columns]\n{columns}')
    pytester.makepyfile(NAMED.format(home=str(own_home)))
    pytester.runpytest_inprocess(*PLUGIN, "--strict-markers", "-p", "no:cacheprovider").assert_outcomes(passed=1)
    (own_home / "judgec.toml").unlink()
    pytester.runpytest_inprocess(*PLUGIN, "--strict-markers", "-p", "no:cacheprovider").assert_outcomes(
        errors=1
    )  # its columns are unknown then


def test_plugin_is_listed_among_pytests_markers(pytester: pytest.Pytester) -> None:
    done = pytester.runpytest_inprocess(*PLUGIN, "--markers")
    assert done.ret == 0
    done.stdout.fnmatch_lines(["@pytest.mark.judgec(judge, *, labels=None,*"])


def test_recheck_says_that_the_model_behind_a_name_answers_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    write(tmp_path / "fresh.jsonl", planted_rows(10, "f"))

    asked: dict[str, Any] = {"judge": "lean@1", "home": tmp_path, "labels": "fresh.jsonl", "min_tau_b": -1.0}
    with FakeOpenAI(leaning) as server:
        planted(tmp_path, server.base_url)
        asked["api_base"] = server.base_url
        first, calls = check(AgreementGate(**asked, recheck=6)), server.calls
        assert "yet" in first.told  # nothing was known
        same = check(AgreementGate(**asked, recheck=6))
        assert same.facts["recheck"] == {"items": 6, "otherwise": 0, "moved": 0.0}
        assert "recheck" not in same.told
        assert server.calls == calls + 6
        assert same.facts["lm_calls"] == 6
        server.policy = lowest
        other = check(AgreementGate(**asked, recheck=6))
        assert server.calls == calls + 12
        assert "recheck" not in check(AgreementGate(**asked)).facts
    found = other.facts["recheck"]
    assert isinstance(found, dict)
    assert 0 < found["otherwise"] < found["items"] == 6  # it gave the lowest grade before, too
    assert found["moved"] < 0
    assert f"recheck: {found['otherwise']} of 6 known items get another grade" in other.told
    assert other.agreement == same.agreement  # the journal still has what it said
