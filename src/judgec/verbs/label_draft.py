"""A label file as it was looked at: what its columns may be, what somebody said, and what is still to be asked."""

import json
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from judgec.errors import InputError, UserError
from judgec.labels.layouts import require_one_row_an_answer, sheets_of_labels
from judgec.labels.project import NAME, Project, read_project
from judgec.labels.questions import OpenQuestion, ends_of, grades_of
from judgec.labels.reading import EVERYBODY, Datasheet, read_datasheet
from judgec.labels.roles import ProposedRoles, Roles, number_in, propose, seen_in
from judgec.labels.rows.conversations import holding, roles_in, with_turns
from judgec.labels.rows.grades import NO_END, accepted_from, classes_of, interval_of, own_scale, position_of
from judgec.labels.rows.ids_alone import ITEM, QUERY, TEXTS, under_several_ids
from judgec.labels.rows.judged import ORDER
from judgec.labels.rows.label_cells import is_named, label_cells
from judgec.labels.rows.raters import RATIONALE, in_orders, ordered
from judgec.lm.spec import NO_LM, LMSpec
from judgec.lm.watch import Silent, Watch
from judgec.records.conversation import EACH
from judgec.records.counts import plural
from judgec.records.scale import ACCEPT_SCALE, Scale
from judgec.records.tasks.registry import SYNONYMS, TASKS, USUAL, compares
from judgec.records.tasks.winners import flat_words, winner_of, winner_words, words_by_grader
from judgec.table.arrow import HUB_PREFIX
from judgec.table.rows.cells import as_grade, as_id, as_text, is_accept_word, is_missing
from judgec.table.rows.columns import ROLE, infer_task, label_columns, listed, renamed
from judgec.table.table import Table
from judgec.table.tables import on_several_sheets, read_table
from judgec.table.workbooks import split_sheet
from judgec.verbs.options.init import InitOptions
from judgec.verbs.options.shared import Spending
from judgec.verbs.typed import command

LONGEST_EXAMPLE, LONGEST_SHOWN = 18, 200  # characters, on the screen and to a model
SHOWN_ROWS, ASKED_ROWS = 3, 5
SHOWN_TURNS = 50  # rows of conversations, which tell the task
SHOWN_VALUES = 12
AGAIN = 1.5  # picks of a pair by one judge, from which on it is asked in which order they were shown
ORDER_ALONE = "only their order counts"
REASON = f".{RATIONALE}"  # behind a grader's name
NOBODY_PROPOSES = ProposedRoles()


@dataclass(frozen=True, slots=True)
class LabelDraft:
    """A label file as it was looked at, with what is known of it and what only a person knows.

    Args:
        options: What was said.
        table: The rows, under their own heads.
        sheet: The datasheet.
        roles: Proposal of what each column is.
        task: What is labelled.
        label: judgec's column of the labels where they stand in one.
        graders: Columns or names that hold grades; empty where they are nobody's.
        checked: Graders whom somebody looked at after a check asked.
        proposed: What a model proposes.
    """

    options: InitOptions
    table: Table
    sheet: Datasheet
    roles: Roles
    task: str
    label: str
    graders: tuple[str, ...]
    checked: tuple[str, ...] = ()
    proposed: ProposedRoles = NOBODY_PROPOSES

    @property
    def columns(self) -> dict[str, str]:
        """Judgec's names of the columns that have another."""
        own = {theirs: ours for theirs, ours in self.roles.columns.items() if theirs != ours}
        own |= {name: ours for name, ours in self.options.columns.items() if name.startswith(ROLE)}
        return own | dict.fromkeys([self.roles.graded[0]], self.label) if self._is_one else own

    @property
    def named(self) -> bool:
        """True where a column says who graded each row."""
        return "annotator" in self.roles.columns.values()

    @property
    def ours(self) -> dict[str, str]:
        """Judgec's names of all columns, as far as is known, by the table's."""
        return {name: self.roles.columns.get(name, name) for name in self.table.columns}

    @property
    def unnamed(self) -> tuple[str, ...]:
        """The table's columns that hold labels under judgec's names."""
        found = label_columns([*self.ours.values()], self.task)
        return tuple(name for name, own in self.ours.items() if own in found)

    @property
    def _is_one(self) -> bool:
        return self.named and not self.unnamed and len(self.roles.graded) == 1

    @property
    def judges(self) -> dict[str, str]:
        """Judges that were named, with their ranges."""
        return dict(self.options.judges)

    @property
    def people(self) -> tuple[str, ...]:
        """People that were named, or declared by the datasheet; all of them where somebody said so."""
        said = tuple(self.options.annotators)
        return tuple(one for one in self.graders if one not in self.judges) if said == EVERYBODY else said

    @property
    def told(self) -> bool:
        """True where it is known who is a person."""
        return bool(self.options.annotators) or not self.graders

    @property
    def marked(self) -> tuple[str, ...]:
        """Columns of people's grades, as far as it is known who they are."""
        own = tuple(name for name in self.people if name in self.table.columns)
        return own or self.unnamed or self.roles.graded

    def values(self) -> Counter[str]:
        """The different cells of people's grades, and how often each stands there."""
        return _cells(self._of_people(), self.marked, self.sheet.scale)

    def _of_people(self) -> Table:
        """The rows of people, as far as it is known who they are."""
        theirs, rows = self.roles.theirs("annotator"), self.roles.rows
        if theirs is None or not self.told:
            return rows
        return rows.only(np.flatnonzero(rows.column(theirs).holds(lambda cell: as_id(cell) in self.people)).tolist())

    def scale(self) -> Scale | None:
        """The scale that somebody declared, or that judgec's own label column says; None: it is to be asked.

        Raises:
            UserError: What was declared is none.
        """
        seen = self.values()
        if self.options.best == NO_END and len(seen) > 1:
            return self._accepted(classes_of(seen))
        grades = grades_of(self.options.best, self.options.grades, seen)
        spec = TASKS[self.task]
        if grades is None:
            columns = {name: self.ours[name] for name in self.unnamed}
            own = own_scale(self.task, columns, [grade for one in seen if (grade := as_grade(one)) is not None])
            return self._accepted(self.sheet.scale or own)
        numbers = [one for one in map(as_grade, seen) if isinstance(one, int | float)]
        ranged = len(self.options.grades) == 1 and all(isinstance(one, int | float) for one in grades)
        if ranged and interval_of(numbers) and self.options.round is None:
            return self._accepted(Scale(name=spec.scale.name, level="interval", grades=(grades[0], grades[-1])))
        return self._accepted(Scale(name=spec.scale.name, grades=grades))

    def _accepted(self, scale: Scale | None) -> Scale | None:
        at = self.options.accept_at
        return scale if scale is None or at is None else accepted_from(scale, str(at))

    @property
    def by_words(self) -> bool:
        """True where accept and reject alone were given."""
        seen = [as_grade(one) for one in self.values()]
        return (
            bool(seen) and TASKS[self.task].takes_accept and all(is_accept_word(one) for one in seen if one is not None)
        )

    def questions(self) -> tuple[OpenQuestion, ...]:
        """Lists what is to be asked, in the order of asking; what was said is not asked."""
        if not self.roles.graded and not self.unnamed:
            return tuple(filter(None, [self._columns()]))
        if names := self._names():
            return tuple(filter(None, [self._columns(), self._beside(), names]))
        first = [self._columns(), *self._roles(), self._beside(), self._grade(), self._graders()]
        if self.roles.beside:  # what the grades are of tells what they may mean
            return tuple(filter(None, first))
        others = [self._orders(), self._strange(), self._turn(), self._item()]
        asked = tuple(filter(None, [*first, *self._meaning(), *others]))
        if any(not one.optional for one in asked):
            return asked
        return (*asked, *self._ranges(), *self._reasons())

    @property
    def chats(self) -> tuple[str, ...]:
        """The table's columns of conversations."""
        held = holding(self.ours.values())
        return tuple(name for name, own in self.ours.items() if own in held)

    def _roles(self) -> list[OpenQuestion]:
        """Roles that speak in most conversations and that nobody knows."""
        seen, strange = roles_in(self.table, self.chats)
        held = sum(len(self.table.column(name).given()) for name in self.chats)
        shown = ", ".join(f"{role} ({n})" for role, n in seen.most_common(SHOWN_VALUES))
        found = []
        for role, ours in strange.items():
            text = (
                f"Turns are those of {shown}: is {role} the assistant, whose answer was graded, user, system or tool?"
            )
            typed = (f"--map {shlex.quote(f'{ROLE}{role}={ours}')}",)
            usual = "" if ours == "?" else ours
            found += [OpenQuestion("roles", text, typed, usual, graders=(role,))] if 2 * seen[role] > held else []
        return found

    def _turn(self) -> OpenQuestion | None:
        if self.options.turn or self.sheet.turn or len(self.chats) != 1:
            return None
        first = renamed(self.table.only(range(min(SHOWN_TURNS, len(self.table.rows)))), self.ours)
        try:
            several = len(with_turns(first, EACH).rows) > len(with_turns(first).rows)
        except InputError:
            return None  # reading says so
        text = "Which turns of a conversation were graded: the last answer, each of them, or the whole?"
        return OpenQuestion("turn", text, ("--turn ?",), usual="last", optional=True) if several else None

    def _item(self) -> OpenQuestion | None:
        """Ids under which the same texts stand several times, of which nobody said whether they are one item."""
        ids = next((name for ours in (ITEM, QUERY) if (name := self.roles.theirs(ours))), None)
        names = [name for name, ours in self.roles.columns.items() if ours in TEXTS]
        if ids is None or ids in self.options.columns or not names:
            return None
        n = int(under_several_ids(self.roles.rows, names, ids).sum())
        text = f"{plural(n, 'row')} of the same texts under several ids ({ids}): is an item an id, or a text?"
        typed = f"--map {shlex.quote(f'{ids}=unused_{ids}')}"
        return OpenQuestion("item", text, (typed,), "id", optional=True) if n else None

    def _orders(self) -> OpenQuestion | None:
        """Judges that picked each pair in both orders, of which nobody said what a pick of the other order means."""
        if not compares(self.task) or self.options.orders or self.sheet.orders:
            return None
        both = [name for name in self.judges if in_orders(name, self.ours.values())]
        again = [] if both else self._picked_again()
        if not both and not again:
            return None
        if again and self.roles.theirs(ORDER) is None:
            text = f"{', '.join(again)} picked pairs again: which column says in which order (ab, ba) they were shown?"
            return OpenQuestion("order", text, (f"--map ?={ORDER}",))
        text = f"{', '.join(both or again)} picked pairs in both orders: is A the answer shown first (as-shown), or the"
        return OpenQuestion("orders", f"{text} first in the table (mapped)?", ("--orders ?",))

    def _picked_again(self) -> list[str]:
        """Judges in the column of names who picked several times of most of their pairs."""
        who, rows = self.roles.theirs("annotator"), self.roles.rows
        inputs = [name for name, ours in self.roles.columns.items() if ours in TASKS[self.task].inputs]
        if who is None or not inputs:
            return []
        codes = np.stack([rows.column(name).codes for name in inputs])
        own = {name: codes[:, rows.column(who).holds(partial(is_named, name))] for name in self.judges}
        return [name for name, one in own.items() if 0 < AGAIN * np.unique(one, axis=1).shape[1] <= one.shape[1]]

    def _ranges(self) -> list[OpenQuestion]:
        """Judges whose numbers are off the scale, of which nobody said the range."""
        scale = ACCEPT_SCALE if self.by_words else None if compares(self.task) else self.scale()
        if scale is None or scale.level == "nominal":
            return []
        own = [float(n) for one in scale.grades if (n := number_in(str(one))) is not None]
        low, high = (min(own), max(own)) if own else (np.inf, -np.inf)  # between two grades is on the scale
        found = []
        for name in (one for one, ends in self.judges.items() if not ends and one in self.table.columns):
            cells = [as_grade(one) for one in _cells(self.roles.rows, (name,))]
            numbers = sorted(one for one in cells if isinstance(one, int | float))
            if any(position_of(one, scale) is None and not low <= one <= high for one in numbers):
                seen = f"{name} holds numbers from {numbers[0]:g} to {numbers[-1]:g}, which are off the scale"
                text = f"{seen}: from which, the worst, to which, the best (0..1)?"
                typed = (f"--judges {shlex.quote(f'{name}=?')}",)
                found.append(OpenQuestion("ranges", text, typed, ORDER_ALONE, graders=(name,), optional=True))
        return found

    def _reasons(self) -> list[OpenQuestion]:
        """Texts that stand only where one grader graded, who left others out."""
        rows, theirs = self.roles.rows, self.roles.theirs("annotator")
        graded = {
            name: ~rows.column(name).missing if theirs is None else rows.column(theirs).holds(partial(is_named, name))
            for name in self.graders
        }
        found = []
        for column in (one for one in self.roles.unused if self.roles.seen[one].kind == "text"):
            there = ~rows.column(column).missing
            alone = [name for name, own in graded.items() if not own.all() and not (there & ~own).any()]
            if len(alone) == 1:
                text = f"{column} stands only where {alone[0]} graded: is it the reason of {alone[0]}?"
                typed = (f"--map {shlex.quote(f'{column}={alone[0]}{REASON}')}",)
                found.append(OpenQuestion("reasons", text, typed, "yes", optional=True))
        return found

    def _beside(self) -> OpenQuestion | None:
        if not self.roles.beside:
            return None
        names = " and ".join(self.roles.beside)
        typed = tuple(f"--map {shlex.quote(f'{name}=?')}" for name in self.roles.beside)
        text = f"{names} stand beside each other: a pair that was compared (pair), or which of them was graded?"
        return OpenQuestion("beside", text, typed)

    def _names(self) -> OpenQuestion | None:
        if not self.roles.fields or self.named:
            return None
        shown = "; ".join(f"{name} ({some_of(tuple(self.roles.seen[name].values), 3)})" for name in self.roles.fields)
        return OpenQuestion(
            "names", f"Which of these says who graded: {shown}?", ("--map ?=annotator", "--annotators ?", "--judges ?")
        )

    def _columns(self) -> OpenQuestion | None:
        asked = [name for name in self.roles.asked if name not in self.options.columns]
        if not self.chats and "query" not in self.roles.columns.values() and not self.roles.task:
            text = "Which column is the question, which the answer (judgec labels and agreement need ids alone)?"
            return OpenQuestion("columns", text, ("--map ?=query", "--map ?=answer"))
        if not asked:
            return None
        pairs = [f"{name}={self.roles.columns[name]}" for name in asked]
        text = "; ".join(f"{name} is {self.roles.columns[name]}" for name in asked)
        return OpenQuestion(
            "columns", f"Is this right: {text}?", tuple(f"--map {shlex.quote(one)}" for one in pairs), "yes"
        )

    def _grade(self) -> OpenQuestion | None:
        if not self.named or self.unnamed or self._is_one:
            return None
        return OpenQuestion(
            "grade", f"Which column holds the grades: {some_of(self.roles.graded)}?", (f"--map ?={self.label}",)
        )

    def _graders(self) -> OpenQuestion | None:
        if self.told and not (self.unnamed and not self.named):
            return None
        if self.unnamed and not self.named:
            if self.options.annotators or self.options.columns.keys() & set(self.unnamed):
                return None
            return OpenQuestion(
                "unnamed", f"Is what stands in {listed(self.unnamed)} what a person said?", (), "yes", optional=True
            )
        several = len(self.graders) > 1 and not self.named
        aspects = f" (Aspects: {self.graders[0]}=grade.ASPECT,...)" if several and not compares(self.task) else ""
        return OpenQuestion(
            "graders",
            f"Who of these is a person, who a judge: {some_of(self.graders)}?{aspects}",
            ("--annotators ?", "--judges ?"),
        )

    def _meaning(self) -> tuple[OpenQuestion, ...]:
        if compares(self.task):
            return self._sides()
        if self.by_words or TASKS[self.task].settled or self.scale() is not None:
            return ()
        seen = self.values()
        shown = _counted(seen)
        if ends := ends_of(seen):
            text = f"Grades {shown}: which end is good, {ends[0]} or {ends[1]}?"
            return (OpenQuestion("scale", text, ("--best ?",)),)
        text = f"Grades {shown}: which is the worst, and so on up to the best (--best none: classes)?"
        return (OpenQuestion("scale", text, ("--grades ?",), usual=NO_END),)

    def _sides(self) -> tuple[OpenQuestion, ...]:
        """What the values of a pair mean: once for graders of the same words, and for others apart."""
        flat = {**self.sheet.words, **winner_words(self.options.winner_words)}
        each = words_by_grader({**self.sheet.winner_words, **self.options.winner_words}, self.graders)
        seen = self._by_grader()
        strange = {
            name: {one for one in own if winner_of(as_grade(one) or one, {**flat, **each.get(name, {})}) is None}
            for name, own in seen.items()
        }
        groups: list[list[str]] = []
        for name in sorted(filter(strange.get, strange), key=lambda name: -len(seen[name])):
            alike = next((one for one in groups if seen[name].keys() <= seen[one[0]].keys()), None)
            groups.append([name]) if alike is None else alike.append(name)
        found = []
        for names in groups:
            mine = () if len(groups) == 1 and not each else tuple(names)
            words = [one for one in seen[names[0]] if any(one in strange[name] for name in names)]
            typed = ",".join(f"{name}{one}=?" for name in ([f"{n}:" for n in mine] or [""]) for one in words)
            whose = f" of {', '.join(names)}" if mine else ""
            shown = _counted(sum((seen[name] for name in names), Counter()))
            text = f"Which answer does each of these{whose} prefer, first (a), second (b) or a tie: {shown}?"
            found.append(OpenQuestion("winner_words", text, (f"--winner-words {shlex.quote(typed)}",), graders=mine))
        return tuple(found)

    def _by_grader(self) -> dict[str, Counter[str]]:
        """The different cells of each grader, and how often each stands there."""
        theirs, table = self.roles.theirs("annotator"), self.roles.rows
        who = (*self.people, *self.judges) if self.told and self.graders else ("",)
        if theirs is None or not self.told:
            held = {name: [name] if name in table.columns else [*in_orders(name, table.columns)] for name in who}
            held = {name: own for name, own in held.items() if own} or {name: [name] for name in self.marked}
            return {name: _cells(table, own) for name, own in held.items()}
        rows = {name: table.column(theirs).holds(partial(is_named, name)) for name in who}
        return {name: _cells(table.only(np.flatnonzero(own).tolist()), self.marked) for name, own in rows.items()}

    def _strange(self) -> OpenQuestion | None:
        """Cells of people that are on no scale."""
        scale = None if compares(self.task) or self.by_words or not self.told else self.scale()
        if scale is None:
            return None
        said = {word.strip().casefold() for word in self.options.missing}
        found = self.values().items()  # a cell with a comma is no word that could be named: reading stops at it
        off = {one: n for one, n in found if self._is_off(one, scale) and one.casefold() not in said and "," not in one}
        if not off:
            return None
        shown = ", ".join(f"{one!r} {n}" for one, n in off.items())
        words = ",".join([*self.options.missing, *off])
        return OpenQuestion(
            "missing", f"Not on the scale: {shown}: nothing?", (f"--missing {shlex.quote(words)}",), "yes"
        )

    def _is_off(self, cell: str, scale: Scale) -> bool:
        grade = as_grade(cell)
        if grade is None or (self.options.round and isinstance(grade, float)):
            return False
        return position_of(grade, scale) is None

    def typed(self, questions: Sequence[OpenQuestion]) -> str:
        """The command to type, filled in where it is certain."""
        options, said = self.options, [str(self.options.file)]
        for name in ("task", "best", "accept_at", "round", "repeats", "turn", "orders", "name", "budget", "max_cost"):
            value = getattr(options, name)
            said += [] if value is None else [f"--{name.replace('_', '-')}", str(value)]
        said += [] if options.lm == NO_LM else ["--lm", options.lm]
        said += ["--replace"] if options.replace else []
        said += [part for theirs, ours in options.columns.items() for part in ("--map", f"{theirs}={ours}")]
        judges = [f"{name}={ends}" if ends else name for name, ends in options.judges.items()]
        lists = {"annotators": options.annotators, "judges": judges, "grades": options.grades}
        lists |= {} if any(one.key == "missing" for one in questions) else {"missing": options.missing}
        said += [part for name, value in lists.items() if value for part in (f"--{name}", ",".join(value))]
        left = [part for one in questions if one.key != "winner_words" for part in one.options]
        words = [f"{word}={side}" for word, side in flat_words(options.winner_words).items()]
        words += [shlex.split(one.options[0])[1] for one in questions if one.key == "winner_words"]
        left += [f"--winner-words {shlex.quote(','.join(words))}"] if words else []  # the last of several would win
        return " ".join(filter(None, [command("init", *said, home=Path()), *left]))

    def words_said(self) -> dict[str, str | dict[str, str]]:
        """Meanings of words, those of single graders by their names."""
        each = words_by_grader(self.options.winner_words, self.graders)
        starts = tuple(f"{name}:".casefold() for name in each)
        flat = {w: s for w, s in flat_words(self.options.winner_words).items() if not w.casefold().startswith(starts)}
        return {**flat, **each}


def drafted(options: InitOptions, proposed: ProposedRoles | None = None, watch: Watch | None = None) -> LabelDraft:
    """Looks at a label file; nothing is written.

    Args:
        options: What was said.
        proposed: What a model proposed before; None: it is asked where the options name one.
        watch: Told of its calls.

    Raises:
        UserError: There is a ``judgec.toml`` already.
        InputError: The file cannot be read.
    """
    sheets = sheets_of(options)
    if len(sheets) > 1:
        raise InputError([on_several_sheets(str(options.file), [str(split_sheet(one)[1]) for one in sheets])])
    options = replace(options, file=sheets[0]) if sheets else options
    file = str(options.file)
    path = project_path(file)
    if path.exists() and not options.replace:
        raise UserError(f"{path}: it is there already, and every command reads it. Edit it, or add --replace.")
    before = read_project(path) if path.exists() else Project(path=path)
    missing = dict.fromkeys((*before.missing, *options.missing))  # reading the table takes these words, too
    options = replace(options, missing=tuple(missing))
    columns = {theirs: ours for theirs, ours in options.columns.items() if not theirs.startswith(ROLE)}
    turns = {theirs: ours for theirs, ours in options.columns.items() if theirs not in columns}
    table, sheet = read_table(file, columns, missing=options.missing), read_datasheet(file)
    if unknown := [name for name in columns if name not in table.columns]:
        there = listed(table.columns)
        raise InputError([f"{file}:1: no column {unknown[0]!r}; the columns are {there}. Correct --map."])
    chats = {theirs: ours for theirs, ours in columns.items() if theirs != ours and holding([ours])}
    table = renamed(renamed(table, {**chats, **turns}), {ours: theirs for theirs, ours in chats.items()})
    named = (*options.annotators, *options.judges)
    held = [one for name in named for one in (name, *in_orders(name, table.columns))]
    proposed = proposed or _proposed(table, options, watch or Silent())
    graders = [name for name in held if name in table.columns]
    roles = propose(table, columns, graders, proposed)
    task = _task(table, sheet, options, roles)
    if not compares(task):
        require_one_row_an_answer(table, roles)
    spec = TASKS[task]
    aspect = next(iter(spec.aspects), "relevance")
    label = f"{spec.prefix}{aspect}" if spec.by_aspect else spec.labels[0]
    draft = LabelDraft(options, table, sheet, roles, task, label, (), before.checked, proposed)
    theirs = roles.theirs("annotator")
    names = () if theirs is None else tuple(dict.fromkeys(map(as_id, table.column(theirs).given())))
    both = {one: stem for stem, own in ordered(roles.graded).items() if len(own) > 1 for one in own if compares(task)}
    columns_of_graders = dict.fromkeys(both.get(name, name) for name in roles.graded)
    return replace(draft, graders=names or (() if draft.unnamed else tuple(columns_of_graders)))


def _proposed(table: Table, options: InitOptions, watch: Watch) -> ProposedRoles:
    """What the model that was named says of the columns: of their heads, kinds and first rows."""
    if options.propose_lm is None:
        return NOBODY_PROPOSES
    from judgec.rag.queries.column_roles import propose_roles  # with DSPy, which takes seconds to load
    from judgec.verbs.spending import session_for

    seen = {}
    for name in table.columns:
        facts, cells = (
            seen_in(table.column(name)),
            [shortened(row.get(name), LONGEST_SHOWN) for row in table.rows[:ASKED_ROWS]],
        )
        what = f"{facts.kind}, {facts.different} different values, {facts.filled:.0%} filled"
        seen[name] = "\n".join([json.dumps(name, ensure_ascii=False), what, *cells])
    spec = LMSpec.parse(options.propose_lm, api_base=options.api_base, top_logprobs=0)
    spending = Spending(api_base=options.api_base, budget=options.budget, max_cost=options.max_cost)
    with session_for(spending, spec, options.home, watch) as session:
        return propose_roles(options.propose_lm, seen, SYNONYMS, session.ask)


def sheets_of(options: InitOptions) -> list[str]:
    """The sheets that may be meant, where the file is a workbook of several and none is named."""
    return sheets_of_labels(str(options.file), [one for one in options.columns if not one.startswith(ROLE)])


def _task(table: Table, sheet: Datasheet, options: InitOptions, roles: Roles) -> str:
    if options.task or sheet.task:
        return str(options.task or sheet.task)
    try:
        first = table.only(range(min(SHOWN_TURNS, len(table.rows))))
        return infer_task(with_turns(renamed(first, {t: o for t, o in roles.columns.items() if t != o})))[0]
    except InputError:
        return roles.task or USUAL


def project_path(file: str) -> Path:
    """Path of the ``judgec.toml`` of a label file: beside it; for the Hub the current folder."""
    return Path(NAME) if file.startswith(HUB_PREFIX) else Path(split_sheet(file)[0]).parent / NAME


def file_beside(file: str) -> str:
    """The file's own name, with the sheet that was named."""
    path, sheet = split_sheet(file)
    return Path(path).name if sheet is None else f"{Path(path).name}#{sheet}"


def _cells(table: Table, columns: Sequence[str], scale: Scale | None = None) -> Counter[str]:
    """The different cells of columns, and how often each stands there."""
    found: Counter[str] = Counter()
    for name in columns:
        column = table.column(name)
        read = label_cells(column.values, scale)
        for cell, n in zip(read, column.counts, strict=True):
            if not is_missing(cell) and (grade := as_grade(cell)) is not None:
                found[as_text(grade).strip()] += n
    return found


def _counted(seen: Counter[str]) -> str:
    return ", ".join(f"{one} ({n})" for one, n in seen.most_common(SHOWN_VALUES))


def shortened(value: object, longest: int = LONGEST_EXAMPLE) -> str:
    """The cell on one line, cut where it is longer."""
    text = "" if is_missing(value) else " ".join(as_text(value).split())
    return text if len(text) <= longest else text[: longest - 1] + "…"


def some_of(names: Sequence[str], most: int = SHOWN_VALUES) -> str:
    """The first of these names, and how many more there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
