"""``judgec labels``."""

from typing import Annotated

import typer

from judgec.api.options.labels import LabelsOptions
from judgec.cli.shell import JsonOption, command_of


@command_of(LabelsOptions)
def labels(
    options: LabelsOptions,
    *,
    review: Annotated[
        bool, typer.Option("--review", help="Open a page to grade the items on; labels go into FILE.")
    ] = False,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Of the page; 0: a free one.")] = 0,
    json: JsonOption = False,
) -> None:
    """Check a label file: what was read, how the experts grade, and how far they agree."""
    from judgec.errors import UserError

    wanted = (options.export, options.import_, options.next)
    if (review or options.export or options.import_) and review + sum(way is not None for way in wanted) > 1:
        raise UserError("--review, --export, --import, --next: one at a time is valid. Run one after the other.")
    if review or options.export is not None or options.import_ is not None:
        done = _graded(options, port, review=review)
    elif options.next is not None or options.judge is not None:
        done = _chosen(options, shown=not json)
    else:
        done = _checked(options, shown=not json)
    if json:
        from judgec.cli.output import print_json

        print_json(done)


def _checked(options: LabelsOptions, *, shown: bool) -> dict[str, object]:
    from judgec.api.check_labels import check_labels

    report = check_labels(options)
    if shown:
        from judgec.cli.labels.checked import show_labels

        show_labels(report, options)
    return dict(report)


def _chosen(options: LabelsOptions, *, shown: bool) -> dict[str, object]:
    from judgec.api.next_labels import choose_next
    from judgec.cli.labels.graded import show_chosen
    from judgec.report.progress import Bar

    bar = Bar(shown=shown)
    try:
        found = choose_next(options, bar)
    finally:
        bar.close()
    if shown:
        show_chosen(found, options)
    return found.to_json()


def _graded(options: LabelsOptions, port: int, *, review: bool) -> dict[str, object]:
    from judgec.api.label_sheets import export_labels, import_labels
    from judgec.cli.labels.graded import serve_page, show_exported, show_imported

    if review:
        return serve_page(options, port)
    if options.export is not None:
        exported = export_labels(options)
        show_exported(exported, options)
        return exported.to_json()
    imported = import_labels(options)
    show_imported(imported, options)
    return imported.to_json()
