"""The report of ``judgec agreement``."""

from judgec.labels.project import find_project
from judgec.records.tasks.registry import also_called, plain
from judgec.report.modes_table import mode_table
from judgec.report.render import agreement_table, beside_table, comparison_table
from judgec.report.replacement_table import ASPECTS, ASPECTS_TITLE, COLUMNS, JUDGES, TITLE, outcome_sentences
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.verbs.agreement import MeasuredAgreement
from judgec.verbs.cli.output import command
from judgec.verbs.frames import as_table
from judgec.verbs.options.agreement import AgreementOptions

MOST_JUDGES = 12  # rows of the short table
EXPERTS = "experts, each against the others"  # a row
SHOWN_STATISTICS = 2  # of the short table: what fits 80 columns


def agreement_report(found: MeasuredAgreement, options: AgreementOptions) -> Report:
    """The verdict, the judges in one table, whether they may replace an annotator; every table besides."""
    return Report(
        verdict=[found.verdict],
        tables=[_one_table(found)],
        full=_every_table(found),
        lines=_replacement(found),
        details=_replacement_in_full(found),
        notes=found.notes,
        more="every statistic",
        next=_next(found, options),
    )


def _next(found: MeasuredAgreement, options: AgreementOptions) -> list[str]:
    """A judge made of these labels, and of the recorded ones; of a compiled judge the page of its runs."""
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


def _one_table(found: MeasuredAgreement) -> TextTable:
    judges = found.ranked
    if len(judges) == 1 and found.modes:
        return mode_table(found.modes[found.judge])
    rows = {judge: found.agreements[judge] for judge in judges[:MOST_JUDGES]}
    first = judges[0]
    if len(judges) == 1 and first in found.ceilings:
        rows |= {f"{first}, one expert left out": found.beside[first]}
    if first in found.ceilings:
        rows |= {EXPERTS: found.ceilings[first]}
    names = [
        name
        for name in dict.fromkeys((found.leading, "accept_agreement", "exact", "kappa", "spearman", "auc"))
        if any(one.estimates[name].value is not None for one in rows.values())
    ]
    only = f"{MOST_JUDGES} of " if len(judges) > MOST_JUDGES else ""
    whose = f"{only}{len(judges)} judges of {found.source}" if len(judges) > 1 else first
    about = found.expert if len(judges) > 1 else f"{found.expert}, {found.source}"
    return beside_table(f"{whose} against {about}, 95 % intervals", rows, names[:SHOWN_STATISTICS])


def _every_table(found: MeasuredAgreement) -> list[TextTable]:
    if len(found.agreements) > 1:
        title = f"{len(found.agreements)} judges of {found.source} against {found.expert}"
        experts = dict(zip([EXPERTS], found.ceilings.values(), strict=False))  # alike of all
        tested = [TextTable(TITLE, *JUDGES.screen(list(found.alt_tests.items())))] if found.alt_tests else []
        return [
            comparison_table(title, {**found.agreements, **experts}, found.headline),
            *(mode_table(one, f"{judge}: failure modes") for judge, one in found.modes.items()),
            *tested,
        ]
    rows = {found.judge: found.agreement}
    if found.judge in found.ceilings:
        rows |= {f"{found.judge}, one expert left out": found.beside[found.judge], EXPERTS: found.ceilings[found.judge]}
    tables = [agreement_table(f"{found.judge} against {found.expert}, {found.source}", rows)]
    tables += [mode_table(one) for one in found.modes.values()]
    test = found.alt_test
    if test is not None and test.contests:
        tables.append(TextTable(TITLE, *COLUMNS.screen(test.contests)))
    if test is not None and test.aspects:
        tables.append(TextTable(ASPECTS_TITLE, *ASPECTS.screen(list(test.aspects.items()))))
    return tables


def _replacement(found: MeasuredAgreement) -> list[str]:
    """Whether the judge may replace an annotator; of several, which."""
    tested = {judge: test.passes for judge, test in found.alt_tests.items() if test.passes is not None}
    if len(found.agreements) == 1:
        return [] if found.alt_test is None else list(outcome_sentences(found.alt_test)[:2])
    able = [judge for judge in found.ranked if tested.get(judge)]
    return [f"{TITLE}? {len(able)} of {len(tested)} judges: {', '.join(able) or 'none is shown to'}"] if tested else []


def _replacement_in_full(found: MeasuredAgreement) -> list[str]:
    return [] if len(found.agreements) > 1 or found.alt_test is None else list(outcome_sentences(found.alt_test)[2:])
