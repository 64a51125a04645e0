"""``judgec.init``: looks at a label file and writes down how it is read, so that no command has to be told again."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from judgec.errors import InputError, UserError
from judgec.labels.labels import NOT_READ, label_file
from judgec.labels.project import NAME, Project, read_project, write_project
from judgec.labels.proposal import LabelProposal, UserChoices, propose
from judgec.labels.reading import read_datasheet, scale_option
from judgec.labels.rows.grades import scale_shown
from judgec.labels.split.family import as_family, default_family, write_whole
from judgec.lm.spec import NO_LM
from judgec.lm.watch import Silent, Watch
from judgec.records.counts import plural
from judgec.records.label import LabelSet
from judgec.records.tasks.registry import TASKS
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.table.arrow import HUB_PREFIX
from judgec.table.rows.cells import as_text, is_missing
from judgec.table.rows.columns import ROLE, nested, renamed
from judgec.table.rows.heads import is_low_good, words
from judgec.table.table import Table
from judgec.table.tables import read_table
from judgec.table.workbooks import split_sheet
from judgec.verbs.options.agreement import MOST_MEASURED, AgreementOptions
from judgec.verbs.options.init import InitOptions
from judgec.verbs.typed import command
from judgec.verbs.verb import verb

LONGEST_EXAMPLE = 60  # characters


@dataclass(frozen=True, slots=True)
class LabelSetup:
    """Settings that read a label file, as in ``judgec.toml``.

    Args:
        project: What the file says.
        proposal: Where that comes from.
        labels: The labels, read that way.
        examples: By column of the table, a value of it.
        notes: What reading assumed or mended.
    """

    project: Project
    proposal: LabelProposal
    labels: LabelSet
    examples: Mapping[str, str]
    notes: tuple[str, ...]

    @property
    def path(self) -> Path:
        """The ``judgec.toml``."""
        return self.project.path

    @property
    def options(self) -> dict[str, object]:
        """Options with which ``judgec.read_labels`` and ``judgec.compile_judge`` read the file this way."""
        project = self.project
        found = {"task": project.task, "columns": dict(project.columns), "annotators": project.annotators}
        scale = scale_option(project.scale)
        rounding: dict[str, object] = {} if project.round is None else {"round": project.round}
        rounding |= {} if project.repeats is None else {"repeats": project.repeats}
        words = {"winner_words": dict(project.winner_words)} if project.winner_words else {}
        return found | {"scale": scale} | rounding | words

    def roles(self) -> list[tuple[str, str]]:
        """Judgec's name and the table's, of every column that is read."""
        theirs = {ours: column for column, ours in self.proposal.columns.items()}
        spec = TASKS[self.proposal.task]
        wanted = (*spec.inputs, "annotator", "query_id", "item_id", "agent", "group", "rationale")
        found = [(name, theirs.get(name, name)) for name in wanted if theirs.get(name, name) in self.examples]
        found += [("judge", name) for name in self.proposal.judges if name in self.examples]
        if self.proposal.annotators:
            return [*found, *(("annotator", name) for name in self.proposal.labels)]
        return [*found, *((self.proposal.columns.get(name, name), name) for name in self.proposal.labels)]

    def require_sure(self) -> None:
        """Check that nothing which changes the statistics could be read otherwise.

        Raises:
            UserError: Each doubt, with the option that settles it.
        """
        if self.proposal.unsure:
            raise UserError(f"{self.project.label_path}: not sure: {' '.join(self.proposal.unsure)}")

    def unasked(self) -> "LabelSetup":
        """The setup without what nobody was asked about: meanings of grades, taken from another sheet."""
        scale = self.project.scale
        if scale is None or "meanings" not in self.proposal.why:
            return self
        bare = self.project.model_copy(update={"scale": scale.model_copy(update={"meanings": ()})})
        note = (
            f"Meanings {self.proposal.why['meanings']} are not written unasked; judgec init without --yes takes them."
        )
        return replace(self, project=bare, notes=(*self.notes, note))

    def text(self) -> str:
        """The ``judgec.toml``."""
        return write_project(self.project, {key: why for key, why in self.proposal.why.items() if key != "scale"})

    def write(self) -> None:
        """Write it, whole or not at all."""
        write_whole(self.path, self.text())
        read_project(self.path)

    def to_json(self) -> dict[str, object]:
        """The JSON that ``judgec init --json`` prints."""
        project, labels = self.project, self.labels
        return {
            "out": str(self.path),
            "labels": project.labels,
            "name": project.name,
            **self.options,
            "annotators": list(project.annotators),
            "judges": list(project.judges),
            "label_columns": list(self.proposal.labels),
            "unused": list(self.proposal.unused),
            "items": len(labels.items),
            "queries": len({item.query_id for item in labels.items}),
            "graded_by": sorted({label.annotator for label in labels.labels}),
            "accept_only": labels.accept_only,
        }

    def __repr__(self) -> str:
        return f"<LabelSetup {self.path}: {self.proposal.task}, {plural(len(self.labels.items), 'item')}>"


@verb(InitOptions)
def init(options: InitOptions, watch: Watch) -> LabelSetup:
    """Look at a label file and write ``judgec.toml`` beside it: columns, annotators, scale, model, caps, name.

    Commands read it; functions take what it says as ``**found.options``.

    Raises:
        UserError: There is a ``judgec.toml`` already; the order of the grades is not known; who graded, or which grade
            is the best, is not sure.
        InputError: No column looks like what is needed, or the labels are faulty.

    Example:
        >>> found = judgec.init("trainsets/sensors/labels.jsonl", replace=True)
        >>> found.project.task, found.project.scale.accept_at
        ('grade', 4)
        >>> found.path.unlink()
    """
    found = proposed(options, watch)
    found.require_sure()
    found = found.unasked()
    found.write()
    return found


def proposed(options: InitOptions, watch: Watch) -> LabelSetup:
    """Proposes what ``init`` would write; nothing is written.

    Raises:
        UserError, InputError: As ``init``.
    """
    file = str(options.file)
    path = project_path(file)
    if path.exists() and not options.replace:
        raise UserError(f"{path}: it is there already, and every command reads it. Edit it, or add --replace.")
    watch.stage("labels", file)
    roles = {theirs: ours for theirs, ours in options.columns.items() if theirs.startswith(ROLE)}
    columns = {theirs: ours for theirs, ours in options.columns.items() if theirs not in roles}
    table = renamed(read_table(file, columns, missing=options.missing), roles)
    sheet = read_datasheet(file)
    said = UserChoices(
        options.task, columns, options.annotators, options.grades, options.accept_at, options.round is not None
    )
    try:
        proposal = propose(table, sheet, said)
    except (InputError, UserError) as error:
        if advice := nested(table):
            raise InputError([f"{file}:1: the rows are no table of grades. {advice}"]) from error
        raise
    name = default_family(file) if options.name is None else as_family(options.name)
    project = Project(
        path=path,
        labels=file if file.startswith(HUB_PREFIX) else _beside(file),
        task=proposal.task,
        name=name,
        lm=None if options.lm == NO_LM else options.lm,
        budget=options.budget,
        max_cost=options.max_cost,
        annotators=proposal.annotators,
        round=options.round,
        repeats=options.repeats,
        judges=dict.fromkeys(proposal.judges, ""),
        columns={**proposal.columns, **roles},
        scale=proposal.scale,
        missing=options.missing,
        wide=table.wide if isinstance(table.wide, bool | None) else asdict(table.wide),
        winner_words=options.winner_words,
    )
    read = label_file(table, sheet, project).labels
    return LabelSetup(project, proposal, read, _examples(table), tuple(read.notes))


def project_path(file: str) -> Path:
    """Path of the ``judgec.toml`` of a label file: beside it; for the Hub the current folder."""
    return Path(NAME) if file.startswith(HUB_PREFIX) else Path(split_sheet(file)[0]).parent / NAME


def _beside(file: str) -> str:
    """The file's own name, with the sheet that was named."""
    path, sheet = split_sheet(file)
    return Path(path).name if sheet is None else f"{Path(path).name}#{sheet}"


def _examples(table: Table) -> dict[str, str]:
    """The first value of each column, cut."""
    found = {}
    for name in table.columns:
        value = next((row[name] for row in table.rows if not is_missing(row.get(name))), "")
        text = " ".join(as_text(value).split())
        found[name] = text if len(text) <= LONGEST_EXAMPLE else text[: LONGEST_EXAMPLE - 1] + "…"
    return found


def proposed_report(found: LabelSetup) -> Report:
    """Report of which column is what, with an example of each, and what was seen of annotators and scale."""
    proposal, project, labels = found.proposal, found.project, found.labels
    columns: dict[str, list[str]] = {}
    for ours, theirs in found.roles():
        columns.setdefault(ours, []).append(theirs)
    rows = [(ours, ", ".join(theirs), found.examples.get(theirs[0], "")) for ours, theirs in columns.items()]
    queries = len({item.query_id for item in labels.items})
    why = proposal.why
    title = f"{project.label_path}: task {proposal.task}" + (f", {why['task']}" if "task" in why else "")
    lines = [
        _graders(found),
        f"{plural(len(labels.items), 'item')} of {plural(queries, 'query')}",
        *_scale(found),
        *[why[key] for key in ("labels", "constant") if key in why],
        *([f"not read: {', '.join(proposal.unused)}"] if proposal.unused else []),
        f"judge: {project.name}, {f'asks {project.lm}' if project.lm else 'no model; --lm names one'}",
    ]
    told = ("Task ", NOT_READ)  # above
    return Report(
        tables=[TextTable(title, ("judgec's", "your column", "for example"), rows)],
        lines=lines,
        reading=[note for note in found.notes if not note.startswith(told)],
        stamps=[f"not sure: {one}" for one in proposal.unsure],
    )


def _graders(found: LabelSetup) -> str:
    """Who is taken for an expert, who for a judge, and how somebody says otherwise."""
    proposal, named = found.proposal, any(ours == "annotator" for ours, _ in found.roles())
    people = sorted({label.annotator for label in found.labels.labels}) if named else list(proposal.labels)
    judges = (
        f"judge beside them: {_some(list(map(_low, proposal.judges)))}" if proposal.judges else "no judge beside them"
    )
    label = "" if named or TASKS[proposal.task].by_aspect else f" or --map THEIRS={TASKS[proposal.task].labels[0]}"
    return f"experts: {'' if named else 'column '}{_some(people)}; {judges}; --annotators A,B,...{label} says otherwise"


def _measuring(found: LabelSetup, judge: str) -> AgreementOptions:
    """Options that measure a judge: by its column, or by its rows among the annotators'."""
    own, aspect, project = found.proposal.labels, words(judge), found.project
    same = max(own, key=lambda name: (words(name) <= aspect, len(words(name) & aspect)), default="")
    return AgreementOptions(
        file=str(project.label_path),
        expert=() if found.proposal.annotators else (same,),
        judge=(judge,),
        annotators=project.annotators,
        columns=project.columns,
        missing=project.missing,
        scale=scale_option(project.scale),
        accept_at=project.accepted_from,
        round=project.round,
        repeats=project.repeats,
        winner_words=project.words,
        reversed=is_low_good(judge),
    )


def _typed(how: AgreementOptions) -> str:
    labels = [part for name in how.expert for part in ("--expert", name)]
    low = ["--reversed"] * bool(how.reversed)
    return command("agreement", str(how.file), *labels, "--judge", how.judge[0], *low, home=Path())


def _low(judge: str) -> str:
    return f"{judge} (low is good, by its name)" if is_low_good(judge) else judge


def _said_by(found: LabelSetup) -> dict[str, tuple[str, str]]:
    """Agreement of each judge whose verdicts lie beside the labels, and how ``--verdicts`` names it; nothing where
    that takes more than a look.
    """
    from judgec.verbs.agreement import agreement, as_verdicts  # loads the statistics

    said: dict[str, tuple[str, str]] = {}
    for judge in found.proposal.judges if len(found.labels.items) <= MOST_MEASURED else ():
        how = _measuring(found, judge)
        if len(found.proposal.labels) > 1 and how.expert and not words(how.expert[0]) & words(judge):
            continue  # nothing says which of several it is of
        try:
            measured = agreement.run(how, Silent())
        except (UserError, InputError):  # classes of other names, say: the command says more
            continue
        said[judge] = (
            f"{measured.verdict}.",
            as_verdicts(judge, measured.graded[judge], low_is_good=how.reversed),
        )
    return said


def _scale(found: LabelSetup) -> list[str]:
    if found.labels.accept_only:
        return ["labels: accept / reject"]
    scale = found.labels.scale
    seen = found.proposal.why.get("scale", "")
    at = f"; accepted from {scale.accept_at}" if scale.accept_at is not None else ""
    order = "" if scale.level == "nominal" else ", worst first"
    if scale.interval:
        return [f"scale {scale.name}: {scale_shown(scale)}{at}" + (f" ({seen})" if seen else "")]
    grades = ", ".join(map(str, scale.grades))
    return [f"scale {scale.name}{order}: {grades}{at}" + (f" ({seen})" if seen else "")]


def _some(names: list[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def written_report(found: LabelSetup) -> Report:
    """Report of where it is, and what comes next."""
    here = found.path.parent == Path()
    file = () if here else (str(found.project.label_path),)
    said = _said_by(found)
    by_aspect = TASKS[found.proposal.task].by_aspect  # a judge's column is of one aspect
    better = ("--verdicts", ",".join(named for _, named in said.values())) if said and not by_aspect else ()
    many = len(found.labels.items) > MOST_MEASURED  # measured by the command alone
    judges = found.proposal.judges if many else tuple(said)
    agents = any(ours == "agent" for _, ours in found.roles())
    return Report(
        data=found.to_json(),
        verdict=[
            f"wrote {found.path}: commands run here, or given a file beside it, take it from there",
            *(sentence for sentence, _ in said.values()),
        ],
        next=[
            *[_typed(_measuring(found, judge)) for judge in judges[:1]],
            command("compile-judge", *file, *better, home=Path()),
            *([command("labels", *file, home=Path())] if agents else []),
        ],
    )
