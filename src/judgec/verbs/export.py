"""``judgec.export``: a compiled judge in a form that other programs run."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from judgec.compile.dataset import Part, with_split
from judgec.errors import UserError
from judgec.labels.split.draw import recorded_split
from judgec.labels.split.swapped_pairs import with_swapped_together
from judgec.lm.watch import Watch
from judgec.raters.export.prompt import bare_prompts, lost_outside
from judgec.raters.export.promptfoo import promptfoo_files
from judgec.raters.export.python import python_files
from judgec.raters.export.taught import TaughtPrompt
from judgec.raters.judge import load_judge
from judgec.raters.programs import Program
from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.report.numbers import objective_name, show
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.verbs.options.export import TARGETS, ExportOptions
from judgec.verbs.options.shared import HeldOutLabels
from judgec.verbs.source import labels_for
from judgec.verbs.verb import verb
from judgec.verbs.workspace import Workspace

TAUGHT = ("sft", "dpo")
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
    folder with an assertion for that tool, ``assert_judge.py``, and a configuration to begin with. ``sft`` and ``dpo``
    are its train and dev labels, never the test's, as lines of chat to fine-tune a model on: ``messages``, or
    ``prompt``, ``chosen`` and ``rejected``.

    Raises:
        UserError: No such judge, ``out`` exists, a recorded prompt that is not known, or labels that are not those of
            its compile.

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
    if options.labels is not None and options.to not in TAUGHT:
        raise UserError(f"--labels {options.labels}: --to {options.to} writes none; {', '.join(TAUGHT)} do. Drop it.")
    if options.to in TAUGHT:
        return _taught(options, program, name)
    if options.to == "prompt":
        return _prompt(options, program, name)
    write = python_files if options.to == "python" else promptfoo_files
    return _folder(options, program, name, write(program, load_judge(program)))


def _prompt(options: ExportOptions, program: Program, name: str) -> Export:
    card, judge = program.card, load_judge(program)
    recorded = card.settings.get("kind") == "recorded"
    if recorded and not judge.prompts:
        raise UserError(
            f"export {name}: the prompts of its recorded judges are not known; STEM.judges.json beside the "
            "verdicts, or a column prompt, says them. Add it and compile again."
        )
    prompts = bare_prompts(judge, name)
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


def _taught(options: ExportOptions, program: Program, name: str) -> Export:
    """Its train and dev labels as chat, a line an item."""
    parts, digests = _learned(options, program, name)
    prompt = TaughtPrompt(load_judge(program).module, program.card.scale)
    rng = np.random.default_rng(program.card.seed)
    rows = [
        {**line, "item_id": part.items[i].item_id, "split": part.name, "split_digest": digests[part.name]}
        for part in parts
        for i in range(len(part))
        for line in _lines(options.to, prompt, part, i, rng)
    ]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    options.out.write_text(text, encoding="utf-8", newline="\n")
    counts = {part.name: sum(row["split"] == part.name for row in rows) for part in parts}
    without = "the judge's demonstrations are left out of its prompt, and the confidence, which no expert states"
    left = sum(len(part) for part in parts) - len(rows)
    lost = [without, *([f"{plural(left, 'item')} on whose every grade the experts have no word"] if left else [])]
    done = exported(options, name, [str(options.out)], lost, measured_of(program))
    return replace(done, report={**done.report, "rows": counts, "split_digests": digests})


def _learned(options: ExportOptions, program: Program, name: str) -> tuple[tuple[Part, Part], Mapping[str, str]]:
    """The train and dev labels of a judge, and the digests of its split, the test's included.

    Raises:
        UserError: It has no single split, or these are not its labels.
    """
    where, source = f"export {name} --to {options.to}", program.report.get("source")
    if "folds" in program.split or not program.split.get("queries"):
        raise UserError(
            f"{where}: it was tested in folds, on every item; a judge with a single split has labels beside its test. "
            "Compile one with --folds 1."
        )
    if options.labels is not None:
        moved = {**(source if isinstance(source, dict) else {}), "path": options.labels}
        program = replace(program, report={**program.report, "source": moved})
    read = labels_for(HeldOutLabels(home=options.home), program, environ=os.environ)
    labels = with_swapped_together(read.label_set)
    split = recorded_split(labels, program.split)
    if split.digests["test"] != program.card.split_digest:
        raise UserError(
            f"{where}: the test items of {read.source} are not those that it was tested on; the file of its compile "
            "is needed, so that none is taught. Name it with --labels FILE."
        )
    data = with_split(labels, split, program.card.seed)
    return (data.train, data.dev), {str(part): found for part, found in split.digests.items()}


def _lines(to: str, prompt: TaughtPrompt, part: Part, i: int, rng: np.random.Generator) -> list[dict[str, object]]:
    """The line of an item, or none where an aspect has no grade.

    What is rejected is an expert's grade that the others outvoted, where there is one, else one drawn beside the right
    one. Both replies have a reason or neither, so that nothing but the grade tells them apart.
    """
    graded = (part.experts.grade, part.experts.grade_by)
    target, by = graded if (part.experts.grade >= 0).any() else (part.experts.accept, part.experts.accept_by)
    right, item, reason = tuple(target[i].tolist()), part.items[i], part.rationale(i)
    if min(right) < 0:
        return []
    if to == "sft":
        return [{"messages": [*prompt.asked(item, reasoned=bool(reason)), prompt.reply(right, reason)]}]
    outvoted = {tuple(own[i].tolist()): name for name, own in zip(part.experts.annotators, by, strict=True)}
    dissent = next(((grades, name) for grades, name in outvoted.items() if min(grades) >= 0 and grades != right), None)
    wrong, name = dissent or (prompt.other(right, rng), "")
    theirs = next((label.rationale for label in part.reasoned(i) if name and label.annotator == name), "")
    both = bool(reason and theirs)
    return [
        {
            "prompt": prompt.asked(item, reasoned=both),
            "chosen": [prompt.reply(right, reason if both else "")],
            "rejected": [prompt.reply(wrong, theirs if both else "")],
            "rejected_from": "annotator" if name else "drawn",
        }
    ]


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
