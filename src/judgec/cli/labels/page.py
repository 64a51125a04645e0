"""Writes the page of ``judgec labels``."""

from pathlib import Path

from judgec.api.options.labels import LabelsOptions
from judgec.cli.labels.checked import label_tables, label_verdict, next_command
from judgec.report.label_report import FEW_TEST_QUERIES, LabelReport
from judgec.report.page.tables import TablesPage, write_tables_page


def write_label_page(report: LabelReport, options: LabelsOptions, path: Path) -> None:
    """What the screen shows, with the sentence first."""
    split = report["split"]
    steps = [f"Compile a judge: {next_command(options)}"]
    if len(report["annotators"]) < 2:
        steps.insert(0, "Let a second expert grade some of these items: only then is a judge's ceiling known.")
    if split["test"] < FEW_TEST_QUERIES:
        steps.append(
            f"Label more queries: {split['test']} are for the test, and below {FEW_TEST_QUERIES} no judge is promoted."
        )
    summary, *tables = label_tables(report, options.file)
    facts = f"{report['labels']} labels of {report['items']} items, {report['queries']} queries"
    shown = TablesPage(
        title=f"Labels: {Path(options.file).name}",
        facts=facts,
        verdict=label_verdict(report),
        standing="even",
        tables=[*tables, summary],
        next=steps,
        notes=report["notes"],
    )
    write_tables_page(shown, path)
