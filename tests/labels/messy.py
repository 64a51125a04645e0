"""Over forty tables as people keep them, each with what is true of it: who graded, which judges, agents, items, grades.

What is true follows from what was planted, and never from reading the table.
"""

import csv
import datetime as dt
import io
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.table.spreadsheets import Rows, write_xlsx

TEXTS = {  # a question and an answer of an item
    "en": ("What does part {0} cost in the shop?", "It costs {0} euros there."),
    "de": ("Was kostet das Teil {0} im Laden?", "Es kostet dort {0} Euro."),
    "fr": ("Combien coûte la pièce {0} en magasin ?", "Elle coûte {0} euros là-bas."),
    "es": ("¿Cuánto cuesta la pieza {0} en la tienda?", "Allí cuesta {0} euros."),
    "it": ("Quanto costa il pezzo {0} in negozio?", "Lì costa {0} euro."),
    "pt": ("Quanto custa a peça {0} na loja?", "Custa {0} euros na loja."),
    "nl": ("Wat kost onderdeel {0} in de winkel?", "Het kost daar {0} euro."),
    "pl": ("Ile kosztuje część {0} w sklepie?", "Kosztuje tam {0} euro."),
    "ru": ("Сколько стоит деталь {0} в магазине?", "Там она стоит {0} евро."),
    "zh": ("商店里的第{0}号零件的价格是多少钱一件?", "那里的价格是每件{0}欧元,不含税费。"),
}
Grade = int | float | str


@dataclass(frozen=True)
class Answer:
    """An item as it was planted."""

    number: int
    query: str
    text: str
    wanted: str
    agent: str
    grades: Mapping[str, Grade | None]
    judged: float


Cell = Callable[[Answer], object]
Columns = Mapping[str, Cell]


@dataclass(frozen=True)
class Truth:
    """What is true of a table.

    Args:
        graded: By person, how often each grade was given; the person's name is a word of the annotator's.
        items: How many.
        queries: How many.
        scale: Worst first; empty where grades are accept and reject.
        agents: Who answered.
        judges: Columns, or names among the annotators, that are no people's.
        reasons: Labels with a reason.
        left_out: What a note has to name.
        ids: One of the items' identifiers, where a column holds these.
    """

    graded: Mapping[str, Counter[str]]
    items: int
    queries: int
    scale: tuple[Grade, ...]
    agents: frozenset[str] = frozenset()
    judges: frozenset[str] = frozenset()
    reasons: int = 0
    left_out: tuple[str, ...] = ()
    ids: str = ""


@dataclass(frozen=True)
class Planted:
    """Answers to questions by agents, graded by people."""

    answers: Sequence[Answer]
    scale: tuple[Grade, ...]
    people: tuple[str, ...] = field(default=("expert",))

    def truth(self, **more: object) -> Truth:
        """What is true of a table of all of them."""
        graded = {
            who: Counter(str(a.grades[who]) for a in self.answers if a.grades[who] is not None) for who in self.people
        }
        queries = len({one.query for one in self.answers})
        return replace(Truth(graded, len(self.answers), queries, self.scale), **more)  # type: ignore[arg-type]  # fields

    def rows(self, columns: Columns) -> list[list[object]]:
        """A header and a row an answer."""
        return [list(columns), *([cell(one) for cell in columns.values()] for one in self.answers)]


def plant(
    scale: Sequence[Grade],
    people: Sequence[str] = ("expert",),
    *,
    language: str = "en",
    queries: int = 24,
    agents: Sequence[str] = ("",),
    gaps: Sequence[int] = (),
) -> Planted:
    """Grades of people who mostly agree; of the answers at ``gaps`` the last person gave none."""
    draw = random.Random(f"{language} {scale} {people} {queries}")
    question, answer = TEXTS[language]
    answers: list[Answer] = []
    for number in range(queries):
        for agent in agents:
            at = len(answers)
            best = at % len(scale) if at < len(scale) else draw.randrange(len(scale))
            grades: dict[str, Grade | None] = {}
            for who in people:
                slip = draw.choice((0, 0, 0, 0, 1, -1)) if at >= len(scale) else 0
                grades[who] = scale[min(max(best + slip, 0), len(scale) - 1)]
            if at in gaps:
                grades[people[-1]] = None
            price = 30 + 2 * number
            told = price + len(scale) - 1 - best + (0 if not agent else agents.index(agent))
            answers.append(
                Answer(
                    at + 1,
                    question.format(number + 1),
                    answer.format(told),
                    answer.format(price),
                    agent,
                    grades,
                    round(best / (len(scale) - 1), 2),
                )
            )
    return Planted(answers, tuple(scale), tuple(people))


def query(one: Answer) -> object:
    return one.query


def text(one: Answer) -> object:
    return one.text


def wanted(one: Answer) -> object:
    return one.wanted


def agent(one: Answer) -> object:
    return one.agent


def number(one: Answer) -> object:
    return one.number


def by(who: str = "expert", write: Callable[[Grade], object] = lambda grade: grade, none: object = "") -> Cell:
    """A person's grade, written in a way."""
    return lambda one: none if (grade := one.grades[who]) is None else write(grade)


def always(value: object) -> Cell:
    return lambda _: value


def each(*values: object) -> Cell:
    """One of these after the other."""
    return lambda one: values[one.number % len(values)]


def some(*values: object) -> Cell:
    """One of these in every third row, else nothing."""
    return lambda one: values[one.number // 3 % len(values)] if one.number % 3 == 0 else ""


def judged(top: float = 1.0) -> Cell:
    """A judge's score from 0 to ``top``."""
    return lambda one: round(one.judged * top, 2)


def comma(value: object) -> str:
    return str(value).replace(".", ",")


def mean(values: Sequence[Grade | None]) -> float:
    own = [value for value in values if isinstance(value, int | float)]
    return round(sum(own) / len(own), 2)


def mean_of(planted: Planted, who: str) -> float:
    return mean([one.grades[who] for one in planted.answers])


def words(rows: Rows, delimiter: str = ",") -> str:
    """Rows as delimited text."""
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return out.getvalue()


Made = tuple[str, bytes | tuple[Mapping[str, Rows], Sequence[str]], Truth]
TABLES: dict[str, Callable[[], Made]] = {}


def table(make: Callable[[], Made]) -> Callable[[], Made]:
    TABLES[make.__name__] = make
    return make


def written(name: str, folder: Path) -> tuple[Path, Truth]:
    """The file of a table, and what is true of it."""
    suffix, content, truth = TABLES[name]()
    path = folder / f"{name}{suffix}"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        write_xlsx(path, content[0], merged=content[1])
    return path, truth


def delimited(rows: Rows, truth: Truth, delimiter: str = ",", encoding: str = "utf-8", suffix: str = ".csv") -> Made:
    return suffix, words(rows, delimiter).encode(encoding), truth


def workbook(sheets: Mapping[str, Rows], truth: Truth, *merged: str) -> Made:
    return ".xlsx", (sheets, merged), truth


ONE_TO_FIVE = (1, 2, 3, 4, 5)
TWO = ("Mia", "Noah")
R1_R2 = frozenset({"r1", "r2"})


@table
def title_above_the_header() -> Made:
    own = plant(ONE_TO_FIVE, TWO)
    rows = own.rows({"Question": query, "Answer": text, "Mia": by("Mia"), "Noah": by("Noah")})
    return workbook({"Q3": [["Evaluation of the shop bot, Q3"], [], ["Draft, not final"], [], *rows]}, own.truth())


@table
def title_above_the_header_of_a_csv() -> Made:
    own = plant(ONE_TO_FIVE, TWO)
    rows = own.rows({"Question": query, "Answer": text, "Score Mia": by("Mia"), "Score Noah": by("Noah")})
    return delimited([["Support bot evaluation", "", "", ""], [""] * 4, *rows], own.truth())


@table
def titel_ueber_dem_kopf() -> Made:
    own = plant(ONE_TO_FIVE, ("Lena", "Tim"), language="de")
    rows = own.rows({"Frage": query, "Antwort": text, "Lena": by("Lena"), "Tim": by("Tim"), "Bemerkung": some("passt")})
    said = "Auswertung Servicebot\nStand;12.03.2026\n\n" + words(rows, ";")
    return ".csv", said.encode("cp1252"), own.truth(reasons=2 * 8)


@table
def excel_names_its_separator() -> Made:
    own = plant(ONE_TO_FIVE, TWO)
    rows = own.rows({"Question": query, "Answer": text, "Mia": by("Mia"), "Noah": by("Noah")})
    return ".csv", b"\xef\xbb\xbf" + ("sep=;\r\n" + words(rows, ";")).encode(), own.truth()


@table
def question_merged_over_its_answers() -> Made:
    own = plant(ONE_TO_FIVE, TWO, queries=12, agents=("r1", "r2"))
    first = {"Question": lambda a: a.query if a.agent == "r1" else "", "Model": agent, "Answer": text}
    rows = own.rows({**first, "Mia": by("Mia"), "Noah": by("Noah")})
    merged = [f"A{2 + 2 * i}:A{3 + 2 * i}" for i in range(12)]
    return workbook({"Sheet1": rows}, own.truth(agents=R1_R2), *merged)


@table
def heading_merged_over_people() -> Made:
    own = plant((0, 1, 2, 3), ("Ana", "Ben", "Cleo"))
    rows = own.rows({"ID": number, "Question": query, "Answer": text, **{who: by(who) for who in own.people}})
    heading = ["ID", "Question", "Answer", "Ratings (0-3)", "", ""]
    return workbook({"Ratings": [heading, ["", "", "", *own.people], *rows[1:]]}, own.truth(ids="1"), "D1:F1")


@table
def mittelwert_darunter() -> Made:
    own = plant(ONE_TO_FIVE, ("Lena", "Tim"), language="de")
    rows = own.rows({"Nr.": number, "Frage": query, "Antwort": text, "Lena": by("Lena"), "Tim": by("Tim")})
    means = ["Mittelwert", "", "", *(comma(mean_of(own, who)) for who in own.people)]
    return delimited([*rows, means], own.truth(ids="1", left_out=("Mittelwert",)), ";")


@table
def sum_and_mean_below_an_empty_row() -> Made:
    own = plant((0, 1, 2), TWO)
    rows = own.rows({"No": number, "Question": query, "Answer": text, "Mia": by("Mia"), "Noah": by("Noah")})
    sums = [sum(int(str(one.grades[who])) for one in own.answers) for who in TWO]
    below = [[], ["", "", "Total", *sums], ["", "", "Average", *(mean_of(own, who) for who in TWO)]]
    return workbook({"Sheet1": [*rows, *below]}, own.truth(ids="1", left_out=("Total",)))


@table
def footnotes_below() -> Made:
    own = plant(ONE_TO_FIVE, TWO)
    rows = own.rows({"Question": query, "Answer": text, "Mia": by("Mia"), "Noah": by("Noah")})
    below = [[], ["1 = useless, 5 = perfect"], ["Exported on 2026-03-01 by Mia"]]
    return workbook({"Sheet1": [*rows, *below]}, own.truth(left_out=("Exported on",)))


@table
def sections_between_rows() -> Made:
    own = plant(ONE_TO_FIVE, ("Lena", "Tim"), language="de")
    rows = own.rows({"Frage": query, "Antwort": text, "Lena": by("Lena"), "Tim": by("Tim")})
    rows.insert(13, ["Kapitel 2: Versand", "", "", ""])
    rows.insert(1, ["Kapitel 1: Preise", "", "", ""])
    return delimited(rows, own.truth(left_out=("Kapitel 1",)), ";")


@table
def header_repeated_on_each_page() -> Made:
    own = plant(ONE_TO_FIVE, TWO)
    rows = own.rows({"Question": query, "Answer": text, "Mia": by("Mia"), "Noah": by("Noah")})
    return delimited([*rows[:9], rows[0], *rows[9:17], rows[0], *rows[17:]], own.truth())


@table
def decimal_commas() -> Made:
    own = plant((1, 1.5, 2, 2.5, 3), ("Marie", "Paul"), language="fr", queries=40)
    rows = own.rows(
        {
            "Question": query,
            "Réponse": text,
            "Marie": by("Marie", comma),
            "Paul": by("Paul", comma),
            "Commentaire": some("bien", "trop long"),
        }
    )
    return delimited(rows, own.truth(reasons=2 * 13), ";")


@table
def percent() -> Made:
    own = plant((0, 0.25, 0.5, 0.75, 1), TWO)

    def shown(grade: Grade) -> str:
        return f"{100 * float(grade):g} %"

    rows = own.rows({"Question": query, "Answer": text, "Mia": by("Mia", shown), "Noah": by("Noah", shown)})
    return delimited(rows, own.truth())


@table
def marks_of_nothing() -> Made:
    own = plant(ONE_TO_FIVE, TWO, gaps=(2, 7, 11, 15))
    nothing = {3: "n/a", 8: "-", 12: "N/A", 16: "—"}
    noah = by("Noah")
    rows = own.rows(
        {"Question": query, "Answer": text, "Mia": by("Mia"), "Noah": lambda a: nothing.get(a.number) or noah(a)}
    )
    return delimited(rows, own.truth())


@table
def stray_text_among_grades() -> Made:
    own = plant(ONE_TO_FIVE, TWO, queries=30, gaps=(4, 9))
    stray = {5: "see comment", 10: "ask Tom"}
    noah = by("Noah")
    rows = own.rows(
        {"Question": query, "Answer": text, "Mia": by("Mia"), "Noah": lambda a: stray.get(a.number) or noah(a)}
    )
    return workbook({"Sheet1": rows}, own.truth(left_out=("see comment", "ask Tom")))


@table
def numbers_dates_and_constants() -> Made:
    own = plant(ONE_TO_FIVE, TWO)
    day = dt.date(2026, 3, 1)
    rows = own.rows(
        {
            "Nr": number,
            "Date": lambda a: day + dt.timedelta(days=a.number % 4),
            "Project": always("ACME"),
            "Wave": always(2),
            "Question": query,
            "Answer": text,
            "Mia": by("Mia"),
            "Noah": by("Noah"),
        }
    )
    return workbook({"Sheet1": rows}, own.truth(ids="1"))


@table
def version_and_models_judge() -> Made:
    own = plant(ONE_TO_FIVE, TWO, queries=12, agents=("r1", "r2"))
    columns = {"No": number, "Customer question": query, "Version": agent, "Reply": text, "Ideal reply": wanted}
    rows = own.rows(
        {**columns, "Score Mia": by("Mia"), "Score Noah": by("Noah"), "GPT-4 Judge": by("Mia"), "Comment": some("ok")}
    )
    return workbook({"S": rows}, own.truth(agents=R1_R2, judges=frozenset({"GPT-4 Judge"}), reasons=16, ids="1"))


@table
def names_with_an_apostrophe() -> Made:
    own = plant(ONE_TO_FIVE, TWO, queries=12, agents=("alpha-bot", "beta-bot"))
    rows = own.rows(
        {
            "prompt": query,
            "bot": agent,
            "response": text,
            "Mia's score": by("Mia"),
            "Noah’s score": by("Noah"),
            "llm_judge": judged(5),
        }
    )
    agents = frozenset({"alpha-bot", "beta-bot"})
    return delimited(rows, own.truth(agents=agents, judges=frozenset({"llm_judge"})))


@table
def automatic_score() -> Made:
    own = plant(("bad", "fair", "good"), ("Mia", "Noah", "Zoe"))
    rows = own.rows({"Question": query, "Answer": text, **{who: by(who) for who in own.people}, "auto score": judged()})
    return delimited(rows, own.truth(judges=frozenset({"auto score"})), "\t", suffix=".tsv")


@table
def bewertungsbogen() -> Made:
    own = plant(("nein", "teilweise", "ja"), ("Lena", "Tim"), language="de", queries=12, agents=("v1", "v2"))
    rows = own.rows(
        {
            "Nr": number,
            "Frage": query,
            "Antwort": text,
            "Gewünschte Antwort": wanted,
            "Ausführung": agent,
            "Prüferin Lena": by("Lena"),
            "Prüfer Tim": by("Tim"),
            "KI-Wert": lambda a: comma(a.judged),
            "Bemerkung": some("passt", "falsch"),
        }
    )
    agents = frozenset({"v1", "v2"})
    truth = own.truth(agents=agents, judges=frozenset({"KI-Wert"}), reasons=16, ids="1")
    return delimited(rows, truth, ";", "cp1252")


@table
def legend_on_another_sheet() -> Made:
    own = plant(ONE_TO_FIVE, ("Lena", "Tim"), language="de")
    meanings = ("völlig falsch", "überwiegend falsch", "teils richtig", "überwiegend richtig", "völlig richtig")
    rows = own.rows({"Frage": query, "Antwort": text, "Note Lena": by("Lena"), "Note Tim": by("Tim")})
    legend: Rows = [["Note", "Bedeutung"], *([grade, said] for grade, said in zip(ONE_TO_FIVE, meanings, strict=True))]
    return workbook({"Legende": legend, "Noten": rows}, own.truth())


@table
def read_me_before_the_ratings() -> Made:
    own = plant((1, 2, 3), TWO)
    rows = own.rows({"Question": query, "Answer": text, "Rater Mia": by("Mia"), "Rater Noah": by("Noah")})
    about: Rows = [["How to rate", ""], ["1", "wrong"], ["2", "partly right"], ["3", "right"]]
    truth = own.truth()
    return workbook({"Read me": about, "Ratings": rows, "Chart": [["Mean", 2.1]]}, truth)


@table
def one_row_a_person() -> Made:
    own = plant(ONE_TO_FIVE, ("Lena", "Tim"), language="de", queries=12)
    rows: list[list[object]] = [["Datum", "Bewerter", "Frage", "Antwort", "Bewertung", "Kommentar"]]
    for who in own.people:
        rows += [["01.03.2026", who, one.query, one.text, one.grades[who], some("gut so")(one)] for one in own.answers]
    return delimited(rows, own.truth(reasons=8), ";")


@table
def answers_of_a_form() -> Made:
    people = ("mia@example.org", "noah@example.org")
    own = plant(ONE_TO_FIVE, people, queries=12)
    rows: list[list[object]] = [["Timestamp", "Email Address", "Question", "Answer", "How good is the answer?"]]
    for who in own.people:
        rows += [["3/1/2026 10:12:03", who, one.query, one.text, one.grades[who]] for one in own.answers]
    return delimited(rows, own.truth())


@table
def graded_again() -> Made:
    own = plant(ONE_TO_FIVE, TWO, queries=20)
    rows: list[list[object]] = [["question", "answer", "rater", "rating"]]
    for who in TWO:
        rows += [[one.query, one.text, who, one.grades[who]] for one in own.answers]
    rows += [[one.query, one.text, "Mia", one.grades["Mia"]] for one in own.answers[:10]]
    return delimited(rows, own.truth(left_out=("10 of 10",)))


@table
def score_of_each_rater() -> Made:
    own = plant(ONE_TO_FIVE, TWO, queries=20)
    rows: list[list[object]] = [["Question", "Answer", "Rater", "Score"]]  # ``Score`` alone may be a machine's
    for who in TWO:
        rows += [[one.query, one.text, who, one.grades[who]] for one in own.answers]
    return delimited(rows, own.truth())


@table
def same_text_of_two_models() -> Made:
    own = plant((1, 2, 3), queries=12, agents=("large", "small"))
    own = replace(own, answers=[replace(one, text=one.wanted) for one in own.answers])
    rows = own.rows({"question": query, "model": agent, "answer": text, "rating": by()})
    return delimited(rows, own.truth(agents=frozenset({"large", "small"})))


@table
def two_answers_beside_each_other() -> Made:
    own = plant(ONE_TO_FIVE, TWO, queries=14, agents=("r1", "r2"))
    heads: list[object] = [
        "Customer question",
        "Ideal reply",
        "Reply r1",
        "Reply r2",
        "Mia r1",
        "Mia r2",
        "Noah r1",
        "Noah r2",
    ]
    rows: list[list[object]] = [heads]
    for one, two in zip(own.answers[::2], own.answers[1::2], strict=True):
        grades = [answer.grades[who] for who in TWO for answer in (one, two)]
        rows.append([one.query, one.wanted, one.text, two.text, *grades])
    return workbook({"Sheet1": rows}, own.truth(agents=R1_R2))


@table
def spanish() -> Made:
    own = plant(ONE_TO_FIVE, ("Ana", "Luis"), language="es", gaps=(4,))
    rows = own.rows(
        {
            "Nº": number,
            "Pregunta": query,
            "Respuesta": text,
            "Respuesta esperada": wanted,
            "Calificación Ana": by("Ana"),
            "Calificación Luis": by("Luis"),
            "Observaciones": some("bien"),
        }
    )
    means = ["", "", "", "Promedio", mean_of(own, "Ana"), mean_of(own, "Luis"), ""]
    return delimited([*rows, means], own.truth(reasons=16, ids="1", left_out=("Promedio",)), ";", "cp1252")


@table
def italian() -> Made:
    own = plant((1, 2, 3, 4), ("Anna", "Luca"), language="it")
    rows = own.rows({"Domanda": query, "Risposta": text, "Voto Anna": by("Anna"), "Voto Luca": by("Luca")})
    below = ["Totale", "", *(sum(int(str(a.grades[who])) for a in own.answers) for who in own.people)]
    return workbook({"Foglio1": [["Valutazione del bot"], *rows, below]}, own.truth(left_out=("Totale",)))


@table
def portuguese() -> Made:
    own = plant(("ruim", "regular", "bom"), ("Ana", "João"), language="pt")
    rows = own.rows({"Pergunta": query, "Resposta": text, "Avaliação Ana": by("Ana"), "Avaliação João": by("João")})
    return delimited(rows, own.truth(), ";")


@table
def dutch() -> Made:
    own = plant(ONE_TO_FIVE, ("Jan", "Piet"), language="nl", queries=12, agents=("v1", "v2"))
    rows = own.rows(
        {
            "Vraag": query,
            "Antwoord": text,
            "Versie": agent,
            "Score Jan": by("Jan"),
            "Score Piet": by("Piet"),
            "Opmerkingen": some("prima"),
        }
    )
    means = ["Gemiddelde", "", "", *(comma(mean_of(own, who)) for who in own.people), ""]
    truth = own.truth(agents=frozenset({"v1", "v2"}), reasons=16, left_out=("Gemiddelde",))
    return delimited([*rows, means], truth, ";")


@table
def polish() -> Made:
    own = plant(ONE_TO_FIVE, ("Ewa", "Jan"), language="pl")
    rows = own.rows({"Pytanie": query, "Odpowiedź": text, "Ocena Ewa": by("Ewa"), "Ocena Jan": by("Jan")})
    return workbook({"Arkusz1": rows}, own.truth())


@table
def russian() -> Made:
    own = plant((0, 1, 2), ("Анна", "Иван"), language="ru")
    rows = own.rows({"№": number, "Вопрос": query, "Ответ": text, "Анна": by("Анна"), "Иван": by("Иван")})
    sums = [sum(int(str(a.grades[who])) for a in own.answers) for who in own.people]
    return delimited([*rows, ["Итого", "", "", *sums]], own.truth(ids="1", left_out=("Итого",)), ";")


@table
def chinese() -> Made:
    own = plant(ONE_TO_FIVE, language="zh")
    rows = own.rows({"序号": number, "问题": query, "回答": text, "评分": by(), "备注": some("还可以")})
    return workbook({"工作表1": rows}, own.truth(ids="1", reasons=8))


@table
def means_in_a_column() -> Made:
    own = plant(ONE_TO_FIVE, ("Mia", "Noah", "Zoe"))
    rows = own.rows(
        {
            "": number,
            "Question": query,
            "Answer": text,
            **{f"{who} (1-5)": by(who) for who in own.people},
            "Ø": lambda a: mean(list(a.grades.values())),
            "Unnamed: 7": always(""),
        }
    )
    return delimited(rows, own.truth())


@table
def grades_out_of_five() -> Made:
    own = plant(ONE_TO_FIVE, TWO)
    rows = own.rows(
        {"Question": query, "Answer": text, "Mia": by("Mia", "{}/5".format), "Noah": by("Noah", "{}/5".format)}
    )
    return delimited(
        rows,
        own.truth(
            scale=("1/5", "2/5", "3/5", "4/5", "5/5"),
            graded={who: Counter(f"{one.grades[who]}/5" for one in own.answers) for who in TWO},
        ),
    )


@table
def unicode_text_of_excel() -> Made:
    own = plant(("👎", "👍"), TWO)
    rows = own.rows({"Question": query, "Answer": text, "Mia": by("Mia"), "Noah": by("Noah"), "Notes": some("ok")})
    return delimited(rows, own.truth(reasons=16), "\t", "utf-16", ".tsv")


@table
def german_note() -> Made:
    own = plant((6, 5, 4, 3, 2, 1), ("Lena", "Tim"), language="de")
    rows = own.rows({"Frage": query, "Antwort": text, "Note Lena": by("Lena"), "Note Tim": by("Tim")})
    return workbook({"Tabelle1": rows}, own.truth())


@table
def judges_of_unknown_names() -> Made:
    own = plant(ONE_TO_FIVE, TWO)
    rows = own.rows({"Question": query, "Answer": text, "Mia": by("Mia"), "Noah": by("Noah"), "Athena-2": by("Mia")})
    truth = own.truth(judges=frozenset({"Athena-2"}))
    return delimited(rows, truth)


@table
def colours() -> Made:
    own = plant(("rot", "gelb", "grün"), ("Lena", "Tim"), language="de")
    rows = own.rows({"Frage": query, "Antwort": text, "Lena": by("Lena"), "Tim": by("Tim")})
    return workbook({"Ampel": rows}, own.truth())


@table
def decimal_commas_beside_numbers() -> Made:
    own = plant((1, 1.5, 2, 2.5, 3), ("Lena", "Tim"), language="de", queries=40)

    def typed(who: str) -> Cell:
        return lambda a: comma(a.grades[who]) if a.number % 2 else a.grades[who]

    rows = own.rows({"Kundenfrage": query, "Antwort": text, "Punkte Lena": typed("Lena"), "Punkte Tim": typed("Tim")})
    return workbook({"Tabelle1": rows}, own.truth())


@table
def headings_above_every_group() -> Made:
    own = plant(("no", "parcialmente", "sí"), ("Ana", "Pablo"), language="es", gaps=(3, 8))
    rows = own.rows(
        {"Id": number, "Pregunta": query, "Respuesta": text, "Ana": by("Ana"), "Pablo": by("Pablo", none="N/D")}
        | {"Juez LLM": by("Ana")}
    )
    heading = ["Evaluación", "", "", "Personas", "", "Automático"]
    truth = own.truth(ids="1", judges=frozenset({"Juez LLM"}), left_out=("N/D",))
    return workbook({"Hoja1": [heading, *rows]}, truth, "D1:E1")


@table
def counts_of_words_below() -> Made:
    own = plant(("n.i.O.", "i.O."), ("Lena", "Tim"), language="de", queries=30)
    rows = own.rows({"Nr": number, "Anfrage": query, "Antwort": text, "Lena": by("Lena"), "Tim": by("Tim")})
    for word in own.scale:
        counts = [sum(one.grades[who] == word for one in own.answers) for who in own.people]
        rows.append(["", "", f"Anzahl {word}", *counts])
    return delimited(rows, own.truth(ids="1", left_out=("Anzahl i.O.", "Anzahl n.i.O.")), ";", "cp1252")


def crossed(own: Planted, who: str, mark: str = "x", head: str = "{}") -> dict[str, Cell]:
    """A column a grade, with a cross in that of a person's."""
    return {head.format(g): lambda a, g=g: mark if a.grades[who] == g else "" for g in own.scale}  # type: ignore[misc]  # a default binds it


@table
def aangekruist_beside_a_models_column() -> Made:
    own = plant(ONE_TO_FIVE, language="nl", gaps=(6,))
    columns = {"Volgnr": number, "Vraag": query, "Antwoord": text, **crossed(own, "expert"), "GPT-4": judged(5)}
    twice = [list(row) for row in own.rows(columns)]
    twice[7][3:5] = ["x", "x"]
    truth = own.truth(ids="1", judges=frozenset({"GPT-4"}), left_out=(".csv:8 (1, 2)",))
    return delimited(twice, truth, ";")


@table
def angekreuzt_by_two_people_and_never_the_best() -> Made:
    own = replace(plant((1, 2, 3), ("Lena", "Tim"), language="de"), scale=(1, 2, 3, 4))
    heads = ["", "", *["Lena"] * 4, *["Tim"] * 4]
    rows = own.rows(
        {"Frage": query, "Antwort": text}
        | {f"{who} {head}": cell for who in own.people for head, cell in crossed(own, who, "X").items()}
    )
    rows[0] = ["Frage", "Antwort", 1, 2, 3, 4, 1, 2, 3, 4]
    return workbook({"Bogen": [heads, *rows]}, own.truth(), "C1:F1", "G1:J1")


@table
def items_across() -> Made:
    own = plant(ONE_TO_FIVE, ("Sanne", "Mehmet"), language="nl", gaps=(3,))
    rows = own.rows({"Nr.": number, "Vraag": query, "Antwoord": text, "GPT-4o": by("Sanne"), "Sanne": by("Sanne")})
    rows = [[*row, cell] for row, cell in zip(rows, ["Mehmet", *map(by("Mehmet"), own.answers)], strict=True)]
    across = [list(cells) for cells in zip(*rows, strict=True)]
    return delimited(across, own.truth(ids="1", judges=frozenset({"GPT-4o"})), ";")


@table
def ein_blatt_je_prueferin() -> Made:
    own = plant(ONE_TO_FIVE, ("Lena", "Tim"), language="de", gaps=(1, 9))
    both = {"lfd. Nr.": number, "Frage": query, "Antwort": text}
    sheets = {who: own.rows({**both, f"Bewertung {who}": by(who), "Kommentar": some("gut so")}) for who in own.people}
    sheets = {who: [["Bogen von", who], *rows] for who, rows in sheets.items()}
    about: Rows = [["Note", "Bedeutung"], [1, "falsch"], [5, "richtig"]]
    return workbook({"Anleitung": about, **sheets}, own.truth(ids="1", reasons=8 + 8))


@table
def rounds_on_two_sheets() -> Made:
    own = plant(ONE_TO_FIVE, ("Round 1", "Round 2"))
    sheets = {who: own.rows({"Question": query, "Answer": text, "Grade": by(who)}) for who in own.people}
    return workbook(sheets, own.truth())


@table
def dansk_regneark() -> Made:
    own = plant(ONE_TO_FIVE, ("Anna", "Søren"), language="de", queries=12, agents=("v1", "v2"))
    columns = {"Løbenr.": number, "Spørgsmål": query, "Svar": text, "Model": agent, "Vurdering Anna": by("Anna")}
    rows = own.rows(
        {
            **columns,
            "Bemærkning Anna": some("fint"),
            "Vurdering Søren": by("Søren"),
            "Automatisk vurdering": judged(5),
        }
    )
    judges = frozenset({"Automatisk vurdering"})
    truth = own.truth(agents=frozenset({"v1", "v2"}), judges=judges, ids="1", reasons=8)
    return delimited(rows, truth, ";", "cp1252")


@table
def turkce() -> Made:
    own = plant((0, 1, 2), ("Ayşe", "Mehmet"), gaps=(2,))
    columns = {"Sıra No": number, "Soru": query, "Cevap": text, "Puan Ayşe": by("Ayşe"), "Puan Mehmet": by("Mehmet")}
    rows = own.rows({**columns, "Yapay zeka": judged(2), "Açıklama": some("iyi")})
    truth = own.truth(ids="1", judges=frozenset({"Yapay zeka"}), reasons=8 + 7)
    return workbook({"Sayfa1": [["Değerlendirme formu"], *rows]}, truth)


def crossed_by(own: Planted) -> list[list[object]]:
    """Rows of a number, texts and a cross of each person, without a header."""
    marks = {f"{who} {head}": cell for who in own.people for head, cell in crossed(own, who).items()}
    return own.rows({"Nr": number, "Frage": query, "Antwort": text, **marks})[1:]


@table
def names_above_repeated_grades() -> Made:
    own = plant(ONE_TO_FIVE, ("Lena", "Tim"), language="de")
    above: list[object] = ["", "", "", "Lena", *[""] * 4, "Tim", *[""] * 4]
    heads: list[object] = ["Nr", "Frage", "Antwort", *ONE_TO_FIVE, *ONE_TO_FIVE]
    return delimited([above, heads, *crossed_by(own)], own.truth(ids="1"), ";")


@table
def grades_below_names() -> Made:
    own = plant(ONE_TO_FIVE, ("Lena", "Tim"), language="de")
    heads: list[object] = ["Nr", "Frage", "Antwort", "Lena", *[""] * 4, "Tim", *[""] * 4, "KI"]
    below: list[object] = ["", "", "", *ONE_TO_FIVE, *ONE_TO_FIVE, ""]
    rows = [[*row, one.judged] for row, one in zip(crossed_by(own), own.answers, strict=True)]
    return delimited([heads, below, *rows], own.truth(ids="1", judges=frozenset({"KI"})), ";")


@table
def heading_over_people_without_merged_cells() -> Made:
    own = plant((0, 1, 2, 3), ("Ana", "Ben"))
    rows = own.rows({"ID": number, "Question": query, "Answer": text, "Ana": by("Ana"), "Ben": by("Ben")})
    heads: list[list[object]] = [["ID", "Question", "Answer", "Rating", ""], ["", "", "", "Ana", "Ben"]]
    return workbook({"Ratings": [*heads, *rows[1:]]}, own.truth(ids="1"))


@table
def check_boxes_beside_a_models_score() -> Made:
    own = plant((1, 2, 3))
    boxes = {f"Score {grade}": box(grade) for grade in own.scale}
    rows = own.rows({"S/N": number, "Prompt": query, "Response": text, **boxes, "Bedrock score": by()})
    return delimited(rows, own.truth(ids="1", judges=frozenset({"Bedrock score"})))


def box(grade: Grade) -> Cell:
    return lambda one: "TRUE" if one.grades["expert"] == grade else "FALSE"


@table
def halves_of_a_grader_of_unknown_name() -> Made:
    own = plant(ONE_TO_FIVE, ("Ana", "João"), language="pt", gaps=(1,))
    columns = {"Nº": number, "Pergunta": query, "Resposta": text, "Nota da Ana": by("Ana"), "Nota do João": by("João")}
    rows = own.rows({**columns, "Nota do Quasar": lambda a: f"{a.number % 4 + 1},5" if a.number % 2 else 3})
    judges = frozenset({"Nota do Quasar"})
    return delimited(rows, own.truth(ids="1", judges=judges), ";")


def pairs(question: str, answer: str, system: str, tie: str, language: str) -> Made:
    """Two people and a model who prefer one of two answers, in words of their language."""
    own = plant(("a", "b", "tie"), ("Claire", "Hugo"), language=language)
    said = {"a": "A", "b": "B", "tie": tie}
    columns = {
        question: query,
        f"{system} A": always("Vega"),
        f"{answer} A": wanted,
        f"{system} B": always("Orion"),
        f"{answer} B": text,
        **{who: by(who, lambda grade: said[str(grade)]) for who in own.people},
        "Mistral Large": each("A", "B", tie),
    }
    return delimited(own.rows(columns), own.truth(judges=frozenset({"Mistral Large"})))


@table
def preferences_francaises() -> Made:
    return pairs("Question", "Réponse", "Système", "égalité", "fr")


@table
def preferencias() -> Made:
    return pairs("Pregunta", "Respuesta", "Sistema", "empate", "es")


@table
def voorkeuren() -> Made:
    return pairs("Vraag", "Antwoord", "Systeem", "gelijk", "nl")


@table
def vorlieben() -> Made:
    return pairs("Frage", "Antwort", "Modell", "unentschieden", "de")
