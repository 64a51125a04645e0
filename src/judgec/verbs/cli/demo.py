"""``judgec demo``: real models' grades of stories beside people's, as they are and compiled; no key, no model."""

import shlex
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from judgec.labels.shipped import NOTEBOOK, shipped_notebook
from judgec.records.counts import plural
from judgec.verbs.cli.shell import HomeOption, JsonOption, TrackingOption

if TYPE_CHECKING:
    import pandas as pd

    from judgec.records.agreement import Agreement
    from judgec.report.progress import Bar
    from judgec.report.report import Report
    from judgec.verbs.compilation import Compilation

FAMILY = "hanna-demo"
ASPECT = "relevance"
MODEL = "ChatGPT"
ALL_MODELS = "four models"


def demo(
    home: HomeOption = Path(),
    tracking_uri: TrackingOption = None,
    json: JsonOption = False,
) -> None:
    """Compile judges of stories that people and four models graded; no key and no file is needed.

    Example: judgec demo
    """
    from judgec.raters.programs import names
    from judgec.report.progress import Bar
    from judgec.verbs.cli.output import show

    taken = set(names(home))
    family = next(name for k in range(1, len(taken) + 2) if (name := f"{FAMILY}-{k}") not in taken)
    bar = Bar(shown=not json)
    one = compile_stories(f"{family}-{MODEL.lower()}", home, bar, tracking_uri=tracking_uri, model=MODEL)
    together = compile_stories(family, home, bar, tracking_uri=tracking_uri)
    bar.close()
    show(_report(one, together, home), json=json)


def stories() -> "tuple[pd.DataFrame, pd.DataFrame]":
    """Relevance as people graded it, and as each model did with each of its prompts."""
    import pandas as pd

    from judgec.labels.shipped import shipped

    folder, label = shipped("hanna"), f"grade.{ASPECT}"
    labels = pd.read_csv(folder / "labels.csv")
    said = pd.read_parquet(folder / "verdicts.parquet")
    return labels[["item_id", "query_id", "agent", "query", "answer", label]], said[said["aspect"] == ASPECT]


def compile_stories(
    name: str, home: Path, bar: "Bar", *, tracking_uri: str | None = None, model: str = "", folds: int = 1
) -> "Compilation":
    """Compile a judge of recorded verdicts; texts are not there, so that it reads no evidence.

    Args:
        name: Of its family.
        home: Folder that holds ``programs/``.
        bar: Told what happens.
        tracking_uri: Where the run is logged.
        model: Whose prompts compete; empty for those of all models, which may be a panel.
        folds: 1 tests on three stories in ten.
    """
    from judgec.verbs.compile_judge import compile_judge
    from judgec.verbs.options.compile_judge import CompileJudgeOptions

    labels, said = stories()
    options = CompileJudgeOptions(
        labels=labels,
        name=name,
        home=home,
        tracking_uri=tracking_uri,
        task="answer",
        scale={"grades": [1, 2, 3, 4, 5], "accept_at": 4},
        verdicts=(said[said["judge"].str.startswith(model)],),  # type: ignore[arg-type]  # as Python may
        panel="best" if model else "all",
        objective="qwk",
        evidence=False,
        folds=folds,
    )
    return compile_judge.run(options, bar)


def _compared(one: "Compilation", together: "Compilation") -> "Mapping[str, Agreement]":
    alone, panel = one.agreements, together.agreements
    return {
        f"{MODEL}, a typical prompt": alone["uncompiled"],
        f"{MODEL}, compiled": alone["compiled"],
        f"the best prompt of {ALL_MODELS}": panel["best_alone"],
        f"{ALL_MODELS}, compiled": panel["compiled"],
    }


def _report(one: "Compilation", together: "Compilation", home: Path) -> "Report":
    from judgec.raters.programs import page_path
    from judgec.report.numbers import number
    from judgec.report.render import beside_table
    from judgec.report.report import Report
    from judgec.verbs.typed import command, nearest

    notebook = nearest(shipped_notebook())
    python = shlex.quote(nearest(Path(sys.executable)))
    there, able = find_spec("jupyterlab"), find_spec("pip")
    jupyter = f"{'' if there else f'{python} -m pip install --quiet jupyterlab && '}{python} -m jupyterlab"
    rows = _compared(one, together)
    typical, compiled, _, all_models = (number(each.estimates["qwk"].value) for each in rows.values())
    tested = together.report["split"]["test"], together.report["labels"]["queries"]["test"]
    stories_of = f"{tested[0]} stories of {plural(tested[1], 'prompt')}"
    said = (
        f"{MODEL} with a typical prompt agrees with people by {typical} ({ASPECT}, quadratic kappa: 0 is chance, 1 is "
        f"perfect); compiled by {compiled}; {ALL_MODELS} together by {all_models}: on {stories_of} that no judge had "
        "learned from."
    )
    return Report(
        data={**together.report, "compared": {called: agreement.to_json() for called, agreement in rows.items()}},
        verdict=[said],
        tables=[beside_table(f"{stories_of}, with 95 % intervals", rows, ("qwk", "accept_agreement"))],
        lines=["HANNA: 1,056 stories of 11 writers, graded by three people each (Chhun et al., 2022; MIT licence)."],
        file=page_path(home, together.saved.card),
        next=[
            command("init", "YOUR_TABLE.xlsx", home=home),
            *(["make demo-tournament"] if Path(notebook) == NOTEBOOK else []),
            *([f"{jupyter} {shlex.quote(notebook)}"] if there or able else []),
        ],
    )
