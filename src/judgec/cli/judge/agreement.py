"""``judgec agreement``."""

from judgec.api.options.agreement import AgreementOptions
from judgec.cli.shell import JsonOption, command_of


@command_of(AgreementOptions)
def agreement(options: AgreementOptions, *, json: JsonOption = False) -> None:
    """Measure any judge's output against the experts: statistics with intervals, nothing else needed."""
    from judgec.api.agreement import agreement as measured
    from judgec.cli.output import print_json, print_table, say
    from judgec.lm.watch import Silent
    from judgec.report.render import agreement_table, print_tables
    from judgec.report.replacement_table import COLUMNS, TITLE, outcome_sentences

    found = measured.run(options, Silent())
    if json:
        print_json(found.report)
        return
    title = f"{found.judge} against {found.expert}, {found.source}"
    print_tables(agreement_table(title, {found.judge: found.agreement}))
    if found.alt_test is not None:
        if found.alt_test.contests:
            print_table(TITLE, *COLUMNS.screen(found.alt_test.contests), fold=False)
        say(*outcome_sentences(found.alt_test))
    say(*[f"note: {note}" for note in found.notes])
