"""``judgec agreement``."""

from judgec.verbs.cli.shell import JsonOption, command_of
from judgec.verbs.options.agreement import AgreementOptions


@command_of(AgreementOptions)
def agreement(options: AgreementOptions, *, json: JsonOption = False) -> None:
    """Measure any judge's output against the experts: statistics with intervals, nothing else needed."""
    from judgec.lm.watch import Silent
    from judgec.report.modes_table import mode_table
    from judgec.report.render import agreement_table, comparison_table
    from judgec.report.replacement_table import ASPECTS, ASPECTS_TITLE, COLUMNS, JUDGES, TITLE, outcome_sentences
    from judgec.report.screen import print_tables
    from judgec.verbs.agreement import agreement as measured
    from judgec.verbs.cli.output import print_json, print_table, say

    found = measured.run(options, Silent())
    if json:
        print_json(found.report)
        return
    if len(found.agreements) > 1:
        title = f"{len(found.agreements)} judges of {found.source} against {found.expert}"
        experts = dict(zip(["experts, each against the others"], found.ceilings.values(), strict=False))  # alike of all
        print_tables(comparison_table(title, {**found.agreements, **experts}, found.headline))
        print_tables(*(mode_table(one, f"{judge}: failure modes") for judge, one in found.modes.items()))
        if found.alt_tests:
            print_table(TITLE, *JUDGES.screen(list(found.alt_tests.items())))
    else:
        title = f"{found.judge} against {found.expert}, {found.source}"
        rows = {found.judge: found.agreement}
        if found.judge in found.ceilings:
            rows |= {f"{found.judge}, one expert left out": found.beside[found.judge]}
            rows |= {"experts, each against the others": found.ceilings[found.judge]}
        print_tables(agreement_table(title, rows))
        print_tables(*(mode_table(one) for one in found.modes.values()))
        if found.alt_test is not None:
            if found.alt_test.contests:
                print_table(TITLE, *COLUMNS.screen(found.alt_test.contests))
            if found.alt_test.aspects:
                print_table(ASPECTS_TITLE, *ASPECTS.screen(list(found.alt_test.aspects.items())))
            say(*outcome_sentences(found.alt_test))
    say(*[f"note: {note}" for note in found.notes])
