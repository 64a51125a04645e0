"""``judgec agreement``."""

from judgec.verbs.cli.shell import JsonOption, ReportOption, VerboseOption, command_of
from judgec.verbs.options.agreement import AgreementOptions


@command_of(AgreementOptions)
def agreement(
    options: AgreementOptions, *, report: ReportOption = None, verbose: VerboseOption = False, json: JsonOption = False
) -> None:
    """Measure any judge's output against the experts: statistics with intervals, nothing else needed.

    Example: judgec agreement grades.csv --expert human --judge gpt4
    """
    from judgec.verbs.agreement import agreement as measured
    from judgec.verbs.agreement import agreement_report
    from judgec.verbs.cli.output import run_shown

    run_shown(
        measured.run,
        options,
        lambda found: agreement_report(found, options, report),
        json=json,
        verbose=verbose,
        page=report,
    )
