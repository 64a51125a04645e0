"""``judgec.export``: a compiled judge in a form that other programs run."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judgec.errors import UserError
from judgec.lm.watch import Watch
from judgec.raters.export.prompt import bare_prompts, lost_outside, placed
from judgec.raters.export.promptfoo import promptfoo_files
from judgec.raters.export.python import python_files
from judgec.raters.judge import load_judge
from judgec.raters.predictors import module_of, saved_prompt
from judgec.raters.programs import Program
from judgec.raters.registry import judge_module
from judgec.records.estimate import Estimate
from judgec.report.numbers import objective_name, show
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.verbs.options.export import TARGETS, ExportOptions
from judgec.verbs.verb import verb
from judgec.verbs.workspace import Workspace

SCORED = ("uncompiled", "compiled_prompt", "best_alone", "compiled")  # rows of the test table that say what is lost


@dataclass(frozen=True)
class Export:
    """A judge that was written for another program.

    Args:
        judge: ``NAME@VERSION``.
        options: How it was written.
        files: What was written, sorted.
        lost: What the judge does that the export does not, a sentence each.
        report: What ``export --json`` prints.
    """

    judge: str
    options: ExportOptions
    files: tuple[str, ...]
    lost: tuple[str, ...]
    report: Mapping[str, object]

    def __repr__(self) -> str:
        return f"<Export of {self.judge} to {self.options.to}: {self.options.out}>"


@verb(ExportOptions)
def export(options: ExportOptions, watch: Watch) -> Export:
    """Write a compiled judge for use outside judgec.

    ``prompt`` is what is sent to the model, turn by turn, with a placeholder for each text of an item; it says what the
    bare prompt lacks and what it scored on test. ``python`` is a folder whose ``judge.py`` has
    ``grade(item, complete=None)``; it needs numpy alone and gives the same grades and scores. ``promptfoo`` is the same
    folder with an assertion for that tool, ``assert_judge.py``, and a configuration to begin with.

    Raises:
        UserError: No such judge, ``out`` exists, or a recorded prompt that is not known.

    Example:
        >>> done = judgec.export("sensors@latest", to="prompt", out="sensors.prompt.json")
        >>> done.files
        ('sensors.prompt.json',)
    """
    if options.to not in TARGETS:
        raise UserError(f"--to {options.to}: not a form; {', '.join(TARGETS)} is valid. Name it.")
    program = Workspace(options.home).load(options.judge)
    name = f"{program.card.name}@{program.card.version}"
    if options.out.exists():
        raise UserError(f"--out {options.out}: is there; a new path is valid. Move it, or name another.")
    if not options.out.parent.is_dir():
        raise UserError(f"--out {options.out}: no such folder {options.out.parent}; create it, or name another.")
    watch.stage("export", f"{name} to {options.to}")
    if options.to == "prompt":
        return _prompt(options, program, name)
    write = python_files if options.to == "python" else promptfoo_files
    return _folder(options, program, name, write(program, load_judge(program)))


def _prompt(options: ExportOptions, program: Program, name: str) -> Export:
    card, judge = program.card, load_judge(program)
    recorded = "recorded" in {judge.kind, card.settings.get("kind")}
    if recorded and not judge.prompts:
        raise UserError(
            f"export {name}: the prompts of its recorded judges are not known; STEM.judges.json beside the "
            "verdicts, or a column prompt, says them. Add it and compile again."
        )
    prompts = bare_prompts(judge, name)
    if not judge.asks_lm:  # evidence alone: what a model would be asked that nobody compiled
        asked_of = judge_module(card.task, card.scale, card.aspects, card.fields)
        prompts = (placed(module_of(saved_prompt(asked_of, card.scale), card.scale), name),)
    lost = lost_outside(judge, abstains=bool(card.settings.get("abstain_below")))
    measured = measured_of(program)
    if options.out.suffix.lower() == ".json":
        single = prompts[0].to_json() if len(prompts) == 1 else {"prompts": [one.to_json() for one in prompts]}
        asked = {key: card.lm[key] for key in ("model", "temperature", "max_tokens") if key in card.lm}
        whole = {"judge": name, "task": card.task, "lm": asked, **single, "lost": list(lost), **measured}
        text = json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    else:
        text = "\n".join(one.to_text() for one in prompts)
    options.out.write_text(text, encoding="utf-8", newline="\n")
    return exported(options, name, [str(options.out)], lost, measured)


def _folder(options: ExportOptions, program: Program, name: str, files: Mapping[str, str]) -> Export:
    for path, text in files.items():
        file = options.out / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
    abstains = bool(program.card.settings.get("abstain_below"))
    lost = ["abstention: items that it is not sure about are graded, too"] if abstains else []
    return exported(options, name, [str(options.out / path) for path in files], lost, measured_of(program))


def measured_of(program: Program) -> dict[str, object]:
    """Scores of judge and prompt on test: the objective, and its estimates by row of the test table."""
    card, table = program.card, program.report.get("test") or {}
    found = {row: table[row][card.objective] for row in SCORED if card.objective in table.get(row, {})}
    return {"objective": card.objective, "test": found}


def exported(
    options: ExportOptions, name: str, files: Sequence[str], lost: Sequence[str], measured: Mapping[str, object]
) -> Export:
    """The result of an export, with its report."""
    report = {
        "judge": name,
        "to": options.to,
        "out": str(options.out),
        "files": sorted(files),
        "lost": [*lost],
        **measured,
    }
    return Export(name, options, tuple(sorted(files)), tuple(lost), report)


def exported_report(found: Export) -> Report:
    """Report of what is lost outside judgec, what judge and prompt scored on test, and where the files are."""
    test, objective = found.report["test"], str(found.report["objective"])
    assert isinstance(test, dict)  # as ``measured_of`` makes it
    rows = [(row.replace("_", " "), show(Estimate.model_validate(value))) for row, value in test.items()]
    lost = [f"Without judgec these of {found.judge} are lost:", *(f"- {one}" for one in found.lost)]
    return Report(
        data=found.report,
        tables=[TextTable(f"{found.judge} on test", ("", objective_name(objective)), rows)] if rows else [],
        lines=[*(lost if found.lost else []), f"written: {found.options.out}"],
    )
