"""A pytest plugin: ``@pytest.mark.judgec(...)`` fails a test whose judge does not meet its bounds.

::

    @pytest.mark.judgec(judge="sensors", labels="labels.jsonl", min_tau_b=0.5, not_worse_than="sensors@3")
    def test_judge() -> None:
        "The marker is the test."

    @pytest.mark.judgec(judge="sensors", answers="answers.jsonl", max_failure_rate=0.1)
    def test_system(judgec_outcome) -> None:
        print(judgec_outcome.failure_rate)

A test that fails says ``GATE FAILED`` (the contrary of a demand is shown) or ``GATE NOT SHOWN`` (neither is: label
more), with the numbers; ``judgec_outcome.sentence`` has the same of a gate that passed.
The arguments are those of ``judgec.verbs.gate.AgreementGate``; how columns are read may stand in ``judgec.toml``
instead. Paths are relative to ``home``, which is the folder of pytest's configuration unless it is given. Nothing of
judgec is imported until a marked test runs.
"""

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from judgec.verbs.gate import GateOutcome

MARKER = "judgec"
_OUTCOMES = pytest.StashKey[list["GateOutcome"]]()


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(judge, *, labels=None, answers=None, home=rootdir, min_tau_b=None, max_failure_rate=None, "
        "not_worse_than=None, margin=0.1, lm=None, api_base=None, budget=None, max_cost=None, recheck=0): fail "
        "unless the compiled judge meets these bounds: lower bound of tau-b, share of failures, paired difference to "
        "another judge",
    )


@pytest.fixture
def judgec_outcome(request: pytest.FixtureRequest) -> "GateOutcome":
    """The measurements of the test's innermost ``judgec`` marker."""
    outcomes = _outcomes(request.node)
    if not outcomes:
        pytest.fail(f"judgec_outcome: {request.node.nodeid} has no {MARKER} marker. Add one.", pytrace=False)
    return outcomes[0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Check the markers of a test, then run it."""
    outcomes = _outcomes(item)
    for outcome in outcomes:
        item.add_report_section("call", "judgec", outcome.told)  # shown by -rP, and in JUnit files
    reasons = [reason for outcome in outcomes for reason in outcome.reasons]
    if reasons:
        pytest.fail("\n".join(reasons), pytrace=False)
    return (yield)


def _outcomes(item: pytest.Item) -> list["GateOutcome"]:
    """The outcome of each marker, the nearest first; measured once a test."""
    if _OUTCOMES not in item.stash:
        item.stash[_OUTCOMES] = [_checked(item, marker) for marker in item.iter_markers(MARKER)]
    return item.stash[_OUTCOMES]


def _checked(item: pytest.Item, marker: pytest.Mark) -> "GateOutcome":
    from judgec.errors import JudgecError
    from judgec.verbs.gate import AgreementGate, check

    given = {**dict(zip(("judge",), marker.args, strict=False)), **marker.kwargs}
    valid = AgreementGate.__dataclass_fields__
    unknown = [name for name in given if name not in valid]
    if unknown or "judge" not in given or len(marker.args) > 1:
        seen = f"{', '.join(unknown)} unknown" if unknown else f"{len(marker.args)} positional, {', '.join(given)}"
        pytest.fail(f"{MARKER} marker: {seen}; judge is needed, valid are {', '.join(valid)}.", pytrace=False)
    given["home"] = item.config.rootpath / Path(given.get("home", ""))
    try:
        return check(AgreementGate(**_as_the_project_says(given)))
    except JudgecError as error:
        said = str(error)
    return pytest.fail(f"{MARKER} marker: {said}", pytrace=False)


def _as_the_project_says(given: dict[str, Any]) -> dict[str, Any]:  # Any: arguments of a marker
    """The arguments, completed by how ``judgec.toml`` reads their files, as those of a command are."""
    from judgec.labels.project import renamed_and_raters

    columns: dict[str, str] = {}
    raters: dict[str, tuple[str, ...]] = {}
    for name in ("labels", "answers"):
        file = given.get(name)
        if file and ":" not in file:
            renamed, raters[name] = renamed_and_raters(str(given["home"] / file))
            columns |= renamed
    return {"columns": columns, "annotators": raters.get("labels", ()), **given}
