"""Shows what ``judgec export`` wrote."""

from judgec.records.estimate import Estimate
from judgec.report.numbers import objective_name, show
from judgec.verbs.cli.output import print_table, say
from judgec.verbs.export import Export


def show_exported(found: Export) -> None:
    """What is lost outside judgec, what judge and prompt scored on test, and where the files are."""
    test, objective = found.report["test"], str(found.report["objective"])
    assert isinstance(test, dict)  # as ``measured_of`` makes it
    rows = [(row.replace("_", " "), show(Estimate.model_validate(value))) for row, value in test.items()]
    if rows:
        print_table(f"{found.judge} on test", ("", objective_name(objective)), rows)
    if found.lost:
        say(f"Without judgec these of {found.judge} are lost:", *(f"- {one}" for one in found.lost))
    say(f"written: {found.options.out}")
