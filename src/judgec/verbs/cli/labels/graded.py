"""The reports of grading: in sheets, in MLflow, on the page; and which items come next."""

from judgec.report.report import Report
from judgec.verbs.add_peers import AddedPeers
from judgec.verbs.cli.labels.typed import as_typed
from judgec.verbs.cli.output import command, judgec_here
from judgec.verbs.export_scores import ExportedScores
from judgec.verbs.import_labels import ImportedExport
from judgec.verbs.label_sheets import ExportedSheets, FilledQueue, ImportedLabels
from judgec.verbs.next_labels import ChosenItems
from judgec.verbs.options.labels import LabelsOptions


def sheets_report(found: ExportedSheets | FilledQueue, options: LabelsOptions) -> Report:
    """What went out, and the command that brings it back."""
    if isinstance(found, FilledQueue):
        here = judgec_here()
        return Report(
            verdict=[
                f"queue {found.queue} of experiment {found.experiment}: {found.items} items, {found.sent} of them new"
            ],
            notes=found.notes,
            next=[f"{here} ui, experiment -> Review; then {here} labels FILE --import mlflow:{found.experiment}"],
        )
    judge = () if options.judge is None else ("--judge", options.judge)
    typed = (*as_typed(options), *judge, "--import", next(iter(found.blank)))
    return Report(
        verdict=[
            f"{path}: {found.items} items for {found.annotators[path]}, {blank} of them to grade"
            for path, blank in found.blank.items()
        ],
        notes=found.notes,
        next=[command("labels", options.file, *typed, home=options.home)],
    )


def peers_report(added: AddedPeers, options: LabelsOptions) -> Report:
    """How many rows have peers, and what to do with them."""
    return Report(
        verdict=[
            f"{added.out}: {added.rows} rows, {added.rows - added.alone} of them with peers, {added.peers} at most"
        ],
        lines=[] if added.datasheet is None else [f"{added.datasheet}: as that of {options.file}"],
        next=[command("labels", str(added.out), home=options.home)],
    )


def imported_report(found: ImportedLabels, options: LabelsOptions) -> Report:
    """Whose labels came back."""
    return Report(
        verdict=[f"{count} labels by {name}" for name, count in found.imported.items()],
        notes=found.notes,
        next=[command("labels", str(found.out), home=options.home)],
    )


def made_report(found: ImportedExport, options: LabelsOptions) -> Report:
    """What became of every score of an export."""
    verdicts = [f"{found.verdicts_out}: {found.verdicts} verdicts for --lm recorded:FILE"] if found.verdicts_out else []
    made = f"{found.labels} labels, {found.verdicts} verdicts, {found.texts} texts"
    return Report(
        verdict=[f"{found.records} scores of {found.items} items: {made}, {sum(found.skipped.values())} left out"],
        lines=[
            *(f"{count} left out: {reason}" for reason, count in found.skipped.items()),
            *(f"{count} labels by {name}" for name, count in found.annotators.items()),
            *verdicts,
        ],
        notes=found.notes,
        next=[command("labels", str(found.out), home=options.home)],
    )


def sent_report(found: ExportedScores) -> Report:
    """How many scores go back, and what takes them."""
    return Report(
        verdict=[f"{found.out}: {found.scores} of {found.records} scores"],
        lines=[f"{count} left out: {reason}" for reason, count in found.skipped.items()],
        next=[found.how],
    )


def chosen_report(found: ChosenItems, options: LabelsOptions) -> Report:
    """Which items were chosen, and what to do with them."""
    unsure, drawn = found.strata["uncertain"], found.strata["random"]
    why = f"{unsure} that {found.card.name}@{found.card.version} is unsure of and {drawn} at random"
    return Report(
        verdict=[f"{found.out}: {len(found.picks)} of {found.unlabelled} unlabelled items to grade, {why}"],
        lines=[f"{found.calls} LM calls"],
        next=[f"fill in {', '.join(found.columns)}, then {command('labels', str(found.out), home=options.home)}"],
    )
