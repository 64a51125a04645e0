"""Prints the result of ``judgec labels``."""

from collections.abc import Sequence

from judgec.api.options.labels import LabelsOptions
from judgec.cli.labels.typed import as_typed
from judgec.cli.output import command, print_table, say
from judgec.records.scale import Scale
from judgec.report.label_report import AnnotatorAgreement, LabelReport
from judgec.report.numbers import brackets, number, signed
from judgec.store.rows.grades import grades_shown

MOST_ROWS = 20  # annotators, pairs or groups printed; --json has all
MOST_DIFFERENCES = 3  # of an annotator's grades from the others'; --json has the whole table
MOST_GRADES = 15  # columns that fit a screen


def show_labels(report: LabelReport, options: LabelsOptions) -> None:
    """Print what a label file holds, and the next command."""
    _print_summary(options.file, report)
    _print_histogram(report)
    _print_agreement(report["agreement"])
    _print_ceiling(report)
    _print_habits(report)
    say(*(f"note: {note}" for note in report["notes"]))
    given = [*as_typed(options), *(("--name", options.name) if options.name is not None else ())]
    say(f"Next: {command('compile-judge', options.file, *given, home=options.home)}")


def _print_summary(path: str, report: LabelReport) -> None:
    split = report["split"]
    scale = _scale_of(report)
    grades = f"{scale.name}: {grades_shown(scale.grades)}"
    threshold = "" if scale.accept_at is None else f"; accepted from {scale.accept_at}"
    inferred = "; inferred" if report["scale"]["inferred"] else ""
    print_table(
        path,
        ("labels", ""),
        [
            ("task", report["task"]),
            ("scale", grades + threshold + inferred),
            ("rows", str(report["rows"])),
            ("items", str(report["items"])),
            ("queries", str(report["queries"])),
            ("annotators", str(len(report["annotators"]))),
            ("train / dev / test", f"{split['train']} / {split['dev']} / {split['test']}"),
            ("split by family", report["family"]),
            ("empty answers", str(report["empty_answers"])),
            ("duplicate items", str(report["duplicates"])),
            ("tied labels", str(report["tied"])),
            *(("group " + group, str(n)) for group, n in list(report["groups"].items())[:MOST_ROWS]),
            *(("agent " + agent, str(n)) for agent, n in list(report["agents"].items())[:MOST_ROWS]),
            *(("source: " + key, value) for key, value in report["source"].items()),
        ],
    )


def _scale_of(report: LabelReport) -> Scale:
    return Scale.model_validate({key: value for key, value in report["scale"].items() if key != "inferred"})


def _print_histogram(report: LabelReport) -> None:
    rows: list[tuple[str, dict[str, int]]] = []
    for annotator, counts in report["histogram"].items():
        for key, value in counts.items():
            if isinstance(value, dict):
                rows.append((f"{annotator} {key}", value))
        if all(isinstance(value, int) for value in counts.values()):
            rows.append((annotator, {key: value for key, value in counts.items() if isinstance(value, int)}))
    grades = tuple(rows[0][1]) if len(rows[0][1]) <= MOST_GRADES else ()
    apart = "" if grades else f" ({len(rows[0][1])} grades; --json has how often each)"
    print_table(
        "Grades by annotator" + _hidden(rows) + apart,
        ("annotator", "labels", *grades),
        [(name, str(sum(row.values())), *(str(row[grade]) for grade in grades)) for name, row in rows[:MOST_ROWS]],
    )


def _print_agreement(agreement: AnnotatorAgreement) -> None:
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
    if pairs:
        columns = ("annotators", "labels", "tau-b", "kappa", "exact")
        print_table("Agreement in pairs" + _hidden(pairs), columns, pairs[:MOST_ROWS])
    print_table(
        f"Agreement of all annotators. {agreement['note']}".rstrip(),
        ("", "Fleiss kappa [95 %]", f"Krippendorff alpha, {agreement['level']}"),
        [
            (aspect, _with_limits(part["estimates"]["fleiss_kappa"]), _shown(part["krippendorff_alpha"]))
            for aspect, part in parts.items()
        ],
    )


def _print_ceiling(report: LabelReport) -> None:
    """Each annotator against the others, and their weighted mean: the ceiling of a judge."""
    if not report["ceiling"]:
        return
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
    print_table(
        "Ceiling: each annotator against the others' consensus, mean by labels" + _hidden(rows),
        ("annotator", "labels", "tau-b", "kappa", "exact", "accept"),
        [*rows[:MOST_ROWS], *ends],
    )


def _print_habits(report: LabelReport) -> None:
    """How much higher or lower each annotator grades than the others, and the differences that occur most."""
    grades = list(map(str, _scale_of(report).grades))
    rows = [
        (one["annotator"], _with_limits(one["leniency"], sign=True), _differences(one["confusion"], grades))
        for one in report["against_others"]
    ]
    if rows:
        print_table(
            "Leniency: own grade minus the others' consensus" + _hidden(rows),
            ("annotator", "leniency [95 %]", "own grade for the others', most often"),
            rows[:MOST_ROWS],
        )


def _differences(confusion: Sequence[Sequence[int]], grades: Sequence[str]) -> str:
    """``3 for 4: 12``: the commonest cells off the diagonal."""
    apart = [
        (count, f"{grades[own]} for {grades[others]}: {count}")
        for others, row in enumerate(confusion)
        for own, count in enumerate(row)
        if own != others and count
    ]
    return ", ".join(text for _, text in sorted(apart, key=lambda one: -one[0])[:MOST_DIFFERENCES])


def _hidden(rows: Sequence[object]) -> str:
    return f" ({MOST_ROWS} of {len(rows)}; --json has all)" if len(rows) > MOST_ROWS else ""


def _shown(value: float | None) -> str:
    return number(value, 3)


def _with_limits(estimate: dict[str, float | str | None], *, sign: bool = False) -> str:
    write = signed if sign else number
    value, low, high = (estimate[name] for name in ("value", "low", "high"))
    if isinstance(value, float) and isinstance(low, float) and isinstance(high, float):
        return f"{write(value, 3)} {brackets(low, high, 3, sign=sign)}"
    return write(value if isinstance(value, float) else None, 3)
