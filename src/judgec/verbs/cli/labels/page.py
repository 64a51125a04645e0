"""Writes the page of ``judgec labels``."""

from pathlib import Path

from judgec.labels.experts import experts_of
from judgec.records.label import LabelSet
from judgec.report.label_report import FEW_TEST_QUERIES, LabelReport
from judgec.report.page.label_cases import HEAD, LABEL_WORDS, label_cases
from judgec.report.page.tables import TablesPage, write_tables_page
from judgec.report.words import CONSTRUCTED
from judgec.verbs.cli.labels.checked import CEILING, label_tables, label_verdict, next_command
from judgec.verbs.options.labels import LabelsOptions


def write_label_page(labels: LabelSet, report: LabelReport, options: LabelsOptions, path: Path) -> None:
    """The sentence, the table behind it, what to do next, the items with each annotator's grade, the other tables."""
    cases = label_cases(labels, experts_of(labels))
    summary, *tables = label_tables(report, options.file)
    first = next((table for table in tables if table.title.startswith(CEILING)), tables[0])
    shown = TablesPage(
        title=f"Labels: {Path(options.file).name}",
        facts=f"{report['labels']} labels of {report['items']} items, {report['queries']} queries",
        verdict=label_verdict(report),
        standing="even",
        tables=[first],
        next=_steps(report, options, sum(case.differs for case in cases)),
        notes=report["notes"],
        stamps=[CONSTRUCTED] if labels.constructed else [],
        items=cases,
        items_title="The items, by how far annotators are apart",
        words=LABEL_WORDS,
        head=HEAD,
        further=[*(table for table in tables if table is not first), summary],
    )
    write_tables_page(shown, path)


def _steps(report: LabelReport, options: LabelsOptions, differ: int) -> list[str]:
    test = report["split"]["test"]
    steps = [f"Compile a judge: {next_command(options)}"]
    if len(report["annotators"]) < 2:
        steps.insert(0, "Let a second expert grade some of these items: only then is a judge's ceiling known.")
    if differ:
        steps.append(
            f"Read the {differ} items on which annotators differ, below: a slip can be mended, a difference of opinion "
            "needs a rule in the instructions."
        )
    if test < FEW_TEST_QUERIES:
        steps.append(f"Label more queries: {test} are for the test, and below {FEW_TEST_QUERIES} no judge is promoted.")
    return steps
