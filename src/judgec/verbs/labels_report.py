"""The report of ``judgec labels``."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from judgec.labels.experts import experts_of, reading_notes
from judgec.labels.project import find_project
from judgec.labels.rows.grades import scale_shown
from judgec.records.counts import plural
from judgec.records.label import LabelSet
from judgec.records.scale import Scale
from judgec.records.tasks.registry import TASKS
from judgec.report.label_report import FEW_TEST_QUERIES, AnnotatorAgreement, LabelReport
from judgec.report.numbers import UNKNOWN, brackets, number, statistic_name
from judgec.report.page.label_cases import HEAD, LABEL_WORDS, label_cases
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.report.words import CONSTRUCTED
from judgec.tournament.report.aspects import COLUMNS, AspectTest
from judgec.verbs.options.labels import LabelsOptions
from judgec.verbs.typed import as_typed, command

TESTED = "Agents in pairs, by people's grades alone; p after Holm"
AGENTS = "Agents as people grade them"  # these begin the titles of tables
HISTOGRAM = "Grades by annotator"
MODES = "How often each failure mode is seen"
CEILING = "Ceiling"  # begins the title of the table that the verdict is of
MOST_ROWS = 20  # annotators, pairs or groups printed; --json has all
MOST_ANNOTATORS = 6  # columns of rates
MOST_GRADES = 15  # columns that fit a screen


def labels_report(
    labels: LabelSet, report: LabelReport, tests: Sequence[AspectTest], options: LabelsOptions, file: Path | None
) -> Report:
    """Report of a label file: what it holds, how everybody grades, how far they agree, and the next command.

    Args:
        labels: What was read; the page shows its items.
        report: Of the file.
        tests: Of agents in pairs, where they were asked for.
        options: How it was read.
        file: The page, where one is written.
    """
    tables = label_tables(report, options.file)
    if options.pool:
        heads, rows = COLUMNS.screen(sorted(tests, key=lambda test: not test.pooled))
        tables.append(TextTable(TESTED, heads, rows))
    first, command_next = min(tables, key=_place), _next(options, labels)
    experts = experts_of(labels, consensus=options.consensus)
    cases = [] if file is None else label_cases(labels, experts)
    summary, *others = tables
    reading = reading_notes(labels, experts)
    return Report(
        data=dict(report),
        verdict=[_sentence(report), label_verdict(report)],
        tables=[first],
        full=tables,
        notes=[note for note in report["notes"] if note not in reading],
        reading=reading,
        more="pairs and every count",
        stamps=[CONSTRUCTED] if labels.constructed else [],
        file=file,
        next=[command_next] if labels.fields else [],
        title=f"Labels: {Path(options.file).name}",
        facts=_size(report),
        steps=_steps(report, command_next if labels.fields else "", sum(case.differs for case in cases)),
        items=cases,
        items_title="The items, by how far annotators are apart",
        words=LABEL_WORDS,
        head=HEAD,
        further=[*(table for table in others if table is not first), summary],
    )


def _place(table: TextTable) -> int:
    """Order of a table by how early it answers what was asked of a label file."""
    titles = (TESTED, AGENTS, MODES, CEILING, HISTOGRAM)
    return next((place for place, title in enumerate(titles) if table.title.startswith(title)), len(titles))


def _steps(report: LabelReport, command_next: str, differ: int) -> list[str]:
    test = report["split"]["test"]
    texts = "Add what was asked and answered, by item_id: a judge is compiled from labels and texts."
    steps = [f"Compile a judge: {command_next}" if command_next else texts]
    if len(report["annotators"]) < 2:
        steps.insert(0, "Let a second annotator grade some of these items: only then is a judge's ceiling known.")
    if differ:
        steps.append(
            f"Read the {plural(differ, 'item')} on which annotators differ, below: a slip can be mended, a difference "
            "of opinion needs a rule in the instructions."
        )
    if test < FEW_TEST_QUERIES:
        steps.append(f"Label more queries: {test} are for the test, and below {FEW_TEST_QUERIES} no judge is promoted.")
    return steps


def _size(report: LabelReport) -> str:
    """The numbers of labels, items and queries."""
    labels, items = plural(report["labels"], "label"), plural(report["items"], "item")
    return f"{labels} of {items}, {plural(report['queries'], 'query')}"


def _sentence(report: LabelReport) -> str:
    """Sentence on who graded, how many, which end is good, and what else the file holds."""
    names = report["annotators"]
    more = f" and {len(names) - MOST_ANNOTATORS} more" if len(names) > MOST_ANNOTATORS else ""
    return (
        f"graded by {plural(len(names), 'annotator')} ({', '.join(names[:MOST_ANNOTATORS])}{more}): {_size(report)}; "
        f"task {report['task']}, scale {_scale_words(report)}; {': '.join(_parts(report['split'])).partition(';')[0]}"
    )


def _next(options: LabelsOptions, labels: LabelSet) -> str:
    """The compile of these labels, as it is typed."""
    project = find_project(options.file)
    named = project is not None and project.names(options.file)
    told = project is not None and named and project.name == options.name
    file = () if project is not None and named and project.path.parent == Path() else (options.file,)
    read = labels.task in TASKS and TASKS[labels.task].read_by_models(labels.fields)  # no rule reads these
    asked = ("--lm", "provider/name") if read and not options.judges else ()
    given = [*asked, *as_typed(options), *(("--name", options.name) if options.name is not None and not told else ())]
    return command("compile-judge", *file, *given, home=options.home)


def label_tables(report: LabelReport, path: str) -> list[TextTable]:
    """Tables of what the file holds, how everybody grades, how far they agree."""
    return [
        _summary(path, report),
        _histogram(report),
        *_agents(report),
        *_modes(report),
        *_agreement(report["agreement"]),
        *_ceiling(report),
    ]


def label_verdict(report: LabelReport) -> str:
    """Sentence on how far the experts agree: what a judge can hope for."""
    n = len(report["annotators"])
    found = {name: report["ceiling"].get(name) for name in ("tau_b", "kappa", "exact")} if report["ceiling"] else {}
    known = {name: one for name, one in found.items() if isinstance(one, dict) and one["value"] is not None}
    if n < 2 or not known:
        shared = "One annotator graded" if n == 1 else "No item has two annotators"
        return f"{shared}: the agreement of experts with each other, which limits every judge, is unknown."
    name, one = next(iter(known.items()))
    agreed = f"{len(report['against_others'])} annotators agree with each other by {statistic_name(name)}"
    return f"{agreed} {_with_limits(one)}: that is the ceiling of a judge of these labels."


def _summary(path: str, report: LabelReport) -> TextTable:
    split = report["split"]
    return TextTable(
        path,
        ("labels", ""),
        [
            ("task", report["task"]),
            ("scale", _scale_words(report)),
            ("rows", str(report["rows"])),
            ("items", str(report["items"])),
            ("queries", str(report["queries"])),
            ("annotators", str(len(report["annotators"]))),
            _parts(split),
            ("split by family", report["family"]),
            ("empty answers", str(report["empty_answers"])),
            ("duplicate items", str(report["duplicates"])),
            *(("group " + group, str(n)) for group, n in list(report["groups"].items())[:MOST_ROWS]),
            *(("agent " + agent, str(n)) for agent, n in list(report["agents"].items())[:MOST_ROWS]),
            *(("source: " + key, value) for key, value in report["source"].items()),
        ],
    )


def _scale_words(report: LabelReport) -> str:
    scale = Scale.model_validate({key: said for key, said in report["scale"].items() if key != "inferred"})
    threshold = "" if scale.accept_at is None else f"; accepted from {scale.accept_at}"
    order = "" if scale.level == "nominal" else ", worst first"
    return f"{scale.name}{order}: {scale_shown(scale)}{threshold}"


def _parts(split: Mapping[str, int]) -> tuple[str, str]:
    if folds := split.get("folds"):
        return "folds", f"{folds}; each item is tested once, by a judge that did not learn from its query"
    return "train / dev / test", f"{split['train']} / {split['dev']} / {split['test']}"


def _histogram(report: LabelReport) -> TextTable:
    rows: list[tuple[str, dict[str, int]]] = []
    for annotator, counts in report["histogram"].items():
        for key, value in counts.items():
            if isinstance(value, dict):
                rows.append((f"{annotator} {key}", value))
        if all(isinstance(value, int) for value in counts.values()):
            rows.append((annotator, {key: value for key, value in counts.items() if isinstance(value, int)}))
    grades = tuple(rows[0][1]) if len(rows[0][1]) <= MOST_GRADES else ()
    apart = "" if grades else f" ({plural(len(rows[0][1]), 'grade')}; --json has how often each)"
    return TextTable(
        HISTOGRAM + _hidden(rows) + apart,
        ("annotator", "labels", *grades),
        [(name, str(sum(row.values())), *(str(row[grade]) for grade in grades)) for name, row in rows[:MOST_ROWS]],
    )


def _agents(report: LabelReport) -> list[TextTable]:
    """Tables of people's grades of each agent's answers."""
    found = report.get("by_agent", [])
    rows = [
        (
            one["agent"],
            str(one["n"]),
            *(UNKNOWN if by is None else _with_limits(by, digits=2) for by in (one["mean"], one["accepted"])),
        )
        for one in found
    ]
    heads = ("agent", "items", "mean grade", "accept rate")
    title = f"{AGENTS}, 95 % intervals" + _hidden(rows)
    return [TextTable(title, heads, rows[:MOST_ROWS])] if rows else []


def _modes(report: LabelReport) -> list[TextTable]:
    """Tables of how often each annotator sees each failure mode, and which modes come together."""
    counts = report.get("modes")
    if counts is None:
        return []
    rates = TextTable(
        f"{MODES}, per cent of the labels",
        ("mode", "items", "consensus [95 %]", *list(counts["rates"][0]["annotators"])[:MOST_ANNOTATORS]),
        [
            (
                one["mode"],
                f"{one['consensus']['present']} of {one['consensus']['of']}",
                _percent(one["consensus"]["rate"], limits=True),
                *(_percent(by["rate"]) for by in list(one["annotators"].values())[:MOST_ANNOTATORS]),
            )
            for one in counts["rates"]
        ],
    )
    pairs = sorted(counts["together"], key=lambda pair: -pair["both"])
    together = TextTable(
        "Failure modes that come together" + _hidden(pairs),
        ("modes", "both", "first", "second", "of items", "times as often as by chance"),
        [
            (
                " + ".join(pair["modes"]),
                *(str(pair[name]) for name in ("both", "first", "second", "of")),
                UNKNOWN if pair["lift"] is None else number(pair["lift"], 1),
            )
            for pair in pairs[:MOST_ROWS]
        ],
    )
    return [rates, together] if pairs else [rates]


def _percent(rate: dict[str, float | str | None], *, limits: bool = False) -> str:
    """A rate of ``share`` for people, with its interval where asked for."""
    value, low, high = rate["value"], rate["low"], rate["high"]
    if not isinstance(value, float):
        return UNKNOWN
    if not limits or not isinstance(low, float) or not isinstance(high, float):
        return f"{100 * value:.0f}"
    return f"{100 * value:.0f} [{100 * low:.0f}, {100 * high:.0f}]"


def _agreement(agreement: AnnotatorAgreement) -> list[TextTable]:
    aspects = agreement.get("aspects", {})
    parts = {"all" if aspects else "grade": agreement} | aspects
    pairs = [
        (
            " - ".join(pair["annotators"]) + (f" ({aspect})" if aspects else ""),
            str(pair["n"]),
            *map(_shown, (pair["tau_b"], pair["kappa"], pair["exact"])),
        )
        for aspect, part in parts.items()
        for pair in part["pairwise"]
    ]
    columns = ("annotators", "labels", "tau-b", "kappa", "exact")
    by_pair = [TextTable("Agreement in pairs" + _hidden(pairs), columns, pairs[:MOST_ROWS])] if pairs else []
    of_all = TextTable(
        f"Agreement of all annotators. {agreement['note']}".rstrip(". "),
        ("", "Fleiss kappa [95 %]", f"Krippendorff alpha, {agreement['level']}", "all accept", "all reject"),
        [
            (
                aspect,
                _with_limits(part["estimates"]["fleiss_kappa"]),
                _shown(part["krippendorff_alpha"]),
                *_by_all(part),
            )
            for aspect, part in parts.items()
        ],
    )
    return [*by_pair, of_all]


def _by_all(part: AnnotatorAgreement) -> tuple[str, str]:
    """Items that all annotators accept and reject: "61 of 75"."""
    found = part["by_all"]
    if found is None:
        return UNKNOWN, UNKNOWN
    return f"{found['accepted']} of {found['of']}", f"{found['rejected']} of {found['of']}"


def _ceiling(report: LabelReport) -> list[TextTable]:
    """Each annotator against the others, and their weighted mean: the ceiling of a judge."""
    if not report["ceiling"]:
        return []
    statistics = ("tau_b", "kappa", "exact", "accept_agreement")
    rows = [
        (
            one["annotator"] + (" (left out)" if one["adjudicator"] else ""),
            str(one["n"]),
            *map(_shown, (one["tau_b"], one["kappa"], one["exact"], one["accept_agreement"])),
        )
        for one in report["against_others"]
    ]
    weighed = sum(one["n"] for one in report["against_others"] if not one["adjudicator"])
    means = [mean for name in statistics if isinstance(mean := report["ceiling"][name], dict)]
    ends = [
        (label, count, *(_shown(mean[end]) for mean in means))
        for label, count, end in (("ceiling", str(weighed), "value"), ("  95 % from", "", "low"), ("  to", "", "high"))
    ]
    heads = ("annotator", "labels", "tau-b", "kappa", "exact", "accept")
    title = f"{CEILING}: each annotator against the others' consensus, mean by labels" + _hidden(rows)
    return [TextTable(title, heads, [*rows[:MOST_ROWS], *ends])]


def _hidden(rows: Sequence[object]) -> str:
    return f" ({MOST_ROWS} of {len(rows)}; --json has all)" if len(rows) > MOST_ROWS else ""


def _shown(value: float | None) -> str:
    return number(value, 3)


def _with_limits(estimate: dict[str, float | str | None], *, digits: int = 3) -> str:
    value, low, high = (estimate[name] for name in ("value", "low", "high"))
    if isinstance(value, float) and isinstance(low, float) and isinstance(high, float):
        return f"{number(value, digits)} {brackets(low, high, digits)}"
    return number(value if isinstance(value, float) else None, digits)
