"""Finds tasks by name: those of the package, and those of plugins under the entry point group ``judgec.judges``."""

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from judgec.errors import UserError
from judgec.records.label import REASON_NAMES
from judgec.records.tasks.built_in import BUILT_IN
from judgec.records.tasks.spec import PREFIXES, TaskSpec

ENTRY_POINTS = "judgec.judges"
USUAL = "grade"  # the task of a file whose columns tell nothing
COMMON = ("grade", "relevance", "answer", "preference")  # the most common first, for advice
ALSO_CALLED: Mapping[str, tuple[str, ...]] = {  # what people and other tools call the columns of several tasks
    "query": (
        *("question", "prompt", "input", "user_input", "instruction", "q", "user_query", "user_question"),
        *("search_query", "user_message", "question_text", "query_text", "topic", "frage", "anfrage", "nutzerfrage"),
        *(
            "suchanfrage",
            "fragestellung",
            "pregunta",
            "domanda",
            "kundenfrage",
            "pergunta",
            "vraag",
            "pytanie",
            "fraga",
        ),
        *("sp\u00f8rgsmal", "sp\u00f8rsmal", "kysymys", "otazka", "soru", "requete", "вопрос", "запрос", "питання"),
        *("问题", "提问", "問題", "質問", "질문"),
    ),
    "answer": (
        *("response", "output", "prediction", "completion", "generated_answer", "text", "model_answer"),
        *(
            "model_output",
            "model_response",
            "actual_output",
            "bot_answer",
            "bot_response",
            "llm_answer",
            "llm_response",
        ),
        *("llm_output", "generated_text", "generated_response", "generation", "answer_text", "reply", "candidate"),
        *("hypothesis", "summary", "predicted_answer", "rag_answer", "antwort", "reponse", "respuesta", "risposta"),
        *("resposta", "antwoord", "odpowiedz", "svar", "vastaus", "odpoved", "cevap", "yanit", "ответ", "відповідь"),
        *("回答", "答复", "回复", "答え", "답변", "응답"),
    ),
    "reference": (
        *("ground_truth", "groundtruth", "reference_answer", "gold", "gold_answer", "golden_answer", "expected"),
        *("expected_output", "expected_answer", "expected_response", "correct_answer", "ideal_answer", "ideal"),
        *("target", "reference_text", "true_answer", "musterantwort", "referenz", "referenzantwort", "solution"),
        *(
            "gewuenschte_antwort",
            "erwartete_antwort",
            "richtige_antwort",
            "soll_antwort",
            "desired_answer",
            "ideal_reply",
        ),
        *("respuesta_esperada", "respuesta_correcta", "reponse_attendue", "reponse_correcte", "risposta_attesa"),
        *("risposta_corretta", "resposta_esperada", "verwacht_antwoord", "modelantwoord", "oczekiwana_odpowiedz"),
        *("эталон", "эталонныи_ответ", "参考答案", "标准答案", "模範解答", "모범답안"),
    ),
    "contexts": (
        *("context", "retrieved_contexts", "retrieval_context", "retrieved_context", "documents", "passages", "chunks"),
        *("sources", "evidence", "retrieved_documents", "retrieved_docs", "passage", "source_documents", "kontext"),
        *("source_text", "article", "document", "quellen"),
    ),
    "grade": (
        *("score", "rating", "label", "human_score", "human_grade", "relevance", "stars", "human_rating"),
        *(
            "human_label",
            "verdict",
            "quality",
            "bewertung",
            "note",
            "punkte",
            "sterne",
            "annotation",
            "thumbs",
            "thumb",
        ),
        *("vote", "feedback", "correctness", "usefulness", "helpfulness", "faithfulness", "accuracy", "correct"),
        *("is_correct", "is_good", "good", "acceptable", "approved", "passed", "is_relevant", "judgement", "judgment"),
        *("evaluation", "human_evaluation", "human_feedback", "urteil", "gold_label", "qrel", "expert_score", "result"),
        *("overall", "overall_rating", "overall_score", "q_overall"),
        *(
            "calificacion",
            "puntuacion",
            "valoracion",
            "voto",
            "valutazione",
            "punteggio",
            "avaliacao",
            "pontuacao",
            "nota",
        ),
        *(
            "beoordeling",
            "cijfer",
            "ocena",
            "betyg",
            "bedomning",
            "karakter",
            "arvosana",
            "hodnoceni",
            "puan",
            "wertung",
        ),
        *("оценка", "балл", "оцінка", "评分", "得分", "分数", "評価", "評点", "평가", "점수"),
    ),
    "annotator": (
        *("rater", "annotator_id", "annotator_name", "rater_id", "reviewer", "reviewer_id", "evaluator", "grader"),
        *("labeler", "labeller", "worker_id", "worker", "expert", "assessor", "coder", "scorer"),
        *("rated_by", "labeled_by", "annotated_by", "reviewed_by", "bewerter", "gutachter", "experte", "pruefer"),
        *("tester", "testerin", "checker", "examiner", "marker", "graded_by", "checked_by", "evaluated_by"),
        *("scored_by", "labelled_by", "verified_by"),
        *("assessed_by", "marked_by", "tested_by", "bewertet_von", "geprueft_von"),
        *("benotet_von", "getestet_von", "annotiert_von", "note_par", "evalue_par", "verifie_par", "evaluado_por"),
        *("bewerterin", "prueferin", "evaluateur", "evaluador", "valutatore", "avaliador", "beoordelaar", "oceniajacy"),
        *("эксперт", "оценщик", "评估员", "标注员", "评分人", "評価者", "평가자"),
    ),
    "item_id": ("id", "row_id", "sample_id", "example_id", "uid", "uuid", "record_id", "item"),
    "query_id": ("question_id", "prompt_id", "topic_id", "qid", "frage_id", "query_number"),
    "agent": (
        *("model", "system", "model_name", "system_name", "bot", "system_id", "model_id", "generator", "modell"),
        *("modele", "modelo", "modello", "модель", "模型", "モテル", "모델"),
    ),
    "rationale": REASON_NAMES[1:],
    "group": ("category", "domain", "segment", "kategorie", "bereich", "department", "language", "subset"),
}
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})


class Tasks(Mapping[str, TaskSpec]):
    """Every task by name; iterated in the order in which inference tries them.

    A plugin comes first where it requires an input that no task of the package reads, and last otherwise: installing
    it changes nothing about files that have no such column. It cannot replace a task of the package.
    """

    def __getitem__(self, name: str) -> TaskSpec:
        """The task called ``name``; raises KeyError when there is none."""
        if name in BUILT_IN:
            return _built_in(name)
        spec = loaded(name)
        if not isinstance(spec, TaskSpec):
            raise KeyError(name)
        return spec

    def __iter__(self) -> Iterator[str]:
        """The names."""
        plugins = {name: spec for name in plugin_names() if isinstance(spec := loaded(name), TaskSpec)}
        known = {column for name in BUILT_IN for column in _built_in(name).inputs}
        first = [name for name, spec in plugins.items() if not set(spec.required) <= known]
        return iter([*first, *BUILT_IN, *(name for name in plugins if name not in first)])

    def __len__(self) -> int:
        """Number of tasks."""
        return sum(1 for _ in self)


TASKS = Tasks()


def as_task(name: str) -> str:
    """The name of a task that there is.

    Raises:
        UserError: When there is none of this name.
    """
    if name not in TASKS:
        raise UserError(
            f"task {name!r} is not known; valid are {', '.join(TASKS)}. Correct --task, "
            "or install the package that brings it."
        )
    return name


def told_by(columns: Iterable[str]) -> TaskSpec | None:
    """The first task that the input columns alone tell, or None."""
    has = set(columns)
    return next((spec for spec in TASKS.values() if spec.told_by and has.issuperset(spec.told_by)), None)


def advised() -> tuple[str, ...]:
    """The tasks that error messages compare a file's columns with: common ones, and those of plugins."""
    return (*COMMON, *(name for name in TASKS if name not in BUILT_IN))


def compares(task: str) -> bool:
    """True when items of the task are pairs of answers."""
    return task in TASKS and TASKS[task].pairs


def finds_modes(task: str) -> bool:
    """True when the labels say which failure modes an answer shows."""
    return task in TASKS and TASKS[task].of_modes


def require_better_above(task: str, where: str) -> None:
    """Check that a higher grade of the task is the better one, as tournaments, audits and probes take it to be.

    Args:
        task: Of a judge.
        where: What named the judge, for the message.

    Raises:
        UserError: A failure that is there is graded above one that is not.
    """
    if finds_modes(task):
        raise UserError(
            f"{where}: a judge of failure modes, which gives 1 to what is wrong; a judge whose higher grade is the "
            "better one is needed. Name one, or count the modes of each system with judgec judge."
        )


def also_called(column: str) -> tuple[str, ...]:
    """Names that other tools give one of our columns."""
    own = (spec.also_called.get(column, ()) for spec in TASKS.values())
    return ALSO_CALLED.get(column) or next(filter(None, own), ())


def plain(name: str) -> str:
    """A column's name without what only looks differ in: ``groundTruth`` is ``ground_truth``, ``Clé`` ``cle``."""
    text = unicodedata.normalize("NFC", _CAMEL.sub("_", name.strip()).casefold()).translate(_UMLAUTS)
    if not text.isascii():
        text = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
        text = unicodedata.normalize("NFC", text).casefold()
    return re.sub(r"[\W_]+", "_", text).strip("_")


def called(name: str) -> bool:
    """True for a column that judgec, people or other tools call an input or a label by."""
    return plain(name) in _known_names() or name.startswith(PREFIXES)


@lru_cache(maxsize=1)
def _known_names() -> frozenset[str]:
    own = (column for spec in TASKS.values() for column in (*spec.inputs, *spec.labels))
    others = (name for spec in TASKS.values() for names in spec.also_called.values() for name in names)
    return frozenset(map(plain, (*own, *others, *(name for names in ALSO_CALLED.values() for name in names))))


def plugin_names() -> tuple[str, ...]:
    """The names under which plugins are installed, sorted; those of the package's own tasks are not among them."""
    return tuple(sorted(_plugins(tuple(sys.path))))


def loaded(name: str) -> object | None:
    """Loads what the plugin ``name`` declares: a ``TaskSpec``, or a function that builds a judge; None: no such plugin.

    Raises:
        UserError: When it cannot be imported, or declares a task under another name.
    """
    plugin = _plugins(tuple(sys.path)).get(name)
    if plugin is None:
        return None
    try:
        found: object = plugin.load()
    except (ImportError, AttributeError, SyntaxError, TypeError, ValueError) as fault:
        raise UserError(
            f"plugin {name} ({plugin.value}): cannot be imported ({fault}); a judgec.tasks.spec.TaskSpec is needed "
            "there. Mend the package that brings it, or uninstall it."
        ) from fault
    if isinstance(found, TaskSpec) and found.name != name:
        raise UserError(
            f"plugin {name} ({plugin.value}): its task is called {found.name!r}; the entry point and the task need "
            "one name. Correct the package that brings it."
        )
    return found


@lru_cache(maxsize=8)
def _plugins(_path: tuple[str, ...]) -> Mapping[str, EntryPoint]:
    """The plugins of an import path: what is installed does not change while it stays the same."""
    return {point.name: point for point in entry_points(group=ENTRY_POINTS) if point.name not in BUILT_IN}


def _built_in(name: str) -> TaskSpec:
    spec: TaskSpec = import_module(f"judgec.records.tasks.{name}").TASK
    return spec
