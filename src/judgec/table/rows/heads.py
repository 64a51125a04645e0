"""Tells by their names which columns and annotators are people's, a machine's, computed, or no grades at all.

A name is read word by word: split at spaces, ``_ - .``, digits and camelCase, in any case. A machine's word counts as a
whole word only, so Kai, Aisha and Kira stay people.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from judgec.records.tasks.registry import plain


def _set(text: str) -> frozenset[str]:
    return frozenset(map(plain, text.split()))


JUDGE_HEADS = ("judge", "judge_id", "judge_name", "judge_model")  # of people only where nothing else says who they are
MACHINES = _set(  # models, their makers, metrics, and tools that judge: nobody's name
    """
    ai ai21 aleph alephalpha alibaba alignscore alpaca amazon anthropic armorm artificial artificiale artificielle atla
    athina autoeval autograder autoj autorater azure baichuan baidu bartscore bedrock bertscore bing bleu bleurt bloomz
    bm25 braintrust bytedance chatglm chatgpt chrf codestral cohere colbert comet commandr copilot cosine
    cosinesimilarity cosinus criticgpt crossencoder davinci databricks dbrx deberta deepchecks deepeval deepmind
    deepseek dolly doubao editdistance embedding embeddings eurollm exactmatch exaone f1 factscore flowjudge gemini
    genai geval gigachat giskard glider glm google gpt grok groq guanaco hhem huggingface humanloop hunyuan
    hyperclova ia ibm internlm jamba judgelm jurassic ki kunstmatige kuenstlich kuenstliche lamda langfuse langsmith
    languagemodel levenshtein lfm llama llm llmjudge llms meteor microsoft ministral mistral mixtral moonshot
    moverscore mpnet mrr ndcg nemo nemotron nli nvidia ollama openai openchat opik pandalm patronus perplexity pharia
    pixtral prometheus promptfoo qianwen questeval qwen qwq ragas redpajama rerank reranker rewardmodel roberta rouge
    rougel rougelsum sacrebleu sagemaker sbert selfcheckgpt semanticsimilarity sensenova skywork slm smollm
    sprachmodell sprachmodelle stablelm summac sztuczna taalmodel taalmodellen tekoaly tencent tongyi trulens unieval
    uptrain vectara vertexai vicuna vllm vlm watsonx wizardlm xai yandexgpt yapay zhipu
    ии ші гигачат нейронка нейросеть нейросети
    人工智能 大模型 大语言模型 语言模型 文心一言 通义千问 豆包 星火 人工知能 言語モデル 生成系 인공지능 언어모델
    """
)
AUTOMATIC = _set(  # a machine's, beside words of people too: Evaluador automático
    """
    automat automated automatic automatica automatically automatico automatique automatisch automatische automatischer
    automatisee automatisiert automatisierte automatisk automatiska automatiskt automaticky automatyczna automatyczne
    automatyczny maschinell maschinelle otomatik
    авто автомат автоматическая автоматическии автоматично автоматична автооценка 自动 自動 자동
    """
)
# a machine's where people remain beside it: judges may be people, and a bot may be what is graded
WEAK = AUTOMATIC | _set(
    """
    algorithm algorithme algorithmus algoritme algoritmo algorytm auto baseline bot chatbot classifier computed
    computer detector domare dommer evals giudice heuristic heuristik judge judges juez juge juiz klassifikator
    macchina machine maquina maschine maskin maszyna metric metrica metrik metrique model modele modell modello modelo
    models modelu pipeline predicted prediction rechter reward richter robo robot roboter scorer sedzia similarity
    sistema sudija system systeem systeme system verifier vorhersage
    алгоритм бот машина модель модели робот система судья 机器 机器人 算法 模型 系统
    機械 アルゴリズム ボット モデル システム 알고리즘 기계 모델 봇 시스템
    """
)
SURNAMES = _set("juge richter")  # Anna Richter
LINKING = _set("by da de del della der des do door du durch el la le of par por the van vom von")  # Note du modèle
NAMES_TOO = _set(  # people are called so, and grades
    """
    claude haiku kimi minimax olmo opus score sonnet
    """
)
FAMILIES = _set(  # people are called so, too: a machine's only with a number or an edition: Phi-4, Titan Express
    """
    arctic aya bard bloom command einstein ernie falcon galileo gemma granite hermes koala luminous lynx
    minerva nova nous orca palm phi phoenix pythia reka sabia selene solar starling themis titan watson weave yi zephyr
    """
)
EDITIONS = _set(
    """
    chat express flash high instruct it large lite medium micro mini multimodal nano opus haiku plus premier preview pro
    reasoning small sonnet thinking tiny turbo ultra vision
    """
)
RATINGS = _set(  # what is given: of no weight for who it was
    """
    annotation answer assessment bewertung calificacion check checker checks eval evaluacion evaluation grade grades
    grading jugement label labels nota note noten notes opinion output punkte puntuacion quality rated rating
    ratings reply response result review score scores stars sterne urteil valeur verdict verdicts vote votes wert
    avaliacao beoordeling betyg cijfer evaluacion notas ocena points pontuacao punkt punktzahl puntos valoracion
    valutazione punteggio voto votos wertung балл баллы оценка оцінка 分数 得分 評価 評点 评价 评分 打分 점수 평가
    beoordelingen beurteilung bedomning hodnoceni karakter note oceny oordeel oordelen puan vurdering vurderinger
    """
)
PEOPLE = _set(
    """
    annotateur annotator annotators anotador assessor bewerter bewerterin coder evaluador evaluateur evaluator
    expert experte experten expertin expertos experts grader graders gutachter gutachterin humain human humano
    humans labeler labeller mensch menschen menschlich people person pruefer prueferin rater raters reviewer
    reviewers
    avaliador avaliadora bedommer bedomare beoordelaar beoordelaars clovek człowiek ekspert ekspertka esperta esperto
    evaluadora evaluatrice experta expertes fachexperte granskare hodnotitel korrektor korrektorin lektor lektorin mens
    menselijk oceniajaca oceniający persona personas recenzent recenzentka relecteur relectrice revisor revisora
    revisore uzman valutatore valutatrice
    асессор оценщик разметчик человек эксперт эксперты
    专家 人工 标注员 评估员 评分人 评审员 審査員 専門家 評価者 평가자 전문가
    """
)
COMPUTED = _set(  # of what the people gave
    """
    aggregate aggregated aggregiert average averaged avg consenso consensus durchschnitt durchschnittlich konsens
    majoritaire majority mayoria mean median mediana mediane mehrheit mehrheitlich mittel mittelwert moyenne
    promedio schnitt gemiddelde medie gennemsnit medelvaerde medelvarde gjennomsnitt srednia prumer keskiarvo ortalama
    среднее средний 平均 平均値 平均值 均值 평균
    """
)
COMPUTED_ALONE = _set(  # the same, where no name stands beside it
    """
    combined endgueltig final finale gesamt media mode modus overall sum summe total
    """
)
SUMMARIES = _set(  # of rows below a table, beside these
    """
    abw abweichung anzahl count dev deviation deviazione ecart gesamtsumme insgesamt itog lacznie max maximum
    min minimum n nombre numero razem sd soma somma stabw standardabweichung std stddev stdev subtotal suma sum
    summa toplam totaal totale totales totali totals varianz variance zwischensumme итог итого всего сумма 合計 合计
    总计 總計 小计 합계
    """
)
ADJUDICATED = _set(  # what people settled on
    """
    adjudicated adjudication geschlichtet gold golden goldstandard reconciled schlichtung
    """
)
NOBODYS = _set(  # about the row or the answer
    """
    age alter anzahl attempt ausfuehrung batch build category chunk confiance confianza confidence count date datum
    dauer day difficulte difficulty dificultad dringlichkeit duration durchlauf epoch fold gewicht importance
    iteration jahr kategorie konfidenz laenge language lauf length monat month order platz position prio prioridad
    prioritaet priorite priority rang rank ranking reihenfolge release round run runde runs schritt schweregrad
    schwierigkeit schwierigkeitsgrad seed severity sicherheit split sprache status step tag temperatur temperature
    thema time topic trial turn urgency variant variante version versions versuch week weight wichtigkeit woche year
    zeit
    """
)
THINGS = _set(  # the same where the head says no more: Team, Top k; and not Source quality
    """
    archive archived archiviert archivado abteilung bearbeitet branche brouillon canal channel character characters
    chunk chunks citation citations cluster closed complete completed country deleted departamento departement
    department doc docs document documents domain domaene doublon done draft dringend duplicate duplicated duplicado
    duplikat duree ebene edited eliminado entwurf equipe equipo erledigt escalated eskaliert etape etapes
    etiqueta ferme flag flagged followup fuentes gelesen geloescht geloest geschlossen group grupo
    groupe gruppe hop hops hidden idioma intern internal k kanal kapitel land langue level line lines locale longueur
    markiert market message messages mot mots new nivel niveau nuevo oeffentlich offen open ouvert pagina paginas page
    pages pais palabras paragraph paragraphs passage passages pays phrase phrases pinned privat private processed
    produit produkt product prompt prompts template public publie published quarter quelle quellen query queries read
    rechtsgebiet region
    requetes resolu resolved resuelto retries retry satz saetze schicht section sections segment seite seiten sentence
    sentences set shift site size source sources spam split sprachen stufe stage step steps stunde hour
    subtopic suchen sujet supprime tema team test theme thread tier titre token tokens tool tools top translated tries
    try turn turns typ type uebersetzt unterthema updated urgent urgente veroeffentlicht versuche visible woerter word
    words wort  wiederholungen zeichen zeile zeilen zielgruppe
    """
)
_BESIDE = _set("at calls count de des du is ist la le max min of per pro the used")  # between words of things
COUNTERS = _set(
    """
    id ids idx index laufnr laufnummer lfd lfdnr laufende lopenr lopenummer løbenr løbenummer løpenr løpenummer löpnr
    löpnummer no nr nro num numer number numero nummer row sorszám volgnr volgnummer zeile zeilennr zeilennummer
    номер 序号 番号 编号 行号 連番 通し番号 번호 순번 연번
    """
)
COUNTERS_ALONE = _set(  # the same, where the head says no more
    "c case crt example fall item lp n p poř pos s sample sıra sira sl sr stt urut з п порядковый"
)
VERSIONS = _set(  # of what answered
    """
    agent assistant assistent ausfuehrung bot build chatbot config configuration durchlauf engine fassung
    konfiguration lauf model modele modell modello modelo release run setup sistema system systeme variant variante
    versao versie version versione versions wersja версия модель 模型 版本 모델 버전
    """
)
ASPECTS = _set(  # what is graded
    """
    accuracy answer_relevance clarity coherence completeness conciseness consistency context_relevance correctness
    creativity depth engagement factuality faithfulness fluency genauigkeit groundedness harmlessness helpfulness
    informativeness korrektheit naturalness politeness precision readability relevance relevanz safety style tone
    truthfulness understandability usefulness verbosity verstaendlichkeit vollstaendigkeit
    """
)
METRICS = ASPECTS | _set(  # what tools measure from 0 to 1
    """
    answer_correctness answer_relevancy answer_similarity bias context_entity_recall context_precision
    context_recall context_relevancy contextual_precision contextual_recall contextual_relevancy factual_correctness
    groundedness hallucination hallucinations halluzination harmfulness knowledge_retention noise_sensitivity
    prompt_alignment relevancy_metric relevancy_score role_adherence semantic_similarity summarization
    task_completion tool_correctness toxicity toxizitaet
    """
)
LOW_IS_GOOD = _set(
    """
    bias biased distance editdistance hallucinated hallucination hallucinations halluzination halluzinationen harmful
    harmfulness levenshtein noise perplexity stereotype toxic toxicity toxizitaet
    """
)
ROLES = _set(  # of several people: ``Nurse 1`` and ``Nurse 2`` are two
    """
    agency anwalt arzt aerztin author clinic clinician crowd customer doctor dr freelancer group gruppe intern junior
    kunde kundin lab lawyer lehrer lehrerin linguist medic member nurse patient pflege physician professor radiologist
    resident rev senior site specialist speaker student team teacher turker user worker
    """
)
TIMES = _set(  # at which somebody grades once more
    """
    attempt day durchgang durchlauf essai lauf mal pass phase rep repeat repetition replicate ronda round run runde
    session sitzung tag take test time tour trial visit vuelta wave week woche zeit zeitpunkt
    """
)
SHEETS = _set(  # what spreadsheets call a sheet that nobody named, and copies
    """
    ark arkusz backup blad blatt copia copie copy data daten feuil feuille foglio hoja kopia kopie list munkalap
    new planilha sayfa sheet tabelle taul taulukko лист аркуш 工作表 シート 시트
    """
)
ORDINALS = {
    word: number
    for number, said in enumerate(
        (
            "first erste erster erstes premier premiere primera primero prima primo test initial",
            "second zweite zweiter zweites deuxieme seconde segunda segundo seconda secondo",
            "third dritte dritter drittes troisieme tercera tercero terza terzo",
            "again nochmal repeat repeated retest wiederholt wiederholung",
        ),
        1,
    )
    for word in said.split()
}
_UPPER, _LOWER = "A-ZÀ-ÖØ-Þ", "a-zß-öø-ÿ"
_CAMELS = (  # AIGrade, and AIgrade
    re.compile(rf"[{_UPPER}]+(?=[{_UPPER}][{_LOWER}])|[{_UPPER}]?[{_LOWER}]+|[{_UPPER}]+"),
    re.compile(rf"[{_UPPER}]{{2,}}|[{_UPPER}]?[{_LOWER}]+|[{_UPPER}]"),
)
_LETTERS = re.compile(r"[^\W\d_]+")
_TOKENS = re.compile(r"[^\W_]+")
_EMAIL = re.compile(r"([^@\s]+)@\S+\.\w+")
_GIVEN = "|".join(sorted(RATINGS | {"judge"}, key=len, reverse=True))
_MADE_BY = "|".join(sorted(MACHINES | WEAK | {"claude"}, key=len, reverse=True))
_UNSPACED = "|".join(word for word in sorted(MACHINES | WEAK, key=len, reverse=True) if not word.isascii())
_JOINT = re.compile(rf"({_MADE_BY})(?:{_GIVEN})|(?:{_GIVEN})(gpt|llm|claude|ai|{_UNSPACED})")  # gptscore, llmjudge
_VERSION = re.compile(
    r"[a-z]|(v|r|rev|rc|run|ver|version|release|build|model|modell|system|bot|agent|variante?)[ ._-]?\d+([._-]\w+)*|"
    r"\d+\.\d+\.\d+\w*"
)
_RELEASE = re.compile(r"(?i)[ _./:-](?:\d+(?:\.\d+)?b|v\d+(?:\.\d+)*)(?![^\W_])|(?<![\w.])\d+\.\d+|[^\W\d_]-\d+\.\d+")
_HYPHENED = re.compile(r"([^\W\d_]+(?:-[^\W\d_]+)*)-\d{1,2}")  # Athena-2
_PIECES = re.compile(rf"[^\W_]+?(?=(?<=[{_LOWER}])[{_UPPER}])|[^\W\d_]+(?=\d{{1,2}}(?!\w))|[^\W_]+")  # Mia1, miaRun1
_WHEN = "|".join(sorted(TIMES, key=len, reverse=True))
_WHAT = "|".join(sorted(RATINGS, key=len, reverse=True))  # Rating 1 of a person is no word of time
_TIME = re.compile(
    rf"(?:({_WHEN})_?|(?:{_WHAT})_?|[rst]_?)?(\d{{1,2}})_?(st|nd|rd|th|te|ter|er|e|a|o)?_?(?:({_WHEN})|{_WHAT})?"
)
_ORDINAL = re.compile(rf"({'|'.join(sorted(ORDINALS, key=len, reverse=True))})(?:_(?:({_WHEN})|{_WHAT}))?")
_SHORT = 2  # letters of a word that may as well stand within an identifier such as A2KI8Q
_LONG = 5  # letters from which a word may be written apart: g-eval, exact match
_MANY_LETTERS = 8  # A-H
_REASONING = re.compile(r"(?i)(?<![^\W_])(?:o[134]|4o)(?![^\W_])")  # o1, o3-mini, 4o
_OBSERVER = re.compile(r"(?i)(?<![^\W_])o[25-9](?![^\W_])")  # beside which O1 is one, too


def words(name: str) -> frozenset[str]:
    """The words of a name, in small letters without accents; of an address those before the ``@``."""
    text = found[1] if (found := _EMAIL.fullmatch(name.strip())) else name
    tokens = _TOKENS.findall(text)
    kept = {plain(token) for token in tokens if not token.isdecimal()}
    kept |= {both for pair in pairwise(tokens) if len(both := plain("".join(pair).casefold())) >= _LONG}
    for piece in _LETTERS.finditer(text):
        before, after = text[: piece.start()][-1:], text[piece.end() :]
        within = before.isdecimal() or re.match(r"\d+[^\W\d_]", after) is not None
        for camel in _CAMELS:
            parts = [piece[0], *camel.findall(piece[0])]
            kept |= {word for part in parts if len(word := plain(part.casefold())) > _SHORT or not within}
    return frozenset(kept - {""})


def machine_words(name: str) -> frozenset[str]:
    """The words of a name that no person has, ``gpt`` of ``gptscore`` among them; ``Ki`` of Ki Hoon is none."""
    own = words(name)
    joint = {found[1] or found[2] for word in own if (found := _JOINT.fullmatch(word))}
    sure = ((own | joint) & MACHINES) | {word for word in own if word.endswith(("gpt", "llm"))}
    if sure and all(len(word) <= _SHORT and word.capitalize() in _LETTERS.findall(name) for word in sure):
        return frozenset() if _strange(_spelled(name) - sure) else sure
    return sure


def machines_among(names: Collection[str], aspects: Collection[str] = ()) -> tuple[str, ...]:
    """Finds which of several columns of grades, or annotators, are a machine's.

    Args:
        names: All of them: ``judge``, ``model`` or ``auto`` names a machine only where others remain as people, and
            ``Claude`` only beside two of these.
        aspects: Words that say what is graded.
    """
    distinct = list(dict.fromkeys(names))
    sure = {name for name in distinct if machine_words(name)}
    shared = frozenset.intersection(*map(words, distinct)) if len(distinct) > 1 else frozenset[str]()
    twice = {name for one in gradings_among(tuple(distinct)).values() if one.sure for name in one.columns}
    said = {name: _weak(name, aspects) for name in distinct if name not in sure}
    if any(_OBSERVER.search(name) for name in distinct):
        said = {name: found - {"o"} for name, found in said.items()}
    said = {name: frozenset() if name in twice and found <= FAMILIES else found for name, found in said.items()}
    weak = {name: kept for name, found in said.items() if (kept := found - shared)}
    maybe = {name for name, found in weak.items() if found <= NAMES_TOO and not _says_more(name, found, shared)}
    people = [name for name in said if name not in weak and not is_computed(name) and not is_nobodys(name)]
    others = len(people) + any(words(name) & PEOPLE for name in people)
    alike = Counter(said[name] for name in weak)  # Judge 1, Judge 2
    for name in weak:
        several = name in maybe or alike[said[name]] > 1
        if others + (0 if name in maybe else len(maybe)) >= (2 if several else 1):
            sure.add(name)
    return tuple(name for name in distinct if name in sure)


def doubtful_among(names: Collection[str]) -> tuple[str, ...]:
    """Finds which of several people's names may be a judge's, beside others that may not; no name tells for sure.

    It looks like a system's in a version (``Athena-2``, ``Lynx-8B``, ``rubric_v3``; ``Nurse-1`` is a person, and
    ``Berlin-1`` beside ``Berlin-2``), is a model's and a person's (``Gemma``, ``Claude`` beside one person), or has a
    word for a machine that the others lack (``Acme judge``).
    """
    stems = Counter(_numbered(name) for name in names)
    shared = frozenset.intersection(*map(words, names)) if len(names) > 1 else frozenset[str]()
    found = [
        name
        for name in names
        if (
            not words(name) & (PEOPLE | ROLES | COUNTERS | TIMES)
            and (_RELEASE.search(name) or (len(stem := _numbered(name)) > _SHORT and stems[stem] == 1))
        )
        or (not words(name) & PEOPLE and (may_be_a_model(name) or words(name) & WEAK - shared - SURNAMES))
    ]
    return tuple(found) if len(found) < len(set(names)) else ()


def says_a_person(name: str) -> bool:
    """True for a head that says by itself that somebody graded: ``Expert``, ``Rater 2``, ``Score A``, ``MK``."""
    told = _spelled(name)
    numbered = (
        bool(told)
        and {word for word in told if len(word) > 1} <= RATINGS | ROLES | COUNTERS
        and re.search(r"\d|\b[A-Za-z]\b", name) is not None
    )
    return bool(words(name) & PEOPLE) or numbered or len(name.strip(" .")) <= _SHORT + 1


def may_be_a_model(name: str) -> bool:
    """True for a name that models and people have, beside which none of a person's stands: ``Gemma``, ``score_yi``."""
    told = _spelled(name)
    return bool(told & (FAMILIES | NAMES_TOO - {"score"})) and not _strange(told - LINKING)


def may_be_no_person(name: str) -> bool:
    """True for what a sheet is called that may be nobody's: ``Sheet1``, ``Round 2``, ``v1``, ``Mia (2)``."""
    told = _spelled(name)
    copied = re.search(r"\(\d+\)\s*$", name) is not None
    return bool(told & (SHEETS | TIMES | VERSIONS)) or are_versions([name]) or copied or not told


def _numbered(name: str) -> str:
    """The part before a hyphen and a number at the end; empty for other names."""
    found = _HYPHENED.fullmatch(name.strip())
    return found[1].casefold() if found else ""


def _weak(name: str, aspects: Collection[str]) -> frozenset[str]:
    """The words that may name a machine; none where another one may be a person's."""
    told = _spelled(name)
    if _strange(told - set(aspects) - LINKING - (PEOPLE if told & AUTOMATIC else frozenset())):
        return frozenset()
    family = frozenset(told & FAMILIES) if told & EDITIONS or re.search(r"\d", name) else frozenset[str]()
    given = {"score"} if told & FAMILIES and not family else set[str]()
    return (
        frozenset(told & (WEAK | NAMES_TOO) - given) | family | ({"o"} if _REASONING.search(name) else frozenset[str]())
    )


def _strange(told: Collection[str]) -> bool:
    """True where a word is none of those that say what was given, by what or of what."""
    known = WEAK | NAMES_TOO | FAMILIES | EDITIONS | RATINGS | VERSIONS | NOBODYS | COUNTERS
    return any(len(word) > 1 and word not in known for word in told)


def _spelled(name: str) -> set[str]:
    """The words of a name, each once: of several readings of a token the one with the most known words."""
    known = WEAK | NAMES_TOO | FAMILIES | EDITIONS | RATINGS | PEOPLE | MACHINES
    found: set[str] = set()
    for piece in _LETTERS.findall(name):
        if joint := _JOINT.fullmatch(plain(piece.casefold())):
            found.add(joint[1] or joint[2])
            continue
        split = ([piece], *filter(None, (camel.findall(piece) for camel in _CAMELS)))
        readings = [{plain(part.casefold()) for part in parts} for parts in split]
        found |= max(readings, key=lambda parts: (len(parts & known) / max(len(parts), 1), -len(parts)))
    return found - {""}


def _says_more(name: str, found: frozenset[str], shared: frozenset[str]) -> bool:
    """True where a name says more than what people are called, too: ``claude_score``, ``Claude 3``."""
    if not found - {"score"}:
        return False
    return len(found) > 1 or bool((words(name) - shared) & (RATINGS | EDITIONS)) or bool(re.search(r"\d", name))


def is_computed(name: str) -> bool:
    """True for what is made of the people's grades: a mean, a majority, ``Final``."""
    own = words(name)
    if re.match(r"[Øø⌀∅](?![^\W\d_])", name.strip()):
        return True
    return bool(own & COMPUTED) or (bool(own & COMPUTED_ALONE) and _spelled(name) <= COMPUTED_ALONE | RATINGS)


def is_summary(name: str) -> bool:
    """True for what a row below a table is called that sums it up: ``Zwischensumme``, ``Std. deviation``."""
    told = _spelled(name)
    return bool(told & (SUMMARIES | COMPUTED_ALONE)) and told <= SUMMARIES | COMPUTED | COMPUTED_ALONE | RATINGS | {
        "standard"
    }


def is_metric(name: str) -> bool:
    """True for what tools call a measurement from 0 to 1: ``faithfulness``, ``toxicity_score``."""
    own = plain(name)
    return bool({own, re.sub(r"_(?:score|metric|value|rating)$|^(?:score|metric)_", "", own)} & METRICS)


def is_low_good(name: str) -> bool:
    """True where a name says that a low number is a good one: ``toxicity``, and not ``non_toxic`` or ``bias_free``."""
    own = words(name)
    return bool(own & LOW_IS_GOOD) and not own & {"non", "no", "not", "free", "without", "anti", "inverse", "inverted"}


def is_adjudicated(name: str) -> bool:
    """True for the grade that people settled on."""
    own = words(name)
    return bool(own & ADJUDICATED) or {"ground", "truth"} <= own


def is_nobodys(name: str) -> bool:
    """True for a column about the row or the answer, which nobody gave as a grade."""
    own = words(name)
    counted = bool(own & COUNTERS) and not (own & PEOPLE and re.search(r"\d|\b[A-Za-z]\b", name))
    return bool(own & NOBODYS) or counted or _is_thing(name)


def _is_thing(name: str) -> bool:
    """True for a head of words of things alone; Team 1, Site B and the like may be who graded."""
    told = _spelled(name) - _BESIDE
    rater = bool(told & ROLES) and re.search(r"\d|\b[A-Z]\b", name) is not None
    return bool(told) and told <= THINGS | COUNTERS and not rater


def is_counter(name: str) -> bool:
    """True for a head that counts or numbers the rows, and says no more: ``Nr.``, ``Lfd. Nr.``, ``#``."""
    return name.strip() == "#" or set(plain(name).split("_")) <= COUNTERS | COUNTERS_ALONE


def is_version(name: str) -> bool:
    """True for a column that says which system answered, and not how well."""
    own = words(name)
    return bool(own & VERSIONS) and not own & RATINGS - {"answer", "response", "reply", "output"}


def are_versions(values: Collection[str]) -> bool:
    """True for letters and versions: A, B, C; v1; r2; names of models."""
    found = {value.strip().casefold() for value in values}
    if not found or found <= {"y", "n"} or found <= {"j", "n"} or found <= {"t", "f"}:
        return False
    if len(found) > _MANY_LETTERS and any(len(value) == 1 for value in found):
        return False
    return all(
        _VERSION.fullmatch(value)
        or machine_words(value)
        or "claude" in words(value)
        or _weak(value, ()) & (FAMILIES | {"o"})
        for value in found
    )


@dataclass(frozen=True, slots=True)
class Gradings:
    """Columns that may hold what one person gave at several times, the first time first.

    Args:
        columns: These.
        sure: They do: ``Mia round 1``, ``Mia round 2``; or ``Mia 1``, ``Mia 2`` beside the same of another name.
        worded: A word says that it was another time.
    """

    columns: tuple[str, ...]
    sure: bool
    worded: bool


@lru_cache(maxsize=64)
def gradings_among(columns: tuple[str, ...]) -> dict[str, Gradings]:
    """By name, the columns of one person's repeated gradings; nothing of ``Rater 1`` and ``Rater 2``, who are two."""
    found: dict[str, dict[int, str]] = {}
    names: dict[str, str] = {}
    worded: dict[str, bool] = {}
    for column in columns:
        for name, number, told in _times(column):
            key = plain(name) or name
            if _may_repeat(name, column, told=told) and number not in found.get(key, {}):
                names.setdefault(key, name)
                found.setdefault(key, {})[number] = column
                worded[key] = worded.get(key, False) or told
                break
    heads = {plain(column) or column: column for column in columns}
    for key, own in found.items():
        if key in heads and (1 not in own or own[1] == f"{heads[key]}.1"):  # as pandas names heads that are alike
            names[key] = heads[key]
            own[0] = heads[key]
    several = {key: own for key, own in found.items() if len(own) > 1}
    alike = Counter(frozenset(own) for key, own in several.items() if len(key) > 1)
    return {
        names[key]: Gradings(
            tuple(own[number] for number in sorted(own)),
            not _is_general(names[key])
            and (key not in heads or 0 in own)
            and (worded[key] or (len(key) > 1 and alike[frozenset(own)] > 1)),
            worded[key],
        )
        for key, own in several.items()
    }


def _times(head: str) -> Iterator[tuple[str, int, bool]]:
    """The ways to read a head as a name and the time of a grading, the one with the most words first."""
    spans = [piece.span() for piece in _PIECES.finditer(head)]
    for at in range(len(spans) - 1, 0, -1):
        behind = (head[: spans[-at - 1][1]], head[spans[-at][0] :])
        before = (head[spans[at][0] :], head[: spans[at - 1][1]])
        for name, part in (behind, before):
            said = plain(part)
            if time := _TIME.fullmatch(said):
                yield name.strip(" ()[]{}"), int(time[2]), bool(time[1] or time[3] or time[4])
            elif ordinal := _ORDINAL.fullmatch(said):
                yield name.strip(" ()[]{}"), ORDINALS[ordinal[1]], True


def _is_general(name: str) -> bool:
    """True for words of people and of what they give, without a name or number."""
    own = _spelled(name)
    return bool(own) and own <= PEOPLE | ROLES | WEAK | RATINGS | COUNTERS and not re.search(r"\d", name)


def _is_given(name: str) -> bool:
    """True for what people give, ``Score``, beside which no name stands."""
    return bool(own := _spelled(name)) and own <= RATINGS


def _may_repeat(name: str, head: str, *, told: bool) -> bool:
    """True for a name, and where a word tells the time for what is given; for people in general only where that word
    is none of order (``human run 1``; a first rater is somebody), and never for aspects.
    """
    if plain(name) in ASPECTS:
        return False
    if _is_given(name):
        return told
    if told and words(head) & TIMES:
        return not is_computed(name) and not is_nobodys(name)
    return not _is_general(name) and not is_computed(name) and not is_nobodys(name)
