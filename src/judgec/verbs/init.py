"""``judgec.init``: looks at a label file, takes answers to what no table tells, and writes down how it is read."""

from dataclasses import dataclass
from pathlib import Path

from judgec.errors import UserError
from judgec.labels.contradictions import Contradiction, contradictions
from judgec.labels.labels import NOT_READ, label_file
from judgec.labels.project import Project, read_project, write_project
from judgec.labels.reading import EVERYBODY, scale_option
from judgec.labels.rows.grades import scale_shown
from judgec.labels.split.family import as_family, default_family, write_whole
from judgec.lm.spec import NO_LM
from judgec.lm.watch import Watch
from judgec.records.conversation import LAST
from judgec.records.counts import plural
from judgec.records.label import LabelSet
from judgec.records.tasks.registry import compares
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.table.arrow import HUB_PREFIX
from judgec.verbs.label_draft import (
    REASON,
    SHOWN_ROWS,
    LabelDraft,
    drafted,
    file_beside,
    project_path,
    shortened,
    some_of,
)
from judgec.verbs.options.init import InitOptions
from judgec.verbs.typed import command
from judgec.verbs.verb import verb

KEPT = ("round", "repeats", "missing", "turn", "orders", "winner_words")  # of a file, where somebody says so
ARGUMENTS = {  # of Python, by question
    "columns": "columns=",
    "roles": "columns=",
    "beside": "columns=",
    "names": "columns=, annotators= (and judges=)",
    "grade": "columns=",
    "order": "columns=",
    "orders": "orders=",
    "graders": "annotators= (and judges=)",
    "missing": "missing=",
    "scale": "best= or grades=",
    "winner_words": "winner_words=",
}


@dataclass(frozen=True, slots=True)
class LabelSetup:
    """Settings that read a label file, as in ``judgec.toml``.

    Args:
        project: What the file says.
        draft: What was seen and said.
        labels: The labels, read that way.
        checks: What the labels say against the answers.
    """

    project: Project
    draft: LabelDraft
    labels: LabelSet
    checks: tuple[Contradiction, ...] = ()

    @property
    def path(self) -> Path:
        """The ``judgec.toml``."""
        return self.project.path

    @property
    def options(self) -> dict[str, object]:
        """Options with which ``judgec.read_labels`` and ``judgec.compile_judge`` read the file this way."""
        project = self.project
        columns = {**project.columns, **project.columns_of_reasons}
        found = {"task": project.task, "columns": columns, "annotators": project.annotators}
        kept = {name: one for name in KEPT if (one := getattr(project, name))}
        return found | {"scale": scale_option(project.scale)} | kept

    def require_sound(self) -> None:
        """Check that nobody runs against all others.

        Raises:
            UserError: Somebody does.
        """
        if stops := [one for one in self.checks if one.stops]:
            raise UserError(f"{self.project.label_path}: {stops[0].text}")

    def text(self) -> str:
        """The ``judgec.toml``."""
        asked = {"annotators": "Who graded, people alone.", "judges": "Whose verdicts are a judge's, and no label."}
        return write_project(self.project, asked)

    def write(self) -> None:
        """Write it, whole or not at all."""
        write_whole(self.path, self.text())
        read_project(self.path)

    def to_json(self) -> dict[str, object]:
        """The JSON that ``judgec init --json`` prints."""
        project, labels = self.project, self.labels
        used = {*self.draft.marked, *self.draft.judges, *self.draft.people, *self.draft.roles.columns}
        return {
            "out": str(self.path),
            "labels": project.labels,
            "name": project.name,
            "reading": {
                **self.options,
                "annotators": list(project.annotators),
                "judges": self.draft.judges,
            },
            "asked": [one.text for one in self.draft.questions()] + [one.text for one in self.checks],
            "unused": [name for name in self.draft.table.columns if name not in used],
            "items": len(labels.items),
            "queries": len({item.query_id for item in labels.items}),
            "graded_by": sorted({label.annotator for label in labels.labels}),
            "accept_only": labels.accept_only,
        }

    def __repr__(self) -> str:
        return f"<LabelSetup {self.path}: {self.project.task}, {plural(len(self.labels.items), 'item')}>"


@verb(InitOptions)
def init(options: InitOptions, watch: Watch) -> LabelSetup:
    """Look at a label file and write ``judgec.toml`` beside it: who graded, what the grades mean, which column is what.

    Commands read it; functions take what it says as ``**found.options``. Nothing is asked in Python.

    Raises:
        UserError: There is a ``judgec.toml`` already, or something is not known: who of those that graded is a person
            (``annotators=``, ``judges=``), which grade is the best (``best=`` or ``grades=``), what a column is
            (``columns=``).
        InputError: The labels are faulty.

    Example:
        >>> people = ("ines", "marek", "tomas")
        >>> found = judgec.init("trainsets/sensors/labels.jsonl", annotators=people, replace=True)
        >>> found.project.task, found.labels.scale.accept_at
        ('grade', 4)
        >>> found.path.unlink()
    """
    watch.stage("labels", str(options.file))
    found = certain(drafted(options, watch=watch))
    found.write()
    return found


def read_draft(draft: LabelDraft) -> LabelSetup:
    """Read the labels as they were declared.

    Raises:
        InputError: Faulty labels.
        UserError: Labels that cannot be read so.
    """
    options, scale = draft.options, None if compares(draft.task) or draft.by_words else draft.scale()
    file = str(options.file)
    people = draft.people
    project = Project(
        path=project_path(file),
        labels=file if file.startswith(HUB_PREFIX) else file_beside(file),
        task=draft.task,
        name=default_family(file) if options.name is None else as_family(options.name),
        lm=None if options.lm == NO_LM else options.lm,
        budget=options.budget,
        max_cost=options.max_cost,
        annotators=people,
        round=options.round,
        repeats=options.repeats,
        judges=draft.judges,
        columns={theirs: ours for theirs, ours in draft.columns.items() if not ours.endswith(REASON)},
        reasons={t: ours.removesuffix(REASON) for t, ours in draft.columns.items() if ours.endswith(REASON)},
        turn=options.turn or draft.sheet.turn,
        orders=options.orders or draft.sheet.orders,
        proposed_by=draft.proposed.model if draft.proposed.columns.items() & draft.columns.items() else None,
        scale=None if scale is None or scale == draft.sheet.scale else scale,
        missing=options.missing,
        winner_words=draft.words_said(),
        checked=draft.checked,
    )
    labels = label_file(draft.table, draft.sheet, project.model_copy(update={"checked": EVERYBODY})).labels
    checks = tuple(one for one in contradictions(labels) if one.name not in draft.checked)
    return LabelSetup(project, draft, labels, checks)


def certain(draft: LabelDraft) -> LabelSetup:
    """Reads the labels where nothing is left to ask.

    Raises:
        UserError: What is not known, with the line to type, and the arguments of Python.
    """
    if left := [one for one in draft.questions() if not one.optional]:
        missing = ", ".join(dict.fromkeys(ARGUMENTS[one.key] for one in left))
        seen = " ".join(one.text for one in left)
        raise UserError(f"{draft.options.file}: not known: {seen} Type {draft.typed(left)} (in Python {missing}).")
    found = read_draft(draft)
    found.require_sound()
    return found


def draft_report(draft: LabelDraft) -> Report:
    """Report of the columns: role, kind, different values, share filled, the first rows, and why."""
    roles = draft.roles
    first = [draft.table.rows[at] for at in range(min(SHOWN_ROWS, len(draft.table.rows)))]
    rows = []
    for name, seen in roles.seen.items():
        role = draft.columns.get(name) or roles.columns.get(name) or ("grades" if name in roles.graded else "unused")
        filled = "" if seen.filled == 1 else f", {seen.filled:.0%} filled"
        cells = " | ".join(shortened(row.get(name)) for row in first)
        rows.append((role, name, f"{seen.kind}, {seen.different}{filled}", cells, roles.why.get(name, "")))
    heads = ("role", "column", "values", "first rows", "why")
    table = TextTable(f"{draft.options.file}: task {draft.task}", heads, rows)
    return Report(tables=[table], stamps=list(draft.proposed.ignored))


def read_report(found: LabelSetup) -> Report:
    """Report of who graded, what is read, and on which scale."""
    labels, told = found.labels, ("Task ", NOT_READ)
    queries = len({item.query_id for item in labels.items})
    who = sorted({label.annotator for label in labels.labels})
    turn = found.project.turn or LAST
    lines = [
        *([f"graded in each conversation: {turn}"] if found.draft.chats else []),
        f"people: {some_of(who)}; judges: {some_of(tuple(found.draft.judges)) or 'none'}",
        f"{plural(len(labels.items), 'item')} of {plural(queries, 'query')}",
        _scale(labels),
    ]
    notes = [note for note in labels.notes if not note.startswith(told)]
    return Report(lines=lines, reading=notes, stamps=[one.text for one in found.checks])


def _scale(labels: LabelSet) -> str:
    if labels.accept_only:
        return "labels: accept / reject"
    scale = labels.scale
    at = f"; accepted from {scale.accept_at}" if scale.accept_at is not None else "; no accept threshold"
    return f"grades{'' if scale.level == 'nominal' else ', worst first'}: {scale_shown(scale)}{at}"


def written_report(found: LabelSetup) -> Report:
    """Report of where it is, and what comes next."""
    file = () if found.path.parent == Path() else (str(found.project.label_path),)
    agents = {item.agent or item.text("agent_a") for item in found.labels.items} - {""}
    verbs = (["systems"] if len(agents) > 1 else []) + ["agreement"]
    path = str(found.project.label_path)
    judged = [command(verb, path, home=Path()) for verb in verbs] if found.draft.judges else []
    return Report(
        data=found.to_json(),
        verdict=[f"wrote {found.path}: commands run here, or given a file beside it, take it from there"],
        next=[
            *judged,
            command("compile-judge", *file, home=Path()),
            *([command("labels", *file, home=Path())] if agents else []),
        ],
    )
