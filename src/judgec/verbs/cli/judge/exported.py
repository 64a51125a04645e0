"""The report of ``judgec export``."""

from judgec.records.estimate import Estimate
from judgec.report.numbers import objective_name, show
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.verbs.export import Export


def exported_report(found: Export) -> Report:
    """What is lost outside judgec, what judge and prompt scored on test, and where the files are."""
    test, objective = found.report["test"], str(found.report["objective"])
    assert isinstance(test, dict)  # as ``measured_of`` makes it
    rows = [(row.replace("_", " "), show(Estimate.model_validate(value))) for row, value in test.items()]
    lost = [f"Without judgec these of {found.judge} are lost:", *(f"- {one}" for one in found.lost)]
    return Report(
        tables=[TextTable(f"{found.judge} on test", ("", objective_name(objective)), rows)] if rows else [],
        lines=[*(lost if found.lost else []), f"written: {found.options.out}"],
    )
