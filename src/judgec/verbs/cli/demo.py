"""``judgec demo``: compile a judge on the labels that ship with judgec, in a family of its own each time."""

from pathlib import Path

from judgec.errors import UserError
from judgec.verbs.cli.shell import HomeOption, JsonOption, TrackingOption

FAMILY = "sensors-demo"


def demo(home: HomeOption = Path(), tracking_uri: TrackingOption = None, json: JsonOption = False) -> None:
    """Compile a judge on the labels that ship with judgec; no key and no file is needed."""
    from judgec.verbs.cli.output import print_json

    _, report = compile_demo(home, tracking_uri=tracking_uri, show=not json)
    if json:
        print_json(report)


def compile_demo(home: Path, *, tracking_uri: str | None = None, show: bool = True) -> tuple[str, dict[str, object]]:
    """Compile on ``trainsets/sensors``; on screen the next two commands run as they are printed.

    Returns: The name of the family, and the report of ``--json``.
    """
    from judgec.labels.shipped import sensors_labels
    from judgec.raters.programs import names
    from judgec.report.progress import Bar
    from judgec.verbs.cli.output import print_report
    from judgec.verbs.compilation import compiled_report
    from judgec.verbs.compile_judge import compile_judge
    from judgec.verbs.options.compile_judge import CompileJudgeOptions
    from judgec.verbs.typed import nearest

    taken = set(names(home))
    family = next(name for k in range(1, len(taken) + 2) if (name := f"{FAMILY}-{k}") not in taken)
    labels = nearest(sensors_labels())
    options = CompileJudgeOptions(labels=labels, name=family, home=home, tracking_uri=tracking_uri)
    bar = Bar(shown=show)
    found = compile_judge.run(options, bar)
    bar.close()
    if show:
        print_report(compiled_report(found, options, labels))
    return family, dict(found.report)


def require_here(path: Path, target: str) -> None:
    """Refuse to run elsewhere than in the project's folder.

    Raises:
        UserError: When what a demo reads is not there.
    """
    if not path.exists():
        raise UserError(f"{path}: not here; the demo runs in the project's folder. Change to it and run {target}.")
