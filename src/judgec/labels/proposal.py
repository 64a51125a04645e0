"""Looks at a table as a person would: what it labels, which column is what, who graded, on which scale."""

import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from judgec.errors import InputError, UserError
from judgec.labels.reading import Datasheet, as_scale
from judgec.labels.rows.conversations import columns_with, holding, with_turns
from judgec.labels.rows.grades import interval_of, one_class, position_of
from judgec.labels.rows.label_cells import label_cells, spellings, strays
from judgec.labels.rows.modes import with_modes
from judgec.labels.rows.panel import judges_among
from judgec.labels.rows.raters import annotator_column, columns_of, fields, rejoined
from judgec.labels.rows.reasons import reason_columns
from judgec.records.claim import NUGGETS
from judgec.records.counts import plural
from judgec.records.label import REASON_NAMES
from judgec.records.scale import Grade, Scale
from judgec.records.tasks.grade import ONE_TO_FIVE, ONE_TO_FIVE_ACCEPT
from judgec.records.tasks.registry import TASKS, also_called, as_task, called, plain
from judgec.records.tasks.spec import ANSWERS, PAIR, PREFIXES
from judgec.records.tasks.winners import winner_of
from judgec.table.ladders import accepted_from, in_order, is_graded, rank_of, rank_of_phrase
from judgec.table.rows.cells import (
    DASHES,
    as_accept,
    as_grade,
    as_id,
    as_number,
    as_text,
    holds_nuggets,
    is_accept_word,
    is_missing,
)
from judgec.table.rows.columns import (
    JUDGED,
    JUDGED_BY,
    aspect_columns,
    infer_task,
    label_columns,
    listed,
    missing_columns,
    renamed,
)
from judgec.table.rows.heads import (
    ASPECTS,
    JUDGE_HEADS,
    PEOPLE,
    are_versions,
    doubtful_among,
    gradings_among,
    is_adjudicated,
    is_computed,
    is_counter,
    is_metric,
    is_nobodys,
    is_version,
    machines_among,
    may_be_a_model,
    may_be_no_person,
    says_a_person,
    words,
)
from judgec.table.table import SheetRow, Table

REFERENCE = "reference"
MOST_GRADES = 12  # that a scale of words has
SENTENCE = 3  # words from which a text is one
SIDES = ("query_id", "item_id", "agent", "group", "rationale", "annotator")  # columns that are no input and no label
RATERS = re.compile(
    r"(annotator|rater|reviewer|expert|experte|expertin|evaluator|judge|grader|labeler|labeller|worker|assessor|coder|"
    r"human|bewerter|bewertung|gutachter|person|user|score|rating|grade|label|vote|note|annotation|"
    r"calificacion|puntuacion|valoracion|voto|valutazione|punteggio|avaliacao|nota|beoordeling|cijfer|ocena|betyg|"
    r"wertung|punkte|urteil|evaluation|jugement|verdict|points|оценка|балл|оцінка|评分|評価|평가)s?"
)
NUMBERED = re.compile(  # heads that say by themselves that each is a person
    r"(annotator|rater|reviewer|expert|grader|labell?er|worker|assessor|coder|human|person)_?\d{1,2}"
)
TOOK = re.compile(  # what a system took is no grade of its answer, however few values there are
    r"((input|output|prompt|completion|total)_?)?tokens?(_(count|in|out|used))?|(latency|duration|elapsed|runtime)(_\w+)?|"
    r"(response_)?time(_(ms|s|seconds))?|(milli)?seconds?|(total_)?costs?(_usd)?|price(_usd)?"
)
ANSWERED = re.compile(
    r"(?:(?:answer|response|output|completion|reply|antwort|text)_?([ab12])|(?:model|system|assistant|agent|bot)_?([ab12])_"
    r"(?:answer|response|output|text|reply|completion))"
)
LIKE: Mapping[str, frozenset[str]] = {  # words in the names of columns
    "query": frozenset(
        [
            *("question", "query", "prompt", "frage", "anfrage", "pregunta", "domanda", "pergunta", "vraag", "pytanie"),
            *("fraga", "kundenfrage", "вопрос"),
        ]
    ),
    "answer": frozenset(
        [
            *(*ANSWERS, "completion"),
            *("resposta", "antwoord", "odpowiedz", "svar", "ответ"),
        ]
    ),
    "reference": frozenset(
        [
            *("reference", "gold", "golden", "expected", "truth", "ideal", "ideale", "idealer", "referenz", "muster"),
            *("musterantwort", "gewuenscht", "gewuenschte", "erwartet", "erwartete", "soll", "sollantwort", "richtige"),
            *("korrekte", "vorgabe", "desired", "wanted", "target", "attendue", "attendu", "correcte", "esperada"),
            *("esperado", "correcta", "correcto", "attesa", "corretta"),
        ]
    ),
    "contexts": frozenset(
        [
            *("context", "contexts", "passage", "passages", "document", "documents", "source", "sources", "evidence"),
            *(
                "chunk",
                "chunks",
                "excerpt",
                "excerpts",
                "snippet",
                "snippets",
                "article",
                "articles",
                "kontext",
                "quelle",
                "quellen",
                "dokument",
            ),
        ]
    ),
}
NO_TEXT = frozenset(
    ["id", "ids", "url", "link", "title", "name", "file", "path", "type", "date", "author", "titel", "datei"]
)
MOST_WORDS = 7  # different words in a column of grades
LONGEST_WORD = 40  # characters
WIDEST = 10  # range of whole numbers that is taken for grades
TEXT = 15  # mean number of characters, from which a column without a known name may be a question or an answer
GROUPS = range(2, 31)  # different values of a column of groups
REMARKS = frozenset(  # words of a head whose texts are no grades, however few they are
    [*REASON_NAMES, *ANSWERS]
)
WHOLE = 0.9  # share of the graded rows in which what people settled on stands, where it is not about disputes alone
DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")
SEVERAL = 2  # people
GAPS = 0.2  # share of the rows without a grade of somebody who graded some of them
OFTEN = 0.1  # share of decimals among the grades of somebody who gives some
FEW_ROWS = 8  # of a table in which a column may hold one grade by chance
DATED = re.compile(  # days, and times of days; 1/5 may be a grade
    r"(\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4}|\d{1,2}[./]\d{1,2}[./]\d{2}|\d{1,2}:\d\d)"
    r"([T, ]+\d{1,2}:\d\d.*|:\d\d.*)?|\d{1,2}\.? [^\W\d]{3,9}\.? \d{4}.*"
)
MAYBE_RATERS = (  # heads of who filled in a form, or of who asked
    *(
        "email_address",
        "e_mail_adresse",
        "email",
        "e_mail",
        "mail",
        "username",
        "user_name",
        "user",
        "name",
        "your_name",
    ),
    *("nutzer", "benutzer", "benutzername", "ihr_name", "nombre", "nom", "nome", "naam"),
)
CODED = 3  # the highest number that a side or a tie is written as
GERMAN = frozenset({"frage", "anfrage", "antwort", "musterantwort", "referenzantwort", "nutzerfrage", "fragestellung"})
BEST_IS_ONE = frozenset({"schulnote", "schulnoten", "zensur", "zensuren", "rang", "rank", "ranking", "platz"})


@dataclass(frozen=True, slots=True)
class LabelProposal:
    """A proposal for reading a table as labels.

    Args:
        task: What is labelled.
        columns: judgec's names by those of the table, where they differ.
        annotators: Columns of one annotator each.
        labels: The columns that hold the labels, as the table names them.
        scale: The grades; None where the labels are accept / reject, or the task's own.
        why: By ``task``, ``annotators``, ``scale``: what was seen, in a sentence.
        unused: Columns that are not read.
        judges: Columns, or names in the column of annotators, that look like a judge's: nobody's labels.
        unsure: What changes the statistics and could be read otherwise, each with the line to type.
    """

    task: str
    columns: Mapping[str, str]
    annotators: tuple[str, ...]
    labels: tuple[str, ...]
    scale: Scale | None
    why: Mapping[str, str] = field(default_factory=dict)
    unused: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UserChoices:
    """Choices of the user that replace what is seen; empty where nothing.

    Args:
        task: As in ``LabelProposal``.
        columns: Likewise.
        annotators: Likewise.
        grades: Worst first.
        accept_at: The lowest accepted grade.
        rounded: Numbers between two grades are the nearest one.
    """

    task: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    annotators: tuple[str, ...] = ()
    grades: tuple[str, ...] = ()
    accept_at: str | None = None
    rounded: bool = False


def propose(file: Table, sheet: Datasheet, said: UserChoices) -> LabelProposal:
    """Proposes how to read the table.

    Args:
        file: The table.
        sheet: Its datasheet; it goes before what is seen.
        said: What somebody said; it goes before both.

    Raises:
        InputError: When no question, answer or label is found; it says what to name.
        UserError: When the order of grades in words is not known, or what was said does not fit.
    """
    task = said.task or sheet.task
    table = with_modes(file, task, sheet.aspects)
    people = {theirs: ours for theirs, ours in said.columns.items() if "." in ours and not ours.startswith(PREFIXES)}
    table = renamed(with_turns(table) if holding(table.columns) else table, people)  # PERSON.ASPECT, as typed
    others = {theirs: ours for theirs, ours in said.columns.items() if theirs not in people}
    looked = _Look(table, others, rounded=said.rounded)
    looked.fields = frozenset(ours.rpartition(".")[2] for ours in people.values())
    looked.find_inputs(None if task is None else as_task(task))
    looked.task = as_task(task) if task else looked.told_task()
    looked.find_sides()
    looked.find_labels(said.annotators)
    reasons = looked.find_reasons()
    scale, reason = _scale(looked, sheet, said)
    why = {**looked.why, **({"scale": reason} if reason else {})}
    read = (c for c in looked.table.columns if looked.ours(c) in looked.reads() and c not in looked.judged)
    used = {*looked.columns, *looked.labels, *read, *reasons}
    raters = {c for name in looked.annotators for c in columns_of(name, looked.table.columns)}
    looked.find_judges(used | raters)
    unused = [name for name in looked.table.columns if name not in used | raters | set(looked.judges)]
    known = {**looked.columns, **people}
    judged = JUDGED_BY in file.columns  # where a column is people's only because somebody says so
    columns = {theirs: ours for theirs, ours in known.items() if theirs in file.columns and (theirs != ours or judged)}
    return LabelProposal(
        looked.task,
        columns,
        looked.annotators,
        looked.labels,
        scale,
        why,
        tuple(unused),
        looked.judges,
        tuple(
            dict.fromkeys(
                [
                    *looked.unsure,
                    *looked.doubt_raters(),
                    *([] if said.annotators or {*said.columns} & {*looked.labels} else looked.doubt_all()),
                    *([] if said.grades or sheet.scale else looked.direction(scale)),
                ]
            )
        ),
    )


@dataclass(frozen=True, slots=True)
class UsualHeads:
    """Findings from the heads alone.

    Args:
        columns: judgec's names by the table's; empty where a head that is needed is not known.
        annotators: Columns of one annotator each, numbered (``annotator1``), where nobody names others.
        scale: Of words whose order is known.
        note: A sentence that says so.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    annotators: tuple[str, ...] = ()
    scale: Scale | None = None
    note: str = ""


def usual_heads(file: Table, sheet: Datasheet, said: UserChoices) -> UsualHeads:
    """Finds the columns whose heads are those of other tools, where judgec's own are missing.

    ``init`` proposes by heads and values; nothing is taken here from a value alone.

    Args:
        file: The table, which cannot be read under its own heads.
        sheet: Its datasheet.
        said: What somebody said.

    Raises:
        UserError: Something that changes the statistics could be read otherwise.
    """
    own = {name for each in TASKS.values() for name in (*each.inputs, *each.labels)} | {*SIDES, *said.columns}
    if not any(called(name) or plain(name) in JUDGE_HEADS for name in file.columns if name not in own):
        return UsualHeads()
    try:
        found = propose(file, sheet, replace(said, columns=dict(said.columns)))
    except (InputError, UserError):
        return UsualHeads()
    known = {
        theirs: ours for theirs, ours in found.columns.items() if theirs in said.columns or _is_usual(theirs, ours)
    }
    added = {theirs: ours for theirs, ours in known.items() if theirs not in said.columns}
    ours = columns_with([known.get(name, name) for name in file.columns])
    people = found.annotators if all(NUMBERED.fullmatch(plain(name)) for name in found.annotators) else ()
    people = said.annotators or people
    if not added or missing_columns(ours, found.task, labelled=not people):
        return UsualHeads()
    spec, scale = TASKS[found.task], found.scale
    labels = [theirs for theirs, one in added.items() if one in spec.labels]
    doubts = [*found.unsure, *(_other_label(file, labels[0], known) if labels else ())]
    if doubts:
        advice = f"Or run judgec init {shlex.quote(file.path)}: it asks you, and writes your answers into judgec.toml."
        raise UserError(f"{file.path}: not sure: {' '.join(doubts)} {advice}")
    also = [
        f"{name} may be {one}, too"
        for one in dict.fromkeys(added.values())
        for name in file.columns
        if name not in known and name not in spec.inputs and plain(name) in {plain(each) for each in also_called(one)}
    ]
    read = ", ".join(f"{theirs} as {one}" for theirs, one in added.items())
    read += f", {listed(people)} as annotators" if people and not said.annotators else ""
    words = scale is not None and any(isinstance(grade, str) for grade in scale.grades)
    note = _read_by_names("; ".join([read, *also]))
    if scale is None or not words or spec.settled or sheet.scale is not None:
        return UsualHeads(known, people, None, note)
    ordered = f"{note} The grades are in the order of their words, worst first: {listed(scale.grades)}."
    return UsualHeads(known, people, scale, ordered)


def usual_inputs(file: Table, task: str, rename: Mapping[str, str]) -> dict[str, str]:
    """The inputs of a task among the columns of items, as ``usual_heads`` finds them in labels.

    Args:
        file: Rows of items.
        task: What is judged.
        rename: judgec's names by the table's, as somebody said.

    Returns: Those that nobody said; nothing but a rubric where the task lacks none, or one of which no head is known.
    """
    rubric = heads_by_cells(file, task, rename)
    rename = {**rename, **rubric}

    def lacks(known: Mapping[str, str]) -> bool:
        ours = columns_with([known.get(name, name) for name in file.columns])
        return bool(missing_columns(ours, task, labelled=False))

    if not lacks(rename):
        return rubric
    try:
        look = _Look(file, {theirs: ours for theirs, ours in rename.items() if theirs in file.columns})
        look.find_inputs(task)
    except (InputError, UserError):
        return rubric
    inputs = {theirs: ours for theirs, ours in look.columns.items() if ours in TASKS[task].inputs}
    found = {theirs: ours for theirs, ours in inputs.items() if theirs not in rename and _is_usual(theirs, ours)}
    return rubric if lacks({**rename, **found}) else {**rubric, **found}


def heads_by_cells(file: Table, task: str | None, rename: Mapping[str, str]) -> dict[str, str]:
    """Inputs under heads that do not tell them, but whose cells do.

    ``criteria`` that lists criteria is nuggets; ``label`` that holds many sentences is the reference, as vRAG-Eval
    calls it (Wang et al., 2024): no scale has such grades.
    """
    rules = ((NUGGETS, also_called(NUGGETS), _is_rubric), (REFERENCE, ("label",), _are_sentences))
    found: dict[str, str] = {}
    for ours, heads, holds in rules:
        known, wanted = {*file.columns, *rename.values()}, {plain(name) for name in heads}
        if ours in known or (task is not None and ours not in TASKS[task].inputs):
            continue
        names = [name for name in file.columns if name not in rename and plain(name) in wanted]
        found |= {name: ours for name in names if holds(file.column(name).values)}
    return found if len({*found.values()}) == len(found) else {}


def _is_rubric(cells: Sequence[object]) -> bool:
    given = [one for one in cells if not is_missing(one)]
    return bool(given) and all(map(holds_nuggets, given))


def _are_sentences(cells: Sequence[object]) -> bool:
    """True if there are more different texts than a scale has grades, most of them of several words."""
    texts = [as_text(one) for one in cells if isinstance(one, str) and not is_missing(one)]
    return len(texts) > MOST_GRADES and sum(len(text.split()) >= SENTENCE for text in texts) > len(texts) / 2


def read_by_heads(found: Mapping[str, str]) -> str:
    """The sentence that says so; empty where there are none."""
    read = ", ".join(f"{theirs} as {ours}" for theirs, ours in found.items() if theirs != ours)
    return _read_by_names(read) if read else ""


def _read_by_names(read: str) -> str:
    return f"Columns read by their names: {read}. To read one differently, add --map YOUR_COLUMN=OUR_COLUMN."


def _is_usual(theirs: str, ours: str) -> bool:
    """True for a head that others use for ours: the context of a response is its query, ``fluency`` is graded."""
    head = plain(theirs)
    names = {plain(name) for name in (ours, *also_called(ours), *(also_called("contexts") if ours == "query" else ()))}
    if ours == "annotator":
        names |= {*JUDGE_HEADS}
    if ours == "item_id" and is_counter(theirs):
        return True
    aspect = ours.startswith(PREFIXES) and head in ASPECTS
    return head in names or aspect or (ours in {"grade", "accept", "preference"} and head in _label_names())


def _other_label(file: Table, label: str, columns: Mapping[str, str]) -> list[str]:
    """A sentence where another column of a label's name has grades of one scale with the label."""
    look = _Look(file, dict(columns))
    machines = look.machines()
    rest = [name for name in look.free() if plain(name) in _label_names() and name not in machines]
    return [
        f"{label} and {name} may be the label. Add --map {shlex.quote(f'{label}={columns[label]}')} or --map "
        f"{shlex.quote(f'{name}={columns[label]}')}."
        for name in look.without_gold([label, *rest])
        if name != label and look.looks_graded(name) and look.shares(label, name)
    ][:1]


class _Look:
    """A table and what was found in it so far."""

    def __init__(self, table: Table, columns: dict[str, str], *, rounded: bool = False) -> None:
        self.table = table
        self.rounded = rounded
        self.columns = columns
        self.task = ""
        self.annotators: tuple[str, ...] = ()
        self.labels: tuple[str, ...] = ()
        self.why: dict[str, str] = {}
        self.judges: tuple[str, ...] = ()
        self.unsure: list[str] = []
        self.rated_in = ""
        self.fields: frozenset[str] = frozenset()  # what somebody says that a person graded
        repeated = gradings_among(table.columns)
        self.judged = self._judged()
        self.gradings = {name: one.columns for name, one in repeated.items() if one.sure}
        self.maybe_gradings = {name: one for name, one in repeated.items() if not one.sure}

    def person(self, column: str, *, maybe: bool = False) -> str:
        """Name of the person whose repeated grading a column is, or may be; else its own name."""
        known = {**self.gradings, **({name: one.columns for name, one in self.maybe_gradings.items()} if maybe else {})}
        return next((name for name, own in known.items() if column in own), column)

    def _judged(self) -> tuple[str, ...]:
        """The verdicts beside a column ``judged_by``, as ``judgec judge --out`` writes it; not those that are mapped.

        Raises:
            InputError: The column names people, too.
        """
        by = next((name for name in self.table.columns if plain(name) == JUDGED_BY and name not in self.columns), None)
        if by is None:
            return ()
        names = list(dict.fromkeys(map(as_id, self.values(by))))
        if (machines := machines_among(names)) and len(machines) < len(names):
            others = listed(name for name in names if name not in machines)
            seen = f"{self.table.path}:1: column {by} names {listed(machines)} and {others}; judges alone are valid."
            typed = f"--map {shlex.quote(f'{by}=annotator')}"
            raise InputError([f"{seen} Where the others are people, rename the column, or add {typed}."])
        free = [name for name in self.table.columns if name not in self.columns]
        own = [name for name in free if plain(name) in JUDGED]
        return tuple(own or [name for name in free if plain(name) in _label_names()])

    def ours(self, column: str) -> str:
        """Judgec's name of a column, or its own."""
        return self.columns.get(column, column)

    def reads(self) -> tuple[str, ...]:
        """The parts of the task that judgec reads."""
        spec = TASKS[self.task]
        return (*spec.inputs, *spec.labels, *SIDES)

    def has(self, ours: str) -> str | None:
        """The column that is ``ours`` so far."""
        return next((name for name in self.table.columns if self.ours(name) == ours), None)

    def values(self, column: str) -> list[object]:
        """The cells that hold something."""
        return self.table.column(column).given()

    def free(self) -> list[str]:
        """Columns that are nothing yet."""
        known = {name for spec in TASKS.values() for name in (*spec.inputs, *spec.labels)} | {*SIDES}
        if not aspect_columns(self.table.columns):
            known.discard("passage")  # of the task reliability alone
        return [
            name
            for name in self.table.columns
            if name not in {*self.columns, *self.judged, *known}
            and plain(name) != JUDGED_BY
            and not name.startswith(PREFIXES)
        ]

    def take(self, ours: str, fits: Callable[[str], bool] | None = None) -> str | None:
        """The column that people would call ``ours``, from now on mapped to it."""
        if (there := self.has(ours)) is not None:
            return there
        names = {name: plain(name) for name in self.free()}
        for wanted in (plain(ours), *also_called(ours)):
            for name, own in names.items():
                if own == plain(wanted) and (fits is None or fits(name)):
                    self.columns[name] = ours
                    return name
        return None

    def length(self, column: str) -> float:
        """Mean number of characters of its texts."""
        texts = [as_text(value) for value in self.values(column)]
        return sum(map(len, texts)) / len(texts) if texts else 0.0

    def marks(self, column: str) -> list[object]:
        """The cells that hold something, without texts among numbers."""
        values = self.values(column)
        stray = strays(values)
        return [value for value in values if as_text(value).strip() not in stray] if stray else values

    def grades(self, *columns: str) -> Counter[Grade]:
        """Their values as grades; dashes are blanks where there is no plus, Ja and ja one word."""
        values = [value for column in columns for value in label_cells(self.marks(column)).cells]
        found = Counter(grade for value in values if (grade := _number(value)) is not None)
        usual = spellings(Counter({word: count for word, count in found.items() if isinstance(word, str)}))
        found = Counter(usual.get(str(grade), grade) for grade in found.elements()) if usual else found
        if self.rounded:
            found = Counter(round(grade) if isinstance(grade, float) else grade for grade in found.elements())
        return found if "+" in found else Counter({g: n for g, n in found.items() if g not in DASHES})

    def is_measured(self, column: str) -> bool:
        """True for numbers that are no marks: 0.83."""
        return any(not isinstance(grade, str) and 4 * grade != int(4 * grade) for grade in self.grades(column))

    def looks_graded(self, column: str) -> bool:
        """True for few different words, or for numbers in a narrow range."""
        grades = self.grades(column)
        words = [grade for grade in grades if isinstance(grade, str)]
        numbers = [grade for grade in grades if not isinstance(grade, str)]
        if not grades or (words and numbers):
            return False
        if words:
            repeated = len(words) <= max(2, sum(grades.values()) / 2) or all(
                rank_of(word) is not None for word in words
            )
            return len(words) <= MOST_WORDS and max(map(len, words)) <= LONGEST_WORD and repeated
        low, high = min(numbers), max(numbers)
        return high - low <= WIDEST or (high <= 100 and low >= 0 and len(numbers) <= 2 * WIDEST + 1 and high > 1)

    def is_text(self, column: str) -> bool:
        """False for numbers, and for words that are known to be grades: ``Paris`` and ``London`` are answers."""
        grades = self.grades(column)
        words = all(isinstance(grade, str) and is_graded(grade) for grade in grades)
        numbers = any(not isinstance(grade, str) for grade in grades)
        return not self.looks_graded(column) or bool(strays(self.values(column))) or not (words or numbers)

    def find_inputs(self, task: str | None) -> None:
        """Question, answer or answers, document; by their names, then by what is left."""
        pairs = task is None or TASKS[task].pairs
        if pairs:
            self._find_pair()
        pair = all(self.has(side) for side in PAIR)
        by_text = [name for name in self.free() if self.length(name) > TEXT and not self.looks_graded(name)]
        retrieves = any(plain(c) in {"doc_id", "did", "docid", "document_id", "passage_id"} for c in self.table.columns)
        self._take_like("query")
        if pair:
            self._take_contexts()
            self._take_like("reference")
        elif task == "relevance" or (task is None and retrieves and self._single_text("document")):
            self.take("document")
        else:
            self._find_answer(task, by_text)
        if self.has("query") is None:
            rest = [name for name in by_text if name not in self.columns]
            context = self.has("contexts")
            if len(rest) == 1:
                self.columns[rest[0]] = "query"
            elif not rest and context is not None and self.has("answer") is not None:
                self.columns[context] = "query"  # a response to its context, as data sets of dialogues have it

    def _find_answer(self, task: str | None, by_text: Sequence[str]) -> None:
        """The answer with what it is judged against; without one, the document; else the text that is left."""
        self.take("answer", self.is_text)
        self._take_like("reference")
        self._take_like("answer")
        if self.has("answer") is None and task is None and self.take("document"):
            return
        rest = [name for name in by_text if name not in self.columns]
        if self.has("answer") is None and (len(rest) == 1 or (rest and self.has("query") is None)):
            self.columns[rest[-1]] = "answer"
        self._take_contexts()

    def _take_contexts(self) -> None:
        """The column of a known name, else texts of several words under a name such as ``Source passage``."""
        if self.take("contexts", lambda name: self.length(name) > TEXT or self._are_lists(name)) is None:
            for name in self.free():
                words = set(plain(name).split("_"))
                if words & LIKE["contexts"] and not words & NO_TEXT and self._is_prose(name):
                    self.columns[name] = "contexts"
                    break

    def _are_lists(self, column: str) -> bool:
        return all(isinstance(value, list | tuple) or str(value).lstrip()[:1] == "[" for value in self.values(column))

    def _is_prose(self, column: str) -> bool:
        """Most of its texts are several words: no addresses, no identifiers."""
        spaced = [len(as_text(value).split()) > 2 for value in self.values(column)]
        return self.length(column) > TEXT and 2 * sum(spaced) > len(spaced)

    def _take_like(self, ours: str) -> None:
        """The column of a known name, else one whose name has such a word: ``Antwort des Bots``."""
        if self.take(ours, self.is_text) is None:
            for name in self.free():
                if LIKE[ours] & set(plain(name).split("_")) and self.is_text(name):
                    self.columns[name] = ours
                    break

    def _single_text(self, ours: str) -> bool:
        """A document, and no column of another name that is an answer."""
        answers = {"answer", *also_called("answer")} - {"text"}
        return not any(plain(name) in answers for name in self.table.columns) and self.take(ours) is not None

    def _find_pair(self) -> None:
        for side, marks in zip(PAIR, ("a1", "b2"), strict=True):
            if self.take(side, self.is_text) is None:
                for name in self.free():
                    found = ANSWERED.fullmatch(plain(name))
                    if found and (found[1] or found[2]) in marks and self.is_text(name):
                        self.columns[name] = side
                        break
        if not all(self.has(side) for side in PAIR):
            for name in [name for name, ours in self.columns.items() if ours in PAIR]:
                del self.columns[name]
            return
        self.take("agent_a")
        self.take("agent_b")

    def told_task(self) -> str:
        """The task that the inputs and the names of label columns tell."""
        table = renamed(self.table, {theirs: ours for theirs, ours in self.columns.items() if theirs != ours})
        if all(self.has(side) for side in PAIR):
            self.why["task"] = "two answers to a question"
            return "preference"
        try:
            task, note = infer_task(table)
        except InputError:
            task, note = "", ""
        if note:
            self.why["task"] = note.removesuffix(".").partition(", ")[2]
            return task
        if self.has("answer") and self.has("query"):
            aspects = self._aspects() or self._aspects_by_person(self._people())
            self.why["task"] = f"an answer graded in {listed(aspects)}" if aspects else "an answer to a question"
            return "answer" if aspects else "grade"
        if self.has("document") and self.has("query"):
            self.why["task"] = "a document for a query"
            return "relevance"
        lacks = [name for name in ("query", "answer") if self.has(name) is None]
        if across := self._graded_across():
            raise InputError([across])
        seen = f"{table.path}:1: no column looks like the {' or the '.join(lacks)}"
        advice = f"Name it, for example --map THEIRS={lacks[0]}."
        raise InputError([f"{seen}; the columns are {listed(self.table.columns)}. {advice}"])

    def _graded_across(self) -> str:
        """The error of a table with a row a grader and a column an item, which names no texts; empty for others."""
        first, *items = self.table.columns or ("",)
        graded = len(items) > len(self.table.rows) and all(map(self.looks_graded, items))
        if not graded or self.looks_graded(first) or not self._holds_numbers(items):
            return ""
        who = listed(as_id(cell) for cell in self.values(first)[:SEVERAL])
        return (
            f"{self.table.path}:1: it looks as though {who}, ... graded what stands across in columns "
            f"({listed(items[:SEVERAL])}, ...); a row an item with its question and answer is needed. Turn the table "
            "(copy it, paste it transposed), and add columns Question and Answer."
        )

    def _holds_numbers(self, columns: Sequence[str]) -> bool:
        return all(not isinstance(grade, str) for grade in self.grades(*columns))

    def _aspects(self) -> list[str]:
        if any(self.has(name) for name in ("grade", "accept")):
            return []
        machines = self.machines()
        found = [n for n in self.free() if plain(n) in ASPECTS and self.looks_graded(n) and n not in machines]
        return found if len(found) > 1 and not self._people() else []

    def find_sides(self) -> None:
        """Finds annotators, systems, identifiers, groups, reasons: where they hold what they are called."""
        spec = TASKS[self.task]
        queries = self.has("query")
        self._take_raters()
        rated = judges_among(self.table, sure=False)[0]
        if plain(rated) in JUDGE_HEADS and self.has("annotator") == rated:
            self.rated_in = rated
        self.take("query_id", lambda name: queries is not None and self._tells(queries, name))
        if not spec.pairs:
            self.take("agent", self._tells_agents)
            self._take_version()
        inputs = [name for name in self.table.columns if self.ours(name) in {*spec.inputs, "agent"}]
        self.take("item_id", lambda name: self._names_items(name, inputs))
        if self.has("item_id") is None:
            numbered = (name for name in self.free() if is_counter(name) and self._names_items(name, inputs))
            self.columns |= dict.fromkeys([*numbered][:1], "item_id")
        self.take("group", lambda name: len(set(map(as_id, self.values(name)))) in GROUPS)

    def find_reasons(self) -> list[str]:
        """Finds people's reasons beside their grades; says what each is read by, where that is one column."""
        if self.has("rationale"):
            return []
        wanted = reason_columns(self.table, self.annotators, self.labels)
        for target, own in wanted.items():
            if len(own) == 1:
                self.columns[next(iter(own.values()))] = target
        return [column for own in wanted.values() for column in own.values()]

    def _take_raters(self) -> None:
        """Takes the columns of annotators; a head such as ``expert`` over the only grades of people is the label."""
        free = self.free()
        raters = None if self.has("annotator") else annotator_column(self.table, free) or self._filled_in_by(free)
        if raters is None:
            return
        others = [name for name in free if name != raters and self.looks_graded(name) and not self._is_no_grade(name)]
        labelled = any(self.ours(name) in _label_names() or name.startswith(PREFIXES) for name in self.table.columns)
        alone = not set(others) - set(self.machines())  # as far as heads tell: ``Score`` is a person's or a machine's
        if labelled or not self.looks_graded(raters) or not alone or (others and self._several_an_item(raters)):
            self.columns[raters] = "annotator"

    def _filled_in_by(self, free: Sequence[str]) -> str | None:
        """The column of who filled in a form: several of them graded one answer. A customer's name is none."""
        maybe = (name for wanted in MAYBE_RATERS for name in free if plain(name) == wanted)
        return next(filter(self._several_an_item, maybe), None)

    def _several_an_item(self, name: str) -> bool:
        """True where most items come several times, with another value of this column each."""
        inputs = [name for name in self.table.columns if self.ours(name) in TASKS[self.task].inputs]
        seen: dict[str, set[str]] = {}
        for row in self.table.rows:
            if not is_missing(row.get(name)):
                seen.setdefault("\0".join(as_text(row.get(one)) for one in inputs), set()).add(as_id(row[name]))
        return 2 * sum(len(own) > 1 for own in seen.values()) > len(seen)

    def _tells_agents(self, name: str) -> bool:
        """Fewer values than rows, and not a column of grades like others: ``Model`` beside ``Human``."""
        if len(set(map(as_id, self.values(name)))) >= len(self.table.rows):
            return False
        numbers = not is_nobodys(name) and all(not isinstance(grade, str) for grade in self.grades(name))
        others = (one for one in self.free() if one != name and not is_version(one) and not is_nobodys(one))
        return not (numbers and any(self.looks_graded(one) and self.shares(name, one) for one in others))

    def _take_version(self) -> None:
        """Takes the column of the system, by a word of the head (``Model version``) or by its values (v1, v2)."""
        if self.has("agent") is not None:
            return
        known = {name for name in self.free() if plain(name) in _label_names()}
        free = [
            name
            for name in self.free()
            if len(set(map(as_id, self.values(name)))) in GROUPS
            and self._tells_agents(name)
            and name == self.person(name)
        ]
        versions = [name for name in free if name not in known and self.holds_versions(name)]
        named = [name for name in free if is_version(name)]
        both = [name for name in named if name in versions]
        if found := (both or [name for name in named if self.length(name) <= TEXT] or versions):
            self.columns[found[0]] = "agent"

    def holds_versions(self, column: str) -> bool:
        """Letters or versions."""
        return are_versions({as_text(value) for value in self.values(column)})

    def _tells(self, of: str, name: str) -> bool:
        """Each value of ``of`` comes with one value of ``name``, and is not missing."""
        seen: dict[str, str] = {}
        return all(
            not is_missing(row.get(name))
            and seen.setdefault(as_text(row.get(of)), as_id(row[name])) == as_id(row[name])
            for row in self.table.rows
        )

    def _names_items(self, name: str, inputs: Sequence[str]) -> bool:
        """An identifier of items, not of rows: equal inputs have one, and one has equal inputs."""
        by_id: dict[str, str] = {}
        by_inputs: dict[str, str] = {}
        for row in self.table.rows:
            if is_missing(row.get(name)):
                return False
            own, text = as_id(row[name]), "\0".join(as_text(row.get(each)) for each in inputs)
            if by_id.setdefault(own, text) != text or by_inputs.setdefault(text, own) != own:
                return False
        return True

    def find_labels(self, annotators: Sequence[str]) -> None:
        """The columns of grades: of one annotator each, of one aspect each, or one."""
        spec = TASKS[self.task]
        own = label_columns([self.ours(name) for name in self.table.columns if name not in self.judged], self.task)
        self.unsure = []  # of an earlier look, for the task
        if annotators:
            self.annotators = rejoined(annotators, self.table.columns)
            self.labels = tuple(c for name in self.annotators for c in columns_of(name, self.table.columns))
        if self.labels:
            return
        if own:
            self.labels = tuple(name for name in self.table.columns if self.ours(name) in own)
            return
        if spec.by_aspect:
            for name in self._aspects():
                self.columns[name] = spec.prefix + plain(name)
                self.labels = (*self.labels, name)
            if self.labels:
                return
        if self.has("annotator") is None and (people := self._people()):
            self._find_annotators(people)
            return
        spared = [name for name in self.free() if (self._is_remark(name) if spec.pairs else self._is_no_grade(name))]
        names = {name: plain(name) for name in self.free() if name not in spared}
        known = [*(n for label in spec.labels for n in (label, *also_called(label))), "grade", *also_called("grade")]
        ranked = [name for wanted in known for name, own in names.items() if own == wanted and self.looks_graded(name)]
        ranked += [name for name in names if self.looks_graded(name) and name not in ranked]
        people = [name for name in ranked if name not in self.machines()]
        if ranked and not people and not self.judged:
            advice = (
                f"Fill in the labels of people, or say that these are some: --map {shlex.quote(ranked[0] + '=grade')}."
            )
            raise InputError(
                [f"{self.table.path}:1: {listed(ranked)} looks like a judge's; grades of people are needed. {advice}"]
            )
        if self.judged and not people:
            seen = f"{self.table.path}:1: column {listed(self.judged)}: a judge's verdicts, as {JUDGED_BY} says"
            advice = (
                "Add a column of each person's grades, or give judgec agreement these and --labels FILE of people's."
            )
            raise InputError([f"{seen}; grades of people are needed. {advice}"])
        if self.judged:
            self._find_annotators(people[:1])
            return
        if not ranked:
            seen = f"{self.table.path}:1: no column looks like labels (a few words, or numbers in a narrow range)"
            advice = f"Name it, for example --map THEIRS={spec.labels[0]}."
            raise InputError([f"{seen}; free are {listed(self.free()) or 'none'}. {advice}"])
        people = self.without_gold(people)
        settled = [name for name in people if is_adjudicated(name)]
        label = (settled or [name for name in people if not is_computed(name)] or people)[0]
        if self.has("annotator") is None:
            self._doubt_label(label, people)
        self.columns[label] = self._label_of(label)
        self.labels = (label,)

    def without_gold(self, ranked: Sequence[str]) -> list[str]:
        """The columns that may be labels of those in ``annotator``: what says the same for all of an item is none.

        Where no other has a label's name, those on the same scale go first.
        """
        people, raters = list(ranked), self.has("annotator")
        item = self.has("item_id") or self.has("answer") or self.has("document")
        if raters is None or item is None or len(set(map(as_id, self.values(item)))) == len(self.table.rows):
            return people
        gold = [name for name in people if is_adjudicated(name) and self._tells(item, name)]
        rest = [name for name in people if name not in gold]
        known = [name for name in rest if plain(name) in _label_names()]
        alike = [name for name in rest if name not in known and any(self.shares(name, one) for one in gold)]
        if not gold or not (known or alike):
            return people
        self.why["labels"] = f"{listed(gold)} says the same for all annotators of an item: nobody's label"
        return known or alike

    def _doubt_label(self, label: str, others: Sequence[str]) -> None:
        """Say so where another column could as well be the label."""
        if plain(label) in _label_names() or is_adjudicated(label) or words(label) & PEOPLE:
            return
        rest = (name for name in others if name != label and not is_computed(name))
        other = next((name for name in rest if self._holds_grades(name)), None)
        made = [name for name in others if name != label and is_computed(name) and self.shares(label, name)]
        if not made and other is not None and self._holds_grades(label):
            ways = [shlex.quote(f"{name}={self._label_of(name)}") for name in (label, other)]
            self.unsure.append(
                f"{label} and {other} have grades on different scales, and either may be the label. Add "
                f"--map {' or --map '.join(ways)}."
            )
        elif made:
            self.unsure.append(
                f"{label} and {made[0]} have the same grades, and either may be the label. Add "
                f"--map {shlex.quote(f'{label}=grade')} or --map {shlex.quote(f'{made[0]}=grade')}."
            )

    def _holds_grades(self, column: str) -> bool:
        """True for numbers, and for words that are known to be grades."""
        return all(map(is_graded, self.grades(column)))

    def _find_annotators(self, people: Sequence[str]) -> None:
        """Take columns of one person each for the annotators; where each grades several aspects, ``NAME.ASPECT``."""
        self.labels = self.annotators = tuple(people)
        if repeated := {name: own for name, own in self.gradings.items() if set(own) <= set(people)}:
            by = {column: name for name, own in repeated.items() for column in own}
            self.annotators = tuple(dict.fromkeys(by.get(name, name) for name in people))
        elif self._aspects_by_person(people):
            self.annotators = tuple(dict.fromkeys(name.rpartition(".")[0] for name in people))
        elif renamings := _by_aspect(people):
            self.unsure.append(
                f"{self.table.path}:1: {listed(people)} name people and what they graded; one person a column, or "
                f"PERSON.ASPECT, is valid. Say it, with {' '.join(f'--map {shlex.quote(one)}' for one in renamings)}."
            )
        self._doubt_gradings(people)
        self._doubt_machines(self.annotators)
        self.why["annotators"] = f"columns of grades on one scale: {listed(self.annotators)}"

    def _doubt_machines(self, people: Sequence[str]) -> None:
        """Say so where one among people may be a judge, by the name or by what it gave."""
        named = doubtful_among(people)
        for odd, why in ([named, "by the name"], *([[n], why] for n, why in self._unlike(people) if n not in named)):
            if odd:
                rest, every = (shlex.quote(",".join(own)) for own in ([n for n in people if n not in odd], people))
                self.unsure.append(
                    f"{listed(odd)}: a judge or a person, {why}? Add --annotators {rest} where it is a judge, "
                    f"--annotators {every} where it is a person."
                )

    def _doubt_sheets(self, people: Sequence[str]) -> None:
        """Say so where the sheets of a workbook may be no people's."""
        file = self.table.path
        if isinstance(next(iter(self.table.lines), None), SheetRow) and (odd := list(filter(may_be_no_person, people))):
            every, one = shlex.quote(",".join(people)), shlex.quote(f"{file}#{odd[0]}")
            self.unsure.append(
                f"is each of the sheets {listed(people)} a person's? Add --annotators {every} where it is, else give "
                f"{one} in place of the file."
            )

    def _unlike(self, people: Sequence[str]) -> list[tuple[str, str]]:
        """Finds who gave decimals where all others gave whole numbers, or graded all rows where each of several
        others left many out; each with what was seen. Heads that say that they are a person's are believed.
        """
        given = self._given_by(people)
        decimals = {name: sum(one != int(one) for one in own) / max(len(own), 1) for name, own in given.items()}
        found = []
        for name, own in given.items():
            others = [one for one in given if one != name]
            if not own or says_a_person(name):
                continue
            if decimals[name] >= OFTEN and others and not any(decimals[one] for one in others):
                found.append((name, f"with decimals where {listed(others)} gave whole numbers"))
            elif (
                self.has("annotator") is None  # which says that they are people: one of them often grades all
                and len(own) == len(self.table.rows)
                and len(others) >= SEVERAL
                and all(len(given[one]) <= (1 - GAPS) * len(own) for one in others)
            ):
                found.append((name, f"with a grade in every row where {listed(others)} left many out"))
        return found if len(found) == 1 else []

    def _given_by(self, people: Sequence[str]) -> dict[str, list[float]]:
        """The numbers of each person, in a column or in the rows under a name."""
        raters = self.has("annotator")
        if raters is None:
            return {
                one: [n for n in self._numbers(one) if n is not None] for one in people if one in self.table.columns
            }
        found: dict[str, list[float]] = {name: [] for name in people}
        names = self.table.column(raters).each(as_id)
        for name, number in zip(names, self._numbers(self.labels[0]), strict=True) if self.labels else ():
            if number is not None and name in found:
                found[name].append(number)
        return found

    def _numbers(self, column: str) -> list[float | None]:
        """Each row's cell as a number."""
        return list(map(as_number, label_cells(self.table.column(column).cells()).cells))

    def _doubt_gradings(self, people: Sequence[str]) -> None:
        """Say so where columns may be one person's at several times, or several people's."""
        maybe = {name: own.columns for name, own in self.maybe_gradings.items() if set(own.columns) <= set(people)}
        columns = {column for own in maybe.values() for column in own}
        others = list(dict.fromkeys(map(self.person, (name for name in people if name not in columns))))
        if maybe and (others or len(maybe) > 1 or any(self.maybe_gradings[name].worded for name in maybe)):
            ways = (",".join([*others, *maybe]), ",".join([*others, *(name for name in people if name in columns)]))
            self.unsure.append(
                f"are {'; '.join(map(listed, maybe.values()))} repeated gradings of one person? Add --annotators "
                f"{' where they are, else --annotators '.join(map(shlex.quote, ways))}."
            )
        elif (grid := _grid([name for name in people if self.person(name) == name])) and not _by_aspect(people):
            parts = dict.fromkeys(part for _, _, part in grid)
            named = " ".join(f"--map {shlex.quote(f'{name}={who}.{plain(part)}')}" for name, who, part in grid)
            self.unsure.append(
                f"{listed(people)}: is {' or '.join(parts)} who graded, when, or what? Add --annotators "
                f"{shlex.quote(','.join(people))} where each is a person, {named} where it is what they graded; name "
                f"repeated gradings of one person {people[0].split()[0]} 1, {people[0].split()[0]} 2 in the file."
            )

    def _label_of(self, column: str) -> str:
        """Finds which of the task's label columns it is."""
        spec, grades = TASKS[self.task], self.grades(column)
        if spec.by_aspect:
            return spec.prefix + (plain(column) or "grade")
        words = all(map(is_accept_word, grades))
        bits = spec.reads_bits_as_accept and all(as_accept(grade) is not None for grade in grades)
        return "accept" if spec.takes_accept and (words or bits) else spec.labels[0]

    def _aspects_by_person(self, people: Sequence[str]) -> list[str]:
        """The aspects of columns ``NAME.ASPECT``; nothing where others are among them."""
        parts = [name.rpartition(".") for name in people]
        known = {*self.fields, *fields()}
        fits = all(head and (plain(field) in ASPECTS or field in known) for head, _, field in parts)
        return list(dict.fromkeys(field for _, _, field in parts if field not in fields())) if fits else []

    def machines(self) -> tuple[str, ...]:
        """Columns of grades or scores that look like a judge's."""
        aspects = {word for name in ASPECTS for word in (name, *name.split("_"))}
        graded = [
            name
            for name in self.table.columns
            if (name in {*self.judged, *self.free()} or self.ours(name) in _label_names() or name.startswith(PREFIXES))
            and self.ours(name) not in {"agent", "annotator", "group", "rationale"}
            and self._is_scored(name)
            and not TOOK.fullmatch(plain(name))
            and not is_nobodys(self.person(name, maybe=True))
        ]
        found = (*machines_among([name for name in graded if name not in self.judged], aspects), *self.judged)
        metrics = [name for name in graded if name not in found and is_metric(name) and self._is_share(name)]
        people = [name for name in graded if name not in found and name not in metrics and self.looks_graded(name)]
        metrics = [name for name in metrics if people or len(self.grades(name)) > WIDEST]  # a few may be people's
        return tuple(name for name in graded if name in {*found, *metrics, *self.judged})

    def _is_share(self, column: str) -> bool:
        """True for numbers from 0 to 1 that are no marks."""
        numbers = [grade for grade in self.grades(column) if not isinstance(grade, str)]
        return bool(numbers) and min(numbers) >= 0 and max(numbers) <= 1 and self.is_measured(column)

    def _is_scored(self, column: str) -> bool:
        """Numbers, or a few words."""
        grades = self.grades(column)
        numbers = bool(grades) and all(not isinstance(grade, str) for grade in grades)
        if numbers or words(column) & REMARKS or not self.looks_graded(column):
            return numbers
        return all(self.has(side) for side in PAIR) or not self.holds_versions(column)

    def _is_no_grade(self, column: str) -> bool:
        """About the row or what answered: ``Priority``; v1, v2."""
        known = plain(column) in _label_names()
        return (
            TOOK.fullmatch(plain(column)) is not None
            or is_nobodys(self.person(column, maybe=True))
            or (not known and (self.holds_versions(column) or self._is_constant(column)))
            or self._is_dated(column)
        )

    def _is_remark(self, column: str) -> bool:
        """Reasons, by the head, and no winners."""
        return plain(column) in REASON_NAMES and not self._names_winners(column)

    def _is_constant(self, column: str) -> bool:
        """One number in every row of many; a word may be what somebody always says."""
        grades = self.grades(column)
        return len(grades) == 1 and grades.total() >= FEW_ROWS and not isinstance(next(iter(grades)), str)

    def _is_dated(self, column: str) -> bool:
        """Days or times."""
        values = self.values(column)
        return bool(values) and all(isinstance(v, date) or DATED.fullmatch(as_text(v).strip()) for v in values)

    def shares(self, one: str, other: str) -> bool:
        """True where two columns may be on one small scale: numbers of one range, or words of one order."""
        first, second = set(self.grades(one)), set(self.grades(other))
        words = [isinstance(grade, str) for grade in (*first, *second)]
        if not first or not second or (any(words) and not all(words)):
            return False
        if all(words):
            mine, theirs = ({str(word).casefold() for word in each} for each in (first, second))  # Ja and ja
            few = len(mine | theirs) <= MOST_WORDS
            shared = 2 * len(mine & theirs) >= min(len(mine), len(theirs))
            return few and (in_order(mine | theirs) is not None or shared)
        if self.is_measured(one) != self.is_measured(other):
            return False
        spans = [[grade for grade in each if not isinstance(grade, str)] for each in (first, second)]
        (low, high), (least, most) = ((min(each), max(each)) for each in spans)
        within = (low <= least and most <= high) or (least <= low and high <= most)
        near = within or 2 * len(first & second) >= len(first | second)
        return (
            near and (self.looks_graded(one) and self.looks_graded(other)) and max(high, most) - min(low, least) <= 100
        )

    def _people(self) -> list[str]:
        """Columns of one person each, found by their values: all that share one scale; their heads say who is none."""
        pairs = all(self.has(side) for side in PAIR)
        known = _label_names() | {plain(each) for ours in SIDES for each in (ours, *also_called(ours))}
        graded = [
            name
            for name in self.free()
            if self.looks_graded(name)
            and plain(name) not in ASPECTS
            and not TOOK.fullmatch(plain(name))
            and not is_nobodys(self.person(name, maybe=True))
            and (pairs or not self.holds_versions(name))
            and not self._is_dated(name)
        ]
        if pairs:  # grades of each answer may stand beside the winners
            graded = [name for name in graded if self._names_winners(name)] or (
                [name for name in graded if not self._is_on_many_grades(name)] or graded
            )
        machines = self.machines()
        family = self._family([name for name in graded if name not in machines], pairs=pairs)
        constant = [name for name in graded if self._is_constant(name) and name not in family]  # Wave: 2
        if constant and len(graded) - len(constant) >= SEVERAL:
            graded = [name for name in graded if name not in constant]
            self.why["constant"] = f"{listed(constant)}: one number in every row, which nobody gave as a grade"
        people = [name for name in graded if name in family or (name not in machines and plain(name) not in known)]
        made = [name for name in people if name not in family and (is_computed(name) or self._is_mean(name, people))]
        settled = [name for name in people if is_adjudicated(name)]
        people = [name for name in people if name not in made and name not in settled]
        groups = [[name for name in people if self.shares(each, name)] for each in people]
        alike = max(groups, key=lambda group: (len(set(group) & set(family)), len(group)), default=[])
        if len(family) > 1 and not set(family) <= set(alike):
            alike = [name for name in people if name in family or name in alike] if self._is_small(family) else alike
        if len(alike) < 2 or self.has("annotator") is not None:  # one is a column of labels
            return []
        if whole := [name for name in settled if self._is_whole(name, alike)]:
            self.why["labels"] = f"{whole[0]} is what {listed(alike)} settled on"
            return []
        alike += [name for name in settled if any(self.shares(name, one) for one in alike)]
        self._doubt_people(alike, family, groups)
        return [name for name in self.table.columns if name in alike]

    def _is_on_many_grades(self, column: str) -> bool:
        """True for numbers that say no winner, such as 1 to 5."""
        own = self.grades(column)
        return any(not isinstance(grade, str) and grade > CODED for grade in own)

    def _names_winners(self, column: str) -> bool:
        return all(isinstance(grade, str) and winner_of(grade) for grade in self.grades(column))

    def _doubt_people(self, alike: Sequence[str], family: Sequence[str], groups: Sequence[Sequence[str]]) -> None:
        """Say so where other columns could as well be people's."""
        doubts: list[tuple[Sequence[str], Sequence[str]]] = []
        if len(family) > 1 and (more := [name for name in alike if name not in family]):
            doubts.append((family, [*family, *more]))
        rival = [group for group in groups if len(group) == len(alike) and not set(group) & set(alike)]
        if rival and len(family) < 2:  # two heads alike tell whose columns they are
            doubts.append((alike, rival[0]))
        for one, other in doubts:
            self.unsure.append(
                f"who graded: {listed(one)}, or {listed(other)}? Both are columns of grades on one scale. Add "
                f"--annotators {shlex.quote(','.join(one))} or --annotators {shlex.quote(','.join(other))}."
            )

    def _is_mean(self, column: str, people: Sequence[str]) -> bool:
        """True for halves and the like that are the mean of all others' whole grades in every row: ``Endnote``."""
        others = [name for name in people if name != column and all(isinstance(g, int) for g in self.grades(name))]
        if len(others) < 2 or all(isinstance(grade, int) for grade in self.grades(column)):
            return False
        cells = [label_cells(self.table.column(name).cells()).cells for name in (column, *others)]
        rows = [[as_number(cell) for cell in row] for row in zip(*cells, strict=True)]
        full = [[number for number in row if number is not None] for row in rows if None not in row]
        return len(full) > 2 and all(abs(row[0] - sum(row[1:]) / len(others)) < 0.01 for row in full)

    def _is_whole(self, column: str, people: Sequence[str]) -> bool:
        """True where it is filled nearly wherever the people graded; else who settled only what was disputed."""
        graded = [row for row in self.table.rows if any(not is_missing(row.get(name)) for name in people)]
        return sum(not is_missing(row.get(column)) for row in graded) >= WHOLE * len(graded)

    def _is_small(self, names: Sequence[str]) -> bool:
        """True where all that stands in these columns is one small scale."""
        used: Counter[Grade] = sum((self.grades(name) for name in names), Counter())
        numbers = [grade for grade in used if not isinstance(grade, str)]
        if numbers:
            return len(numbers) == len(used) and max(numbers) - min(numbers) <= WIDEST
        return len(used) <= MOST_WORDS

    def _family(self, graded: Sequence[str], *, pairs: bool) -> list[str]:
        """Columns that are numbered or lettered alike, or have one word for those who grade before a name."""
        stems: dict[str, list[str]] = {}
        for name in graded:
            who = " ".join(self.person(name).split())
            found = re.fullmatch(r"(.*?)(?:[ _.\-(#]+|(?<=[a-z])(?![a-z])|(?=\d))(\d+|[A-Za-z])\)?", who)
            head = re.fullmatch(r"([A-Za-zäöüÄÖÜ]+)[ _.\-:(]+(.+?)\)?", who)
            stem = plain(found[1]) if found else ""
            if stem and RATERS.search(stem) and not (pairs and found and found[2].lower() in {"a", "b"}):
                stems.setdefault(stem, []).append(name)
            elif head and RATERS.fullmatch(plain(head[1])) and plain(name) not in also_called("grade"):
                stems.setdefault(plain(head[1]), []).append(name)
        best = max(stems.values(), key=len, default=[])
        return best if len(best) > 1 else []

    def find_judges(self, used: Collection[str]) -> None:
        """Finds what looks like a judge and is nobody's label: columns, and names in the column of annotators."""
        raters = self.has("annotator")
        if raters is not None:
            names = list(dict.fromkeys(map(as_id, self.values(raters))))
            found = machines_among(names)
            self.judges = found if len(found) < len(names) else ()
            rest = [name for name in names if name not in self.judges]
            if self.annotators:  # whom somebody named
                self.judges = tuple(n for n in (*self.judges, *doubtful_among(rest)) if n not in self.annotators)
            else:
                self._doubt_machines(rest)
                self._doubt_sheets(rest)
        self.judges += tuple(name for name in self.machines() if name not in used)
        rest = [name for name in self.free() if name not in {*used, *self.judges} and self.looks_graded(name)]
        people = self.annotators or self.labels
        graders = [*people, *(name for name in rest if not is_computed(name) and not is_nobodys(name))]
        odd = {*doubtful_among(graders), *(name for name, _ in self._unlike(graders))}
        self.judges += tuple(
            name for name in rest if name in odd and any(self.shares(name, one) for one in self.labels)
        )

    def doubt_raters(self) -> list[str]:
        """Say so where a column ``judge`` names others, too: they may be people, or models of unknown names."""
        if not self.rated_in:
            return []
        others = [one for one in dict.fromkeys(map(as_id, self.values(self.rated_in))) if one not in self.judges]
        seen = f"are {listed(others)} of column {self.rated_in} people?"
        typed = f"--map {shlex.quote(self.rated_in)}=annotator"
        return [f"{seen} Add {typed} where they are; verdicts of judges alone are no labels."]

    def doubt_all(self) -> list[str]:
        """Say so where each of those who graded may be a model, by the name."""
        raters = self.has("annotator")
        names = self.annotators or self.labels
        if raters is not None:
            given = dict.fromkeys(map(as_id, self.values(raters)))
            names = tuple(name for name in given if name not in self.judges)
        if not names or not all(map(may_be_a_model, names)):
            return []
        option = f"--annotators {shlex.quote(','.join(names))}"
        return [f"is {listed(names)} a person, by the name? Grades of people are needed. Add {option} where it is."]

    def direction(self, scale: Scale | None) -> list[str]:
        """Say so where 1 may be the best grade: a German Note, a place; a French note of 5 is the best."""
        numbers = [grade for grade in (() if scale is None else scale.grades) if not isinstance(grade, str)]
        if scale is not None and "meanings" in self.why and _falls(scale.meanings) is not None:
            return []
        heads = {word for name in self.labels for word in words(name)}
        german = bool({plain(name) for name in self.table.columns} & GERMAN) and not machines_among(self.labels)
        note = bool(heads & {"note", "noten"}) and (numbers[-1:] == [6] or (german and numbers[-1:] in ([4], [5])))
        if not numbers or min(numbers) < 1 or not (note or heads & BEST_IS_ONE):
            return []
        up = ",".join(map(str, numbers))
        down = ",".join(map(str, reversed(numbers)))
        asked = f"which grade of {listed(self.labels)} is the best?"
        return [f"{asked} Add --grades {down} where it is {numbers[0]}, else --grades {up}."]


def _by_aspect(people: Sequence[str]) -> list[str]:
    """``THEIRS=PERSON.ASPECT`` for heads that each name one of several aspects beside a person; nothing for others."""
    found: list[tuple[str, str, str]] = []
    for name in people:
        pieces = [piece for piece in re.split(r"[\W_]+", name) if piece]
        own = [piece for piece in pieces if plain(piece) in ASPECTS]
        who = "_".join(piece for piece in pieces if piece not in own)
        if len(own) == 1 and who:
            found.append((name, who, own[0]))
    if len(found) < len(people):  # aspects of other names beside known ones: ``Mia Relevanz``, ``Mia Stil``
        found = _grid(people) if any(plain(part) in ASPECTS for _, _, part in _grid(people)) else []
    cells = {(who, plain(aspect)) for _, who, aspect in found}
    several = len({aspect for _, aspect in cells}) > 1 and len(cells) == len(found)
    return [f"{name}={who}.{plain(aspect)}" for name, who, aspect in found] if several else []


def _grid(people: Sequence[str]) -> list[tuple[str, str, str]]:
    """Head, name and part where each of several names has each of several: ``Mia early``, ``Mia late``; else nothing.

    The names stand before the parts or behind them; where an aspect is known, it is a part.
    """
    split = [re.fullmatch(r"\W*(.+?)[\W_]+(\w+)\W*", name) for name in people]
    cells = [(found[0], found[1], found[2]) for found in split if found]
    if any(plain(who) in ASPECTS for _, who, _ in cells):
        cells = [(name, part, who) for name, who, part in cells]
    names, parts = ({plain(cell[at]) for cell in cells} for at in (1, 2))
    distinct = {(plain(who), plain(part)) for _, who, part in cells}
    whole = len(distinct) == len(people) == len(names) * len(parts)
    fits = whole and len(names) > 1 and len(parts) > 1 and not any(RATERS.fullmatch(name) for name in names)
    return cells if fits else []


def _number(value: object) -> Grade | None:
    """A grade; a number with a decimal comma, too."""
    if isinstance(value, str) and DECIMAL_COMMA.fullmatch(value.strip()):
        value = value.strip().replace(",", ".")
    return as_grade(value)


def _label_names() -> frozenset[str]:
    """Usual names of a column of labels."""
    labels = {"grade", "accept", "preference"}
    return frozenset(plain(each) for ours in labels for each in (ours, *also_called(ours)))


def _scale(look: _Look, sheet: Datasheet, said: UserChoices) -> tuple[Scale | None, str]:
    """The scale, and what it was made of; None where the labels need none."""
    spec = TASKS[look.task]
    if sheet.scale is not None and not said.grades:
        return _threshold(sheet.scale, said), f"from {sheet.path}"
    columns = [
        name for name in look.labels if look.ours(name) != "accept" and not name.endswith((".accept", ".rationale"))
    ]
    used = look.grades(*columns)
    if spec.settled or not used:
        return None, ""
    if said.grades:
        own = [grade for word in said.grades if (grade := as_grade(word)) is not None]
        numbers = [one for one in own if not isinstance(one, str)]
        if own == numbers == sorted(numbers, reverse=True):  # 1 is the best: a scale as words
            own = list(map(str, own))
        given = as_scale({"name": _named(look), "grades": own})
        if given.grades == ONE_TO_FIVE:  # as the labels are read
            given = given.model_copy(update={"accept_at": ONE_TO_FIVE_ACCEPT})
        return _threshold(given, said), "as given"
    offered = [grade for word in look.table.offered if (grade := as_grade(word)) is not None]
    if {*used} <= {*offered}:
        used = Counter({grade: used[grade] for grade in offered})
    wide = bool(look.annotators) and all(as_accept(grade) is not None for grade in used)
    if spec.takes_accept and (all(map(is_accept_word, used)) or (wide and spec.reads_bits_as_accept)):
        return None, ""
    seen = ", ".join(f"{grade} ({count})" for grade, count in sorted(used.items(), key=lambda one: str(one[0])))
    grades, position = _ordered(look, used)
    sheet_name, legend = _legend(look, grades)
    numbers = [grade for grade in map(as_grade, legend) if grade is not None and not isinstance(grade, str)]
    if len(numbers) == len(legend) > 1:
        grades = tuple(sorted(numbers))
        position = accepted_from(len(grades))
    if len(grades) == 1:
        raise InputError([one_class(look.table, grades[0], used.total())])
    if spec.name == "relevance" and not any(isinstance(grade, str) for grade in grades):
        position = len(grades) // 2
    at = ONE_TO_FIVE_ACCEPT if grades == ONE_TO_FIVE else grades[position]
    if not legend and not said.rounded and (ends := interval_of(used)):
        whole = Scale(name=_named(look), level="interval", grades=ends, accept_at=_beside_accept(look, grades))
        return _threshold(whole, said), f"{plural(len(used), 'different number')}, some no whole ones, as seen"
    scale = Scale(name=_named(look), grades=grades, accept_at=_beside_accept(look, grades) or at)
    if not legend:
        return _threshold(scale, said), f"seen: {seen}"
    look.why["meanings"] = f"as sheet {sheet_name!r} has them"
    meant = {str(as_grade(value)).casefold(): text for value, text in legend.items()}
    meanings = tuple(meant[str(grade).casefold()] for grade in grades)
    if _falls(meanings):  # 1 is the best
        at = grades[len(grades) - 1 - position]
        best_last = tuple(map(str, reversed(grades)))
        scale = Scale(name=scale.name, grades=best_last, meanings=meanings[::-1], accept_at=str(at))
    else:
        scale = scale.model_copy(update={"meanings": meanings})
    return _threshold(scale, said), f"seen: {seen}; {look.why['meanings']}"


def _legend(look: _Look, grades: Sequence[Grade]) -> tuple[str, dict[str, str]]:
    """The sheet that says what the grades mean, and what it says of each grade; empty where none says it of all."""
    used = {str(grade).casefold() for grade in grades}
    numbers = not any(isinstance(grade, str) for grade in grades)
    seen = {str(grade).casefold() for grade in look.grades(*look.labels)}
    for sheet, said in look.table.legends.items():
        known = {value: text for value, text in said.items() if isinstance(as_grade(value), str) is not numbers}
        keys = {str(as_grade(value)).casefold() for value in known}
        if (seen if numbers else used) <= keys:
            return sheet, known if numbers else {v: t for v, t in known.items() if v.casefold() in used}
    return "", {}


def _by_legend(look: _Look, used: Collection[Grade]) -> tuple[tuple[Grade, ...], int] | None:
    """Words in the order of what another sheet says that they mean; None where that is not known."""
    sheet, legend = _legend(look, [*used])
    ranks = {word: rank for word, said in legend.items() if (rank := rank_of_phrase(said)) is not None}
    if not sheet or len(set(ranks.values())) < len(used):
        return None
    ordered = sorted(used, key=lambda word: {w.casefold(): rank for w, rank in ranks.items()}[str(word).casefold()])
    return tuple(ordered), accepted_from(len(ordered))


def _falls(meanings: Sequence[str]) -> bool | None:
    """True where the first of the meanings is better than the last; None where they do not tell."""
    first, last = rank_of_phrase(meanings[0]), rank_of_phrase(meanings[-1])
    return None if first is None or last is None or first == last else first > last


def _ordered(look: _Look, used: Counter[Grade]) -> tuple[tuple[Grade, ...], int]:
    numbers = sorted(grade for grade in used if not isinstance(grade, str))
    if len(numbers) == len(used):
        whole = [number for number in numbers if isinstance(number, int)]
        if len(whole) == len(numbers) and whole[-1] - whole[0] <= WIDEST:
            first = min(whole[0], 1) if whole[-1] in {5, 10, 7, 3, 4} and whole[0] > 0 else whole[0]
            numbers = list(range(first, whole[-1] + 1))
        return tuple(numbers), accepted_from(len(numbers))
    found = None if numbers else in_order(used) or _by_legend(look, used)
    if found is None:
        raise UserError(
            f"{look.table.path}: the grades in {listed(look.labels)} are {listed(sorted(map(str, used)))}, whose order "
            "is not known; give them worst first. Add --grades WORST,...,BEST."
        )
    return found


def _beside_accept(look: _Look, grades: Sequence[Grade]) -> Grade | None:
    """The threshold that the rows with a grade and an accept beside it follow best."""
    grade, accept = look.has("grade"), look.has("accept")
    if grade is None or accept is None:
        return None
    pairs = [
        (grades.index(position), as_accept(word))
        for row in look.table.rows
        if (position := as_grade(row.get(grade))) in grades and (word := as_grade(row.get(accept))) is not None
    ]
    if not pairs:
        return None
    return max(grades[1:], key=lambda at: sum((one >= grades.index(at)) == yes for one, yes in pairs))


def _threshold(scale: Scale, said: UserChoices) -> Scale:
    at = None if said.accept_at is None else as_grade(said.accept_at)
    if at is None:
        return scale
    if (position := position_of(at, scale)) is None:
        raise UserError(f"--accept-at {at}: not a grade; the grades are {listed(scale.grades)}. Give one of them.")
    return scale.model_copy(update={"accept_at": at if scale.interval else scale.grades[position]})


def _named(look: _Look) -> str:
    """Name of what is graded: the label column's own name where it says something."""
    vague = {plain(each) for each in ("grade", *also_called("grade"))} - ASPECTS
    names = [plain(name) for name in look.labels]
    if len(names) == 1 and names[0] not in vague and not look.annotators and not names[0].startswith("grade"):
        return names[0].replace("_", " ")
    return TASKS[look.task].scale.name
