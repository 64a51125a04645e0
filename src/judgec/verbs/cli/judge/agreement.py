"""``judgec agreement``."""

from typing import TYPE_CHECKING

from judgec.verbs.cli.shell import JsonOption, VerboseOption, command_of
from judgec.verbs.options.agreement import AgreementOptions

if TYPE_CHECKING:
    from judgec.verbs.agreement import MeasuredAgreement

MOST_JUDGES = 12  # rows of the short table
SHOWN_STATISTICS = 2  # of the short table: what fits 80 columns


@command_of(AgreementOptions)
def agreement(options: AgreementOptions, *, verbose: VerboseOption = False, json: JsonOption = False) -> None:
    """Measure any judge's output against the experts: statistics with intervals, nothing else needed."""
    from judgec.lm.watch import Silent
    from judgec.verbs.agreement import agreement as measured
    from judgec.verbs.cli.output import print_json, say

    found = measured.run(options, Silent())
    if json:
        print_json(found.report)
        return
    say(found.verdict, "")
    if verbose:
        _show_in_full(found)
    else:
        _show_short(found)
    rest = [] if verbose else ["every statistic: -v"]
    say(*(f"note: {note}" for note in found.notes), *rest, *(f"Next: {one}" for one in _next(found, options)))


def _next(found: "MeasuredAgreement", options: AgreementOptions) -> list[str]:
    """A judge made of these labels, and of the recorded ones; of a compiled judge the page of its runs."""
    from judgec.labels.project import find_project
    from judgec.records.tasks.registry import also_called, plain
    from judgec.verbs.cli.output import command
    from judgec.verbs.frames import as_table

    file = str(options.file)
    if found.learned is not None:
        return [command("ui", home=options.home)]
    if options.labels is not None:
        given = (str(options.labels), "--candidate", f"recorded:{file}")
        return [command("compile-judge", *given, home=options.home)]
    project = find_project(file)
    if project is not None:
        return [command("compile-judge", file, home=options.home)] if project.names(file) else []
    heads = {plain(name) for name in ("answer", *also_called("answer"))}
    answers = [name for name in as_table(options.file, options.missing).columns if plain(name) in heads]
    return [command("init", file, home=options.home)] if answers else []


def _show_short(found: "MeasuredAgreement") -> None:
    """One table, and whether it may replace an annotator."""
    from judgec.report.modes_table import mode_table
    from judgec.report.render import beside_table
    from judgec.report.replacement_table import TITLE, outcome_sentences
    from judgec.report.screen import print_tables
    from judgec.verbs.cli.output import say

    judges = found.ranked
    if len(judges) == 1 and found.modes:
        print_tables(mode_table(found.modes[found.judge]))
        return
    rows = {judge: found.agreements[judge] for judge in judges[:MOST_JUDGES]}
    first = judges[0]
    if len(judges) == 1 and first in found.ceilings:
        rows |= {f"{first}, one expert left out": found.beside[first]}
    if first in found.ceilings:
        rows |= {"experts, each against the others": found.ceilings[first]}
    names = [
        name
        for name in dict.fromkeys((found.leading, "accept_agreement", "exact", "kappa", "spearman", "auc"))
        if any(one.estimates[name].value is not None for one in rows.values())
    ]
    only = f"{MOST_JUDGES} of " if len(judges) > MOST_JUDGES else ""
    whose = f"{only}{len(judges)} judges of {found.source}" if len(judges) > 1 else first
    about = found.expert if len(judges) > 1 else f"{found.expert}, {found.source}"
    print_tables(beside_table(f"{whose} against {about}, 95 % intervals", rows, names[:SHOWN_STATISTICS]))
    tested = {judge: test.passes for judge, test in found.alt_tests.items() if test.passes is not None}
    if len(judges) == 1 and found.alt_test is not None:
        say(*outcome_sentences(found.alt_test)[:2])
    elif tested:
        able = [judge for judge in judges if tested.get(judge)]
        say(f"{TITLE}? {len(able)} of {len(tested)} judges: {', '.join(able) or 'none is shown to'}")


def _show_in_full(found: "MeasuredAgreement") -> None:
    """Every table."""
    from judgec.report.modes_table import mode_table
    from judgec.report.render import agreement_table, comparison_table
    from judgec.report.replacement_table import ASPECTS, ASPECTS_TITLE, COLUMNS, JUDGES, TITLE, outcome_sentences
    from judgec.report.screen import print_tables
    from judgec.verbs.cli.output import print_table, say

    if len(found.agreements) > 1:
        title = f"{len(found.agreements)} judges of {found.source} against {found.expert}"
        experts = dict(zip(["experts, each against the others"], found.ceilings.values(), strict=False))  # alike of all
        print_tables(comparison_table(title, {**found.agreements, **experts}, found.headline))
        print_tables(*(mode_table(one, f"{judge}: failure modes") for judge, one in found.modes.items()))
        if found.alt_tests:
            print_table(TITLE, *JUDGES.screen(list(found.alt_tests.items())))
        return
    rows = {found.judge: found.agreement}
    if found.judge in found.ceilings:
        rows |= {f"{found.judge}, one expert left out": found.beside[found.judge]}
        rows |= {"experts, each against the others": found.ceilings[found.judge]}
    print_tables(agreement_table(f"{found.judge} against {found.expert}, {found.source}", rows))
    print_tables(*(mode_table(one) for one in found.modes.values()))
    if found.alt_test is not None:
        if found.alt_test.contests:
            print_table(TITLE, *COLUMNS.screen(found.alt_test.contests))
        if found.alt_test.aspects:
            print_table(ASPECTS_TITLE, *ASPECTS.screen(list(found.alt_test.aspects.items())))
        say(*outcome_sentences(found.alt_test))
