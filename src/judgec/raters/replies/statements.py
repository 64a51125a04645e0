"""Finds what states a verdict in a reply, and chooses the one that counts: ``FORMS`` says which is the stronger."""

import re
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import cached_property
from typing import NamedTuple

from judgec.raters.refusals import takes_back
from judgec.raters.replies.grades import LONGEST_SIDE, MORE_NUMBER, VALUE, WORDS, Grades, Read, folded
from judgec.raters.replies.objects import few, objects_in, pairs_of
from judgec.raters.replies.said import (
    CUT,
    HIDDEN,
    LONGEST,
    LONGEST_BARE,
    WHOLE,
    WRAPPING,
    Spoken,
    UnreadableReplyError,
    no_verdict,
    quoted_in,
    said,
    short,
)
from judgec.raters.signatures import GRADE
from judgec.records.scale import Scale

AROUND = 160  # characters before and behind a statement that may belong to it

# ---- Words ----


def _words(text: str) -> set[str]:
    return set(text.split())


STRICT = _words("""
score grade rating mark bewertung punktzahl gesamtbewertung gesamtnote endnote endbewertung gesamtpunktzahl schulnote
wertung puntuación puntuacion puntaje calificación calificacion valoración notation évaluation appréciation punteggio
evaluación evaluacion
voto valutazione pontuação pontuacao avaliação classificação cijfer beoordeling eindcijfer betyg poäng karakter
bedømmelse vurdering karakteren poengsum arvosana pisteet ocena hodnocení známka scor punctaj skor pontszám értékelés
puan оценка балл баллы βαθμολογία оцінка điểm 评分 得分 分数 評分 得分 分數 评级 总分 打分 给分
スコア 評価 評点 点数 得点 採点
점수 평점 평가 الدرجة التقييم ציון अंक स्कोर คะแนน""")
VERDICT = _words("""
verdict judgment judgement label assessment relevance relevancy relevanz pertinence relevancia relevância rilevanza
相关性 關聯性 関連性 관련성 classification urteil veredicto verdetto veredito
oordeel quality 判定 判断""")
# What the texts that are judged have, too: "The result is 3, so the student is right."
CONTENT = {"final answer"} | _words("""
result evaluation conclusion category class decision points total ergebnis entscheidung punkte puntos 结论 結論 结果
結果""")
CHOICE = (
    {f"{which} {what}" for which in ("better", "best") for what in ("answer", "response", "reply", "output")}
    | {*("bessere antwort", "beste antwort", "mejor respuesta", "meilleure réponse", "melhor resposta")}
    | _words("""
verdict winner preference preferred choice decision judgment judgement better best pick result gewinner sieger ganador
gagnant 更好的回答 胜者 获胜者 勝者""")
)
NOTES = {"note", "nota"}  # German, French; Spanish, Italian, Portuguese: and in English the beginning of a remark
FINAL = _words("""
final finally overall total definitive ultimate concluding endgültige endgültig finale finaal global globale totale
geral definitiva definitivo итоговая общая финальная 最终 最終 总 総合 综合 最终的 최종 总体 整体 전체 종합""")
FINAL_BEGINS = ("gesamt", "end", "总")  # written together: Gesamtnote
EASTERN_FINAL = re.compile(rf"\A(?:{'|'.join(sorted((w for w in FINAL if w > '一'), key=len, reverse=True))})(?=\w)")
REVISED = _words("""
revised corrected updated adjusted amended reconsidered re-evaluated changed korrigierte überarbeitete revisada
corrigée""")
# What may stand before a label in its sentence; of "Maximum score: 5" nobody knows whose it is.
LEAD = FINAL | REVISED | _words("""
my your new the a an our i so thus therefore hence and then as with is would be it this that gets assign give answer
response answer's numeric numerical resulting assigned given proposed recommended suggested judge's judge quality llm
evaluation relevance here here's binary integer likert ergebnis résultat resultado 相关性 該回答的 该回答的
对该回答的 这个回答的 回答的 答案的
in conclusion summary short accordingly consequently based on above at last also meine
die der das ist la el le les ma mi su una un e il lo o a minha de het 我的 本次 此次 本题
most appropriate suitable fitting judgment judgement
opinion view estimation 评估 评价 평가 답변 답변의 응답 응답의""")  # fmt: skip
_NAMES = STRICT | {"relevance"}
_OTHER = _words("verdict label answer result judgment judgement decision classification category")
_PAIR = _words("preference preferred winner better choice decision judgment judgement")
# Before a name of a grade: it is not the judge's own, or of nothing that is judged.
FOREIGN = _words("""
previous prior old earlier former initial original example sample human humans expert annotator rater people expected
reference gold golden ground truth target baseline min minimum max maximum average mean median other peer""")
JSON_MOST = _words("max_score maxscore max maximum out_of total scale_max max_grade max_rating")
# Of what somebody gives a grade to: "I give it a 4", and not "I give clarity a 4".
OBJECT = _words("""
it it's is this that diese dieser the a an
answer response reply output text summary document passage translation submission essay item
pair one student model student's model's assistant's score grade rating mark of as at with solid strong clear firm weak
full perfect low high fair relevance quality overall final total to die der antwort mit eine note punktzahl von la le de
une un réponse respuesta puntuación de una um uma nota""")
ANSWERS = _words("yes no ja nein oui non sí si")  # "The answer is no." tells what it answers

# ---- Patterns ----

JOINED = re.compile(
    r"s?(?P<paren>[ \t]{0,3}[(\[][^()\[\]\n]{0,40}[)\]]"
    r"|\s(?:out\sof|on\sa\sscale\s(?:of|from))\s\d{1,4}(?:\s?(?:to|-|–)\s?\d{1,4})?)?"
    r"(?:\s{1,2}(?:for|of|to)\s{1,2}(?:this|the)(?:\s{1,2}(?:given|candidate|generated|submitted|system's|assistant's))?"
    r"\s{1,2}(?:answer|response|item|reply|document|passage|summary|text)"
    r"|\s(?:ответа|der\sAntwort|de\sla\s(?:réponse|respuesta)|da\sresposta))?"
    r"(?:(?:[ \t]{1,2}(?P<after>final|finale|globale?|totale?|geral|complessivo|général|générale|obtenida"
    r"|given|awarded|assigned|is|of|was))?"
    r"[\s*_\"'\])]{0,6}(?P<colon>[:=]{1,3}|->|→|=>|⇒|[-–—](?=\s))"
    r"|(?P<cell>[ \t*_]{0,4}\|)"
    r"|[\s*_]{1,4}(?:(?:final|finale|total|totale|global)\s)?(?P<is>is|of|remains|stays|equals|ist|es|est|è|é|was|would\s{1,2}be|will\s{1,2}be|should\s{1,2}be"
    r"|comes\s{1,2}to)(?=[\s:])(?:\sas\sfollows|\sde(?=\s))?[:]?|は|为|為|是|는|은)"
    r"[\s*_`\"'“(\[$<]{0,8}(?:(?:(?-i:an?)(?=[ \t]{1,3}[*_`\"'“(\[]{0,5}(?:\d|score|solid|strong))|is|are|of"
    r"|a\s{1,2}score\s{1,2}of|therefore|now|thus|still|the|simply)\s{1,3}[*_`\"'“(\[]{0,5}){0,2}"
    r"(?:\\(?:boxed|text|textbf|mathbf)\{|\\\(){0,2}",
    re.IGNORECASE,
)
BRACKETED = re.compile(r"[\]】][\s:*_(\[]{0,6}")  # [RESULT] 4
NEXT_LINE = re.compile(r"[ \t*_#:()\d/–-]{0,30}\n\s{0,6}(?P<value>[^\n]{1,60})(?:\n|\Z)")
EXPLAINED = re.compile(
    r"[\s*_#|>-]{0,8}(?:brief |short )?(?:reason|explanation|justification|rationale|feedback|comment|confidence|理由)"
    r"\w{0,4}[*_]{0,3}\s?[:=]",
    re.IGNORECASE,
)
ENDS = re.compile(
    r"[\s*_`\"'”)\]}|$]{0,8}(?:[.!;,。、|\]}(\[<]|\\\)|\Z|\n|(?:(?<=\s)[-–—]|[-–—](?=\w))|(?<=[\s*_])(?:because|as|since"
    r"|due|given|out of|on a scale|rather than|instead of|and not|not(?= (?:an? )?\d)|for the following"
    r"|(?:for|to) (?:this|the)|à (?:cette|la|ce)|bewerten|vergeben|geben|weil|da|denn|porque|car|parce)\b"
    r"|입니다|です|分|点|[\u2600-\u27bf\U0001f300-\U0001faff])",
    re.IGNORECASE,
)
RUBRIC = re.compile(
    r"[^\W\d]{1,3}[ \t*_]{1,3}\d{1,3}[*_]{0,2}:"
)  # "Score 5: it is perfect": one is a verdict, several are none
REPORTS = re.compile(
    r"(?<!\bI )(?<!['’]d )(?<!I would )"
    r"\b(?:says?|(?<!that )(?<!being )said|(?<=that )said(?!,)|states?|stated|mentions?|contains?|ends?"
    r"|reads?|includes?|writes?|wrote|reports?|shows?"
    r"|quotes?|inserts?|adds?|puts?|has|begins?|starts?|outputs?|prints?|appends?|claims?|embeds?|like|called|text"
    r"|phrase|words?|string|example)\b\W{1,3}(?:\w{1,20}\W{1,3}){0,3}\Z",
    re.IGNORECASE,
)
ORDERS = re.compile(
    r"\b(?:asks?|asked|demands?|instructs?|orders?|tells?|told|wants?|requests?|urges?|begs?|tries|attempts?"
    r"|insists?|claims?|suggests?|injects?|pretends?|another"
    r"|according(?!\s(?:to\s)?(?:the\s|this\s|your\s)?(?:given\s)?(?:rubric|scale|criteri|guideline|instruction)\w{0,3}(?!\s(?:of|with|in|by)\b))|others?|reviewers?|graders?|people|users?"
    r"|previous(?:ly)?|earlier|initially|originally|at first|first thought|tempted|inclined|considered|considering"
    r"|hardly|almost|nearly|less than|prevents?|short of|being|more than|at least"
    r"|at most|up to|(?:below|above)(?=\s{1,3}(?:an?\s{1,3})?\Z)|between|if|when|unless|had|might|may|could|would have"
    r"|perhaps|maybe|possibly|typically|usually|normally|believes|thinks|argues|feels|assumes|expects|hopes"
    r"|average|maximum|minimum|max|min|example|wrong answers"
    r"|perfect answers|he|she|they|wenn|falls|si)\b|如果|若|もし",
    re.IGNORECASE,
)
NEGATED = re.compile(
    r"\b(?:instead of|rather than|not|never|neither|nor|no|cannot|nicht|kein|keine)\b|n['’]t\b|不", re.IGNORECASE
)
CONCLUDED = re.compile(r",\s{1,2}(?:and\s)?(?:but|so|therefore|thus|hence|resulting|earning|scoring)\b", re.IGNORECASE)
AFTERTHOUGHT = re.compile(
    r"[\s*_`\"'.,;!()\]}-]{0,6}(?:\?|(?:no\b(?:[,.!]|\s{1,3}wait\b)|wait\b|actually\b|hmm|scratch\b|strike that"
    r"|on second thoughts?|correction\b|(?:edit|update)\s?:|sorry\b|or (?:rather|maybe|perhaps|even|possibly)\b"
    r"|let me (?:re|lower|raise|change|correct|adjust)|i (?:lower|raise|reduce|deduct|subtract)\b|minus\s{1,3}\w"
    r"|(?:had|were) (?:it|this|they|the)\b|never ?mind|i take (?:that|it) back|just kidding))",
    re.IGNORECASE,
)
SENTENCE_START = re.compile(rf"[.!?;]\s|\n|[。!?]|</\w{{1,30}}>|{HIDDEN}\s(?=[A-Z])")
_NUMBER = rf"(?:\d|-\d|(?:{'|'.join(WORDS)})\b)"
_I_GIVE = (
    r"(?:\b(?:i|we)(?:['’](?:d|ll|m)|\s(?:would|will|must|am|have\sto))?(?:\s(?:therefore|thus|still|only|also|do|then"
    r"|hereby|\w{2,12}ly))?\s(?:gave|give|rated?|scored?|graded?|assign|assigned|award|awarded|giving|rating|scoring|assigning|awarding|judge|mark"
    r"|settle|say|put|place|label"
    r"|go(?:ing)?\swith)\b|\bich\s(?:gebe|vergebe|bewerte|würde)\b|\b(?:je\s(?:lui\s)?|j['’])(?:donne|mets|attribue)\b|\b(?:doy|otorgo|asigno|daría|dou|atribuo)\b|\bя\s(?:ставлю|даю)\b"
    r"|我(?:会|将)?给)(?P<object>(?:\s{0,2}(?!\d)[\w'’-]{1,20}){0,9}?)"
)
_IT_GETS = (
    r"\b(?:it|this|that|this\sone|(?:this|the)\s(?:answer|response|reply|output|summary|text|document|passage))"
    r"(?:\s(?:therefore|thus|clearly|only|still))?(?:\s(?:(?:deserves|merits|earns|warrants|gets|receives)(?:\san?)?"
    r"(?:(?:\s\w{1,12})?\s(?:score|grade|rating|mark)\sof)?|scores(?:\sa)?|is\s(?:rated|graded|scored)(?:\sas?)?)"
    r"|(?:['’]s|\sis)\s(?P<is>an?)(?:\s(?:solid|strong|weak|clear|firm))?)"
    r"|\b(?:that|this|which)\smakes\s(?:it|this)\san?\b"
    r"|(?:该|此|这个|本)?(?:回答|答案|回复)(?:可以|应该|应|可)?(?:获得|得到|得|值)"
    r"|(?:この|本|当)(?:回答|応答|要約)(?:は|に)|(?:이|본|해당)\s?(?:답변|응답|요약)(?:은|는|에)\s"
)
_SCORING = (
    r"\b(?:(?P<so>resulting\sin|earning|meriting|deserving|warranting|receiving)\san?(?:\s(?P<aspect>\w{1,20}))?"
    r"\s(?:score|rating|grade)\sof|scoring|(?P<of>an?)(?:\s(?:clear|solid|strong|weak|fair|full|perfect|firm))?)"
)
JUDGED = re.compile(
    r"(?!.*\b(?:says?|states?|claims?|reports?|tells?)\s(?:that|how)\b)[^\w]*(?:(?:the|this)\s\w{0,12}\s?)?"
    r"(?:answer|response|reply|summary|output|translation|passage|document|it)\b",
    re.IGNORECASE,
)
CLOSED = re.compile(r"[\s*_]{0,4}(?:[.!\n]|\Z|(?:because|for me)\b)")
GIVES = re.compile(
    rf"(?:{_I_GIVE}|{_IT_GETS}|{_SCORING})[\s*_`\"(]{{0,5}}(?<![A-Za-z])"
    rf"(?!une\s(?:note|appréciation)\b)(?=\d|-\d|(?:{'|'.join(WORDS)})\b)",
    re.IGNORECASE,
)
SENTENCE_OF_WORDS = re.compile(r"[^.!?\n]{1,200}(?=[.!\n]|\Z)")
PART_OF_PAIRS = re.compile(r"[^.!?;\n]{1,200}(?=[.!;\n]|\Z)")
COMPARED = re.compile(r"\b[ab12]\b.{1,40}\b(?:better|best|wins|winner)\b", re.IGNORECASE)
IT_IS = re.compile(
    r"[\s*_]{0,4}(?:(?:overall|so|therefore|thus|hence|in conclusion|conclusion|(?:based on|given|compared (?:to|with))"
    r"\s(?:the|this)\s[\w ]{1,40}),?:?\s)?(?:the|this)\s{1,2}"
    r"(?:(?:given|student|student's|model's|predicted|generated|submitted)\s)?(?:answer|response|reply|document|passage"
    r"|claim|statement|text|prediction|output|summary|translation|submission|solution)\s{1,2}is\s{1,2}"
    r"(?:therefore\s|thus\s|clearly\s)?[*_`\"]{0,4}"
    r"|[\s*_]{0,4}(?:(?:overall|so|therefore|thus|hence),?\s)?"
    r"i(?:['’]d|\swould)?\s(?:therefore\s)?(?:classify|rate|grade|label"
    r"|judge|mark|assess)\s(?:it|this|(?:this|the)\s(?:answer|response|reply|document|passage|claim|text))\sas\s(?:an?\s)?[*_`\"]{0,4}"
    r"|[\s*_]{0,4}(?:(?:overall|so|therefore|thus|hence),?\s)?i(?:['’]d|\swould)\scall\s(?:it|this"
    r"|(?:this|the)\s(?:answer"
    r"|response|reply))\s(?:an?\s)?[*_`\"]{0,4}",
    re.IGNORECASE,
)
BOXES = re.compile(r"\[\[([^\[\]\n]{1,40})\]\]|\\boxed\{(?:\\text(?:bf)?\{)?([^{}\n]{1,40})\}{1,2}")
TAG = re.compile(r"<(?P<tag>[a-z_]{3,30})>\s{0,9}(?P<value>[^<>]{1,200}?)\s{0,9}</(?P=tag)>", re.IGNORECASE)
THE_ANSWER = re.compile(r"the\s(?:final\s)?answer\sis[*_]{0,3}:[*_]{0,3}\s{1,3}", re.IGNORECASE)
OF_THE_ITEM = re.compile(
    r"\s(?:to|for|with)\s(?:the|this)\s(?:(?:user's|given|search|asked)\s)?(?:query|question|reference|topic|context|prompt)\Z",
    re.IGNORECASE,
)
ANSWERED = re.compile(
    r"[*_\s]{0,4}(?:(?:final\s)?(?:answer|output|response)[*_\s]{0,4}:|(?:my|(?:my|the)\sfinal)\sanswer\sis\s)",
    re.IGNORECASE,
)
ASKING = re.compile(  # what is judged is repeated
    r"^[ \t*_#>-]{0,8}(?:[^\W\d]{1,20}[ \t]){0,2}(?:question|query|prompt|user|frage|pregunta)[*_ \t]{0,4}:"
    r"|:[*_ \t]{0,4}\n[^\n]*\Z"
    r"|\?\s[^\n]{0,60}\Z",
    re.MULTILINE | re.IGNORECASE,
)
OTHER_LABEL = re.compile(
    r"^[ \t*_#>-]{0,8}(?P<label>[^\W\d_][^:：\n|=]{0,40}?)[*_ \t]{0,4}[:：=][*_ \t]{0,4}(?P<value>\S[^\n]{0,39})$",
    re.MULTILINE,
)
# Labels that name a quality: Coverage, Correctness, Vollständigkeit; not Passage, Claim 2, Errors.
QUALITY = re.compile(
    r"(?!in(?:accur|compl|coher|consist|correct)|un|irrel|impre|toxic|sever|ambig|redund|verbos)(?:\w*(?:ness|ity|acy|ance|ence|erage|ency|[hk]eit|idad|encia|tud|ezza|ität|性|度)|support|level|grounding|outcome"
    r"|status|tier)"
)
ONE_ASPECT = {
    "relevance",
    "relevancy",
    "relevanz",
    "pertinence",
    "relevancia",
    "relevância",
    "rilevanza",
    "quality",
}  # of several, where others are rated beside it
# But not on the item as a whole.
ASIDE = FOREIGN | _words("""
confidence certainty difficulty complexity priority importance length style tone grammar spelling fluency format
formatting example note notes hint student author question agreement probability likelihood sicherheit konfidenz
confianza confiance certeza schwierigkeit""")
CONCLUDES = re.compile(
    r"[\s*_#>-]{0,8}(?:so|thus|therefore|hence|overall|in conclusion|in summary|in short|in total|all in all|all told"
    r"|to conclude|to sum up|taken together|on balance|finally|ultimately|also|daher|somit|insgesamt|alles in allem"
    r"|fazit|donc|au total|en résumé|en conclusion|por lo tanto|entonces|en conclusión|en resumen|portanto|quindi"
    r"|所以|因此|综上|よって|したがって)[,，、:：]?\s{0,3}"
    r"(?:(?:i'd say|i would say|i say|it's|it is|that's|that is)\s)?"
    r"(?:(?:an?|eine?|une?|una?)\s)?[*_]{0,3}(?=\S)",
    re.IGNORECASE,
)
# "Good, let me see", "Yes, I can help": a reply that begins politely has said nothing yet.
ANNOUNCED = re.compile(
    r"\W{0,4}[^\W\d]\w{0,20}(?:\s\w{1,20})?[*_]{0,2}[,.!:;–—-]{1,3}\s{1,3}(?:let me|let's|let us|i can"
    r"|i could|i['’]?ll|i will|i['’]d be"
    r"|i (?:fully |completely )?(?:understand|see)\b|understood|got it|i['’]m ready|i am ready|please|thank"
    r"|ich (?:verstehe|werde|kann)|bitte"
    r"|je (?:comprends|vais|peux)|j['’]ai compris|entiendo|entendido|puedo|voy a|por favor|entendi|posso|vou|capisco"
    r"|(?:claro|of course|sure|certainly|natürlich|bien sûr|gerne?)[,.!]?\s{1,2}(?:send|please|provide|paste|share"
    r"|env|bitte|schick|donne|mand|aqu|here|hier|voici)\w*"
    r"|i would be|i am happy|i['’]m happy|happy to|glad to|here(?:['’]s| is| are)|now)\b",
    re.IGNORECASE,
)
PANDA = re.compile(r"\s*([12])\s{0,3}\n\s*#{2,3} Reason:")
BARE_PAIR = re.compile(r"\s*\"\w{1,40}\"\s{0,3}:\s(?=.*[\"\d}\]]\s*\Z)", re.DOTALL)
IN_BRACKETS = re.compile(r"[(\[{<]\s{0,3}([^()\[\]{}<>]{1,40}?)\s{0,3}[)\]}>]")
EQUAL = re.compile(r"\d[*_ \t]{0,3}=[ \t]{0,2}[^\W\d]")
EQUALS = re.compile(r"[*_ \t]{0,3}=[ \t]{0,2}(?=[^\W\d])")
COMMENT_TO_END = re.compile(r"[*_]{0,2}(?:[,;:(]|\s[-–—])[^\n]{1,300}\Z")
FITS = re.compile(
    rf"\ban?\s(?:overall\s|final\s)?(?:score|rating|grade|mark)\sof\s[*_`]{{0,3}}(?={_NUMBER})", re.IGNORECASE
)
FITTING = re.compile(
    r"[*_`]{0,3}\s(?:is|seems|feels|would\sbe|will\sbe)\s(?:therefore\s|thus\s|(?:the\s)?(?:more|most)\s|quite\s)?"
    r"(?:appropriate|warranted|fitting|justified|suitable|fair|reasonable|deserved|merited|apt)[*_]{0,3}(?:[.!\n]|\Z)",
    re.IGNORECASE,
)
ENGLISH = re.compile(r"\b(?:the|is|are|and|of|that|this|it|not|with|answer)\b", re.IGNORECASE)

DECLARED, STATED, SENTENCE = 3, 2, 1


class _Statement(NamedTuple):
    """A place in a reply that states a verdict, or something in its place that is none."""

    start: int
    end: int
    read: Read
    strength: int
    final: bool = False
    revised: bool = False
    closed: bool = False  # it has its own end: also in a reply that was cut
    whole: bool = False  # nothing else was said


class _Reply(Spoken):
    """The content of a reply, prepared for the forms.

    Args:
        text: From ``said``.
        grades: Of the scale.
        names: What else the verdict is called: aspects, the scale.
        finish: Why it ended.
    """

    def __init__(self, text: str, grades: Grades, names: Sequence[str], finish: str) -> None:
        self.grades, self.cut = grades, finish in CUT
        self._seen: dict[str, bool] = {}
        super().__init__(grades.narrow(text[-LONGEST:]), self._bare)
        own = {part for name in names for part in (folded(name), name.casefold())} - {GRADE, ""}
        self.own, self.strict, self.object = own, STRICT | own, OBJECT | own
        listed = "|".join(map(re.escape, own)) or "(?!)"
        self.of_own = re.compile(rf"[\s*_]{{1,4}}(?:for|in terms of)\s(?:(?:the|its)\s)?(?:{listed})\b", re.IGNORECASE)
        self.content = CONTENT - CHOICE if grades.pairs else CONTENT
        self.labels = self.strict | VERDICT | self.content | (CHOICE if grades.pairs else set())
        # Fields of JSON: the first names that any of them has.
        self.fields = [_PAIR | _NAMES | _OTHER] if grades.pairs else [own | _NAMES, _OTHER | {"o"}, FINAL]
        self.ended = len(self.text) if not self.cut else max(self.text.rfind("\n"), 0)

    @cached_property
    def rated_apart(self) -> bool:
        """True if qualities are rated in lines of their own, not alike: ``Relevance: 4``, ``Accuracy: 2``."""
        rated = set()
        for found in OTHER_LABEL.finditer(self.open):
            if QUALITY.fullmatch(folded(found["label"]).split()[-1]) or folded(found["label"]) in ONE_ASPECT:
                read = self.grades.alone(found["value"])
                rated |= {read.grade} if read is not None else set()
        return len(rated) > 1

    @cached_property
    def equal(self) -> int:
        """Number of explained numbers: ``1 = off topic``."""
        return sum(1 for _ in EQUAL.finditer(self.open))

    def _bare(self, text: str) -> bool:
        if text not in self._seen:
            self._seen[text] = len(text) <= LONGEST_SIDE and self.grades.alone(text) is not None
        return self._seen[text]

    def lead(self, start: int, within: int = AROUND) -> str:
        """The part of a statement's own sentence before it."""
        before = self.open[max(0, start - within) : start]
        cuts = [found.end() for found in SENTENCE_START.finditer(before)]
        return before[cuts[-1] :] if cuts else before

    def line(self, start: int) -> str:
        """The part of a statement's line before it."""
        return self.open[max(0, start - AROUND) : start].rpartition("\n")[2]

    def rest(self, end: int) -> str:
        """The part of a statement's line behind it."""
        return self.open[end : end + AROUND].partition("\n")[0]

    def reported(self, start: int) -> bool:
        """True if somebody else says what stands at a place."""
        lead = self.lead(start)
        return bool(lead.strip(WRAPPING + "#-.")) and (bool(REPORTS.search(lead)) or _ordered(lead))

    def ends(self, at: int) -> bool:
        """True if what a statement says may end at a place."""
        return bool(ENDS.match(self.open, at) or EXPLAINED.match(self.open, at) or self.of_own.match(self.open, at))

    def value(self, at: int) -> tuple[Read | None, int]:
        """Value of a label at a place, and where it ends."""
        match = VALUE.match(self.open, at) if self.grades.numeric else None
        if match is None:
            return self._word(at)
        if MORE_NUMBER.match(self.open, match.end()):
            return Read(None, f"malformed reply: two verdicts: {short(self.rest(match.start()))}"), match.end()
        return self.grades.number(match), match.end()

    def _word(self, at: int) -> tuple[Read | None, int]:
        """The same in words: the longest that are a grade, up to where a comment may begin."""
        line = self.open[at : at + LONGEST_SIDE].partition("\n")[0]
        stops = re.finditer(r"[.,;:(<\]}*_`\"!|]|\s[-–—]\s|\s(?:because|since|as)\s|\Z", line)
        for stop in sorted({stop.start() for stop in stops}, reverse=True):
            if (read := self.grades.word(line[:stop])) is not None:
                return read, at + len(line[:stop].rstrip())
        return None, at

    def opening(self, start: int, end: int, read: Read) -> _Statement:
        """A grade with a comment: weaker than what is clearer, and none where its comment has a label of another."""
        said_here = self.open[start : max(end, start + len(self.open[start : start + LONGEST_BARE].partition("\n")[0]))]
        others = [self.grades.alone(found[1] or found[2]) for found in BOXES.finditer(said_here)]
        others += [self.grades.alone(found["value"]) for found in TAG.finditer(said_here)]
        for word in re.finditer(r"[^\W_]+", said_here):
            joined = JOINED.match(self.open, start + word.end())
            known = folded(word[0]) in self.labels | FINAL or (joined and joined["colon"] and not self.grades.numeric)
            others += [self.value(joined.end())[0]] if joined and known else []
        if any(other is not None and other.grade != read.grade for other in others):
            read = Read(None, f"malformed reply: two verdicts: {short(self.text[start:])}")
        return self.statement(start, end, read, SENTENCE)

    def statement(
        self, start: int, end: int, read: Read, strength: int, *, name: str = "", closed: bool = False
    ) -> _Statement:
        """A statement, once its sentence has been read to the end, and how it is introduced."""
        lead = self.lead(start)
        words = {*re.findall(r"[^\W\d_]+", lead.casefold()), *name.split()}
        final = bool(words & FINAL) or name.startswith(FINAL_BEGINS) or any(one in lead for one in FINAL if one > "一")
        fault = self._fault(read, start, end)
        return _Statement(
            start, end, Read(None, fault) if fault else read, strength, final, bool(words & REVISED), closed
        )

    def _fault(self, read: Read, start: int, end: int) -> str:
        """The reason why a statement is none for what stands around it, or nothing."""
        if read.grade is None:
            return ""
        rest = self.rest(end)
        stop = re.search(r"(?<!i\.e)(?<!e\.g)[.!?;]\s|[.!?;]\Z|[。!?]", rest)
        sentence = rest[: stop.start()] if stop else rest
        comment = sentence.lstrip(WRAPPING + ",;:()[]}-–—")
        if AFTERTHOUGHT.match(self.open, end) or takes_back(comment):
            return f"malformed reply: {read.grade} is taken back: {short(self.open[start:end] + rest)}"
        if self.grades.foreign(self.lead(start) + " " + sentence.replace(f"({read.grade})", "")):  # "four (4)"
            return f"off-scale grade: {short(self.open[start:end] + rest)}"
        if self.grades.contradicts(read, comment) or self.grades.qualified(read, rest):
            return f"malformed reply: two verdicts: {short(self.open[start:end] + rest)}"
        return ""


# ---- Forms ----


def _whole(reply: _Reply) -> Iterator[_Statement]:
    """``4``, ``**4/5**``, ``(4)``, ``Answer: 4``, ``Tie``: nothing else is said."""
    answered = ANSWERED.match(reply.text)
    text = reply.text[answered.end() :] if answered else reply.text
    inside = IN_BRACKETS.fullmatch(text.strip(WRAPPING))
    commented = answered and re.search(r"[,;:(]|\s[-–—]", text)  # "Answer: 4, which is the sum"
    read = None if commented else reply.grades.alone(inside[1] if inside else text)
    if read is not None and not (read.commented and ANNOUNCED.match(text)):
        end = len(reply.text)
        yield reply.opening(0, end, read) if read.commented else _Statement(0, end, read, DECLARED, whole=True)


def _panda(reply: _Reply) -> Iterator[_Statement]:
    """``1`` above ``### Reason:``, as PandaLM writes which of two it prefers."""
    found = PANDA.match(reply.open) if reply.grades.pairs else None
    if found is not None and (read := reply.grades.word(f"answer {found[1]}")):
        yield reply.statement(found.start(1), found.end(1), read, STATED, closed=True)


def _boxed(reply: _Reply) -> Iterator[_Statement]:
    """``[[4]]``, LaTeX's box: declared in a line of its own or behind a label, else one of others."""
    for found in few(BOXES.finditer(reply.open)):
        read = reply.grades.alone(found[1] or found[2])
        lead = set(re.findall(r"[\w'’]+", reply.lead(found.start()).casefold()))
        another = found[2] and any(one.endswith(("'s", "’s")) for one in lead - LEAD)  # the student's \\boxed{3}
        if read is None or another or reply.reported(found.start()):
            continue
        line = reply.line(found.start()).strip(WRAPPING + "#>-([$")
        last = line.endswith((":", "is", "=")) or not (line or reply.rest(found.end()).strip(WRAPPING + ".)]$"))
        yield reply.statement(*found.span(), read, DECLARED if last else STATED, closed=True)


def _tagged(reply: _Reply) -> Iterator[_Statement]:
    """``<score>4</score>``."""
    names = reply.labels.union(*reply.fields)
    for found in few(TAG.finditer(reply.open)):
        name = found["tag"].casefold()
        read = reply.grades.alone(found["value"]) if _own_names(name) & names else None
        if read is not None and not reply.reported(found.start()):
            yield _Statement(*found.span(), read, DECLARED, closed=True)


def _json(reply: _Reply) -> Iterator[_Statement]:
    """``{"score": 4}``: declared where it begins or ends the reply; in a block of code one among others."""
    if BARE_PAIR.match(reply.text) and "{" not in reply.text:  # the bracket was in the prompt
        yield from (
            _Statement(0, len(reply.text), read, DECLARED, closed=True) for read in _fields(reply.text + "}", reply)
        )
    first = len(reply.objects) - len(reply.objects.lstrip("[ \n"))
    last = len(reply.objects.rstrip("] \n"))
    for start, end in few(objects_in(reply.objects)):
        edge, found = start <= first or end >= last, _fields(reply.text[start:end], reply)
        if found and (edge or not reply.reported(start)):
            yield from (_Statement(start, end, read, DECLARED if edge else STATED, closed=True) for read in found)
    for start, inside in reply.fenced:
        if inside.lstrip()[:1] in {"{", "["}:
            for read in [one for first, last in few(objects_in(inside)) for one in _fields(inside[first:last], reply)]:
                yield _Statement(start, start + len(inside), read, STATED, closed=True)


def _own_names(name: str, *, pairs: bool = False) -> set[str]:
    """Possible names of a field: ``relevance_score`` is a score, ``previous_score`` nobody's; ``better_answer``."""
    before, _, last = name.rpartition("_")
    if pairs:
        return {name, last, name.partition("_")[0]}
    return set() if before and set(re.split("[_ -]", before)) <= FOREIGN else {name, last}


def _parted(name: str) -> str:
    """A name in small letters, its parts with ``_`` between: ``overallScore``, ``综合得分``."""
    name = re.sub(r"(?<=[a-z\d])(?=[A-Z])|[ -]", "_", name)
    return EASTERN_FINAL.sub(r"\g<0>_", name.casefold(), count=1)


def _fields(body: str, reply: _Reply) -> list[Read]:
    pairs = pairs_of(body) if ":" in body else []
    told = [(_parted(name), str(value)) for name, value in pairs if value is not None]
    fields = [
        (name, value) for name, value in told if value not in {"True", "False"} or folded(value) in reply.grades.words
    ]
    most = next((value for name, value in fields if name in JSON_MOST and value.replace(".", "").isdigit()), None)
    foreign = most is not None and reply.grades.numeric and Decimal(most) != reply.grades.most
    for names in reply.fields:
        named = [
            (name, value)
            for name, value in fields
            if _own_names(name, pairs=reply.grades.pairs) & names and name not in JSON_MOST
        ]
        overall = [value for name, value in named if {*name.split("_")} & FINAL]  # of several, the one of all
        if not overall and not names & dict(named).keys() and any(name in FINAL - JSON_MOST for name, _ in fields):
            continue  # of aspects alone, where another field is for all
        given = overall or [value for _, value in named]
        inside = [IN_BRACKETS.fullmatch(value) for value in given]
        found = [reply.grades.alone(one[1] if one else value) for value, one in zip(given, inside, strict=True)]
        if reads := [one for one in found if one is not None]:
            others = [reply.grades.alone(value) for name, value in fields if name in FINAL - JSON_MOST]
            reads += [one for one in others if one is not None]
            return [Read(None, f"off-scale grade: {reads[0].grade} of {most}")] if foreign else reads
    return []


def _labelled(reply: _Reply) -> Iterator[_Statement]:
    """``Score: 4``, ``**Rating:** 4/5``, ``[RESULT] 4``, ``| Score | 4 |``, ``### Score`` above ``4``."""
    ascii_only = reply.open.replace(HIDDEN, "").isascii()
    words = {one for one in (*reply.labels, *FINAL, *NOTES) if one.isascii() or not ascii_only}
    listed = "|".join(re.escape(one).replace(r"\ ", "[ _-]") for one in sorted(words, key=len, reverse=True))
    # As small letters where that moves nothing: without the flag the search is several times as fast.
    text, flags = (reply.open.lower(), 0) if ascii_only else (reply.open, re.IGNORECASE)
    for label in few(re.finditer(listed, text, flags)):
        before, behind = text[label.start() - 1 : label.start()], text[label.end() : label.end() + 1]
        if label[0] < "\u0900" and (before.isalnum() or (behind.isalnum() and behind != "s")):
            continue
        if before in {"[", "【"} and behind in {"]", "】"}:
            yield from _behind_brackets(reply, label)
        elif joined := JOINED.match(reply.open, label.end(), label.end() + AROUND):
            yield from _behind_label(reply, label, joined)
        else:
            yield from _below_label(reply, label)


def _behind_brackets(reply: _Reply, label: re.Match[str]) -> Iterator[_Statement]:
    joined = BRACKETED.match(reply.open, label.end())
    read, end = reply.value(joined.end()) if joined else (None, 0)
    if read is not None and not reply.reported(label.start() - 1):
        yield reply.statement(label.start() - 1, end, read, DECLARED)


def _behind_label(reply: _Reply, label: re.Match[str], joined: re.Match[str]) -> Iterator[_Statement]:
    name, lead = folded(label[0]), reply.lead(label.start())
    seen = short(label[0] + reply.rest(label.end()))
    read, end = reply.value(joined.end())
    if read is None and reply.grades.pairs and " " in name:  # "Better response: 2"
        numbered = re.compile(r"[12](?!\w|[.,/]\d)").match(reply.open, joined.end())
        read, end = (reply.grades.word(f"answer {numbered[0]}"), numbered.end()) if numbered else (None, end)
    if read is None or not _belongs(reply, label.start()):
        return
    alone = not reply.rest(end).strip(WRAPPING + ".)]}|")
    if "\n" in joined[0] and not alone:
        return
    sentence = joined["is"] is not None or joined["colon"] is None
    if joined["cell"]:
        sentence = False
        if not reply.line(label.start()).lstrip().startswith("|") or re.match(r"[\s*_]*\|[\s*_]*\d", reply.rest(end)):
            return
    if sentence and (name in FINAL or name in reply.content):
        return
    if name in reply.content and not (read.marked or _concludes(reply, end) or _concludes_in_words(reply, end)):
        return
    if name in NOTES and not (
        (alone or (read.marked and (reply.rest(end)[:1] in {".", ";"} or joined["after"] is not None)))
        and len(ENGLISH.findall(reply.open[:2000])) < 3
        and lead.casefold().strip(WRAPPING + "#->") in {"", "die", "meine", "la", "ma"}
    ):
        return
    if name in ONE_ASPECT - reply.own and reply.rated_apart:
        return
    equals = EQUALS.match(reply.open, end)
    if equals and reply.equal > 1:  # a rubric
        return
    if "<" in joined[0] and reply.open[end : end + 1] != ">":
        read = Read(None, f"malformed reply: {seen}")
    if joined["paren"] and reply.grades.foreign(joined["paren"].strip()):
        read = Read(None, f"off-scale grade: {short(label[0] + joined[0])}{read.grade or ''}")
    if not (equals or reply.ends(end)):
        back = takes_back(reply.rest(end).lstrip(WRAPPING + ":"))
        if not back:
            return
        read = Read(None, f"malformed reply: {read.grade} is taken back")
    yield _by_name(reply, label.start(), end, read, f"{name} {joined['after'] or ''}", SENTENCE if sentence else STATED)


def _below_label(reply: _Reply, label: re.Match[str]) -> Iterator[_Statement]:
    """A label that is a heading, or that its value follows in a line of their own; ``Score 5: it covers all.``"""
    name = folded(label[0])
    if not _belongs(reply, label.start()) or name in NOTES or (name in FINAL and name != "final"):
        return
    if below := NEXT_LINE.match(reply.open, label.end()):
        read = reply.grades.alone(below["value"])
        if read is not None and not reply.grades.foreign(below[0]):
            yield _by_name(reply, label.start(), below.end("value"), read, name, STATED)
        return
    simply = re.compile(r"[ \t]{1,3}[*_`\"]{0,4}").match(reply.open, label.end())
    if simply is not None:
        read, end = reply.value(simply.end())
        rest = reply.rest(end).strip(WRAPPING + ".")
        first = not reply.open[: label.start()].strip(WRAPPING + "#") and name in reply.strict
        if read is not None and not rest:
            yield _by_name(reply, label.start(), end, read, name, STATED)
        elif read is not None and first and re.match(r":\s\D", rest) and len(RUBRIC.findall(reply.open)) == 1:
            yield reply.statement(label.start(), end, read, SENTENCE)


def _by_name(reply: _Reply, start: int, end: int, read: Read, name: str, strength: int) -> _Statement:
    """The statement of a label: declared where it is introduced as final or revised."""
    found = reply.statement(start, end, read, strength, name=name)
    return found._replace(strength=DECLARED) if found.final or found.revised else found


def _concludes(reply: _Reply, end: int) -> bool:
    """True if nothing follows a statement but its explanation."""
    behind = reply.open[end:].lstrip(WRAPPING + ".)]}|")
    return not behind or EXPLAINED.match(behind) is not None


def _concludes_in_words(reply: _Reply, end: int) -> bool:
    """The same of words, with a comment up to the end of the reply: ``Conclusion: No, it is not faithful.``"""
    return not (reply.grades.numeric or reply.grades.pairs) and bool(COMMENT_TO_END.match(reply.open, end))


def _ordered(lead: str) -> bool:
    """True if a sentence makes what it ends with a wish, a supposition, or the contrary."""
    return bool(ORDERS.search(lead) or NEGATED.search(CONCLUDED.split(lead)[-1]))


def _judged(reply: _Reply, start: int) -> bool:
    """True if a sentence is on what is judged: a match may result in a score of 3, too."""
    return JUDGED.match(reply.lead(start, 5 * AROUND)) is not None


def _belongs(reply: _Reply, start: int) -> bool:
    """True if what stands before a label does not make it somebody else's, or of something else."""
    lead = re.split(r",\s{1,2}but\s", reply.lead(start))[-1]
    words = re.findall(r"[\w'’]+", lead.casefold().replace("_", " "))
    if _ordered(lead) or REPORTS.search(lead):
        return False
    if all(word in LEAD or word.isdigit() for word in words) or set(words) & REVISED:
        return True
    clause = re.findall(r"[\w'’]+", re.split(r"[,:;–—|(]", lead.casefold())[-1])
    return (
        len(clause) < len(words)
        and all(word in LEAD for word in clause)
        and ("in" not in clause or _judged(reply, start))
    )


def _alone(reply: _Reply) -> Iterator[_Statement]:
    """A first or last line that is a grade and nothing else; ``1.`` may number what follows."""
    lines = [(found.start(), found[0]) for found in re.finditer(r"[^\n]*\S[^\n]*", reply.open[: reply.ended])]
    if not lines:
        return
    explained = [reply.grades.alone(line) for _, line in lines[-2:]] if reply.grades.numeric else []
    if (
        len({one.grade for one in explained if one is not None and one.commented}) > 1
    ):  # "1 = bad", "5 = good": a rubric
        return
    for which, (start, line) in enumerate([lines[0]] if reply.cut else [lines[0], lines[-1]]):
        numbered = which == 0 and re.match(r"\s*\d+[.)]\s*$", line)
        if len(line) > LONGEST_BARE or line.strip()[0] in "\"'`“„«「{" or numbered:
            continue
        read = reply.grades.alone(re.sub(r"\A\s*(?:#{1,6}\s+)?(?:(?:[-*•–→➜⇒👉]|[-=]>)\s+(?=\S))?", "", line))
        if read is not None and which == 1 and len(lines) > 2 and read.grade and read.grade.isdigit():
            above = reply.grades.alone(lines[-2][1])
            if above is not None and above.grade not in {None, read.grade}:  # a column of numbers
                continue
        head = lines[-2][1] if which == 1 and len(lines) > 1 else ""
        if read is not None and not (len(head) < LONGEST_SIDE and reply.grades.foreign(head)):  # "Score (out of 10)"
            opening, end = start == lines[0][0] and read.commented, start + len(line)
            if opening and ANNOUNCED.match(line):
                continue
            yield reply.opening(start, end, read) if opening else reply.statement(start, end, read, STATED)
    yield from _concluded(reply, *lines[-1])
    if ANNOUNCED.match(reply.open):
        return
    ends = "[.!]" if reply.grades.pairs else "[.!:]"  # "A: good" tells of one of the two
    first = re.match(rf"\s*[*_]{{0,3}}[^.!。\n:]{{1,30}}?(?={ends}[*_]{{0,3}}\s(?!\s*\d)|。)", reply.open)
    if first is not None and len(lines[0][1]) > first.end():
        read = reply.grades.alone(first[0])
        if read is not None and (read.marked or not reply.grades.numeric or reply.grades.pairs):
            yield reply.opening(0, first.end(), read)


def _concluded(reply: _Reply, start: int, line: str) -> Iterator[_Statement]:
    """``So, 4.``, ``Coverage: full``: the last line is a grade, introduced by words that say no more than that."""
    end = start + len(line)
    sentence = re.match(r"[^\W\d]+(?:[ ][^\W\d]+)?[.!][ ](\S{1,12}?)[.!]?\s*\Z", line[:60])  # "Flawless. 10/10."
    if sentence is not None and reply.grades.numeric:
        read = reply.grades.alone(sentence[1])
        if read is not None and read.marked:
            yield reply.statement(start + sentence.start(1), end, read, SENTENCE)
    if reply.grades.numeric and len(line) < 4 * AROUND:  # "It covers most of it, so a 4."
        *_, cut = [0, *(found.end() for found in re.finditer(r"[.;]\s(?=\S)|,\s(?=so an?\s\d)", line))]
        if cut and JUDGED.match(line) and VALUE.search(line[:cut]) is None:
            start, line = start + cut, line[cut:]
    elif not reply.grades.numeric and (cuts := [*re.finditer(r"[.!;]\s{1,2}(?=\S)", line[-4 * AROUND :])]):
        cut = max(0, len(line) - 4 * AROUND) + cuts[-1].end()
        if concluding := CONCLUDES.match(line, cut):  # "It matches the reference. Therefore: correct"
            the_answer = THE_ANSWER.match(line, concluding.end())
            start, line = start + cut, line[cut : concluding.end()] + line[(the_answer or concluding).end() :]
    answered = ANSWERED.match(line) if not (reply.grades.numeric or reply.grades.pairs or reply.cut) else None
    read = reply.grades.word(line[answered.end() :].rstrip(".!* ")) if answered else None
    if read is not None and not ASKING.search(reply.open):
        yield reply.statement(start, end, read, SENTENCE)
    if (begun := CONCLUDES.match(line)) and (read := reply.grades.alone(line[begun.end() :])):
        yield reply.statement(start, end, read, SENTENCE)
    worded = not (reply.grades.numeric or reply.grades.pairs or reply.cut)
    labels = [*OTHER_LABEL.finditer(reply.open)] if worded else []
    if len(labels) == 1 and labels[0].end() == end:  # several are a list of aspects
        read, words = reply.grades.word(labels[0]["value"].rstrip(WRAPPING + ".!")), folded(labels[0]["label"]).split()
        named = len(words) <= 3 and any(map(QUALITY.fullmatch, words)) and not set(words) & ASIDE
        if named and read is not None and read.grade not in ANSWERS:
            yield reply.statement(start, end, read, SENTENCE)


def _given(reply: _Reply) -> Iterator[_Statement]:
    """``I would give it a 4``, ``it deserves a score of 4``, ``a clear 4 out of 5``."""
    for found in few(GIVES.finditer(reply.open)) if reply.grades.numeric else ():
        match, lead = VALUE.match(reply.open, found.end()), reply.lead(found.start())
        if match is None or _ordered(lead) or REPORTS.search(lead) or (found["of"] and not match["most"]):
            continue
        if found["so"] and not _judged(reply, found.start()):
            continue
        behind, read = reply.open[match.end() : match.end() + AROUND], reply.grades.number(match)
        to_what = " ".join(found[name] or "" for name in ("object", "aspect")).casefold().split()
        told = match["most"] or match["unit"] or match["points"] or CLOSED.match(behind)
        if any(word not in reply.object and word < "一" for word in to_what) or not reply.ends(match.end()):
            read = Read(None, f"malformed reply: {short(found[0] + match[0] + behind)}")  # who knows of what
            told = match["most"]
        if not MORE_NUMBER.match(behind) and (told or not (found["is"] or read.grade is None)):
            yield reply.statement(found.start(), match.end(), read, SENTENCE)


def _fitting(reply: _Reply) -> Iterator[_Statement]:
    """``a score of 2 is appropriate.``"""
    for found in few(FITS.finditer(reply.open)) if reply.grades.numeric else ():
        match, lead = VALUE.match(reply.open, found.end()), reply.lead(found.start())
        if match and FITTING.match(reply.open, match.end()) and not (_ordered(lead) or REPORTS.search(lead)):
            yield reply.statement(found.start(), match.end(), reply.grades.number(match), SENTENCE)


def _told(reply: _Reply) -> Iterator[_Statement]:
    """``the answer is incorrect.``, ``I prefer response A because it is short``: a sentence of its own."""
    pairs = reply.grades.pairs
    sentences = PART_OF_PAIRS if pairs else SENTENCE_OF_WORDS
    for found in sentences.finditer(reply.open) if reply.grades.words or pairs else ():
        begun = None if pairs else IT_IS.match(found[0])
        stop = r"\s(?:because|since|as)\s" + (r"|:\s|\s[-–—]\s|\s\((?=\w)" if begun else "")
        word = re.split(stop, found[0][begun.end() if begun else 0 :], maxsplit=1)[0]
        part = found[0][: begun.end() if begun else 0] + word
        word = OF_THE_ITEM.sub("", word) if begun else word
        if not (begun or (pairs and " " in part.strip())) or folded(word) in ANSWERS:
            continue
        read = reply.grades.word(word)
        if read is None and pairs and COMPARED.search(part):
            read = Read(None, f"malformed reply: {short(part)}")
        if read is not None:
            yield reply.statement(found.start(), found.start() + len(part), read, SENTENCE)


FORMS: tuple[Callable[[_Reply], Iterator[_Statement]], ...] = (
    _whole,  # DECLARED: nothing else is said; SENTENCE with a comment, in which a clearer one may stand
    _panda,  # STATED
    _boxed,  # DECLARED in a line of its own; else STATED
    _tagged,  # DECLARED
    _json,  # DECLARED at the edges of the reply; else STATED
    _labelled,  # DECLARED as final or revised, and behind [RESULT]; STATED with a colon; SENTENCE as "the score is 4"
    _alone,  # STATED: the first or last line; SENTENCE where a comment follows the first, and as the first sentence
    _given,  # SENTENCE
    _fitting,  # SENTENCE
    _told,  # SENTENCE
)
"""What may state a verdict; the strongest that states anything counts, wherever it stands."""


def stated(
    text: str,
    scale: Scale,
    finish: str = WHOLE,
    *,
    names: Sequence[str] = (),
    texts: Callable[[], Sequence[str]] | None = None,
) -> str:
    """The one verdict that a reply states, as the scale writes it (or a number half way between two grades).

    Args:
        text: The reply.
        scale: The judge's.
        finish: Why it ended. Of one that was cut, its last line counts only for what has an end of its own.
        names: What the verdict may be called beside "score" and the like.
        texts: The item's own: a statement that stands in one of them is no verdict.

    Raises:
        UnreadableReplyError: There is none.
    """
    rest = said(text)
    reply = _Reply(rest, Grades(scale), [scale.name, *names], finish)
    found = [one for form in FORMS for one in form(reply)] if reply.text else []
    if reply.cut:
        ended = [one for one in found if one.end <= reply.ended and one.strength > SENTENCE and not one.whole]
        found = [one for one in found if one.closed or one in ended]
    if found and texts is not None and not any(one.whole for one in found):
        quoted = quoted_in(texts())
        found = [one for one in found if not quoted(reply.text[one.start : one.end])]
    if not found:
        raise no_verdict(text, rest, finish)
    strongest = max(one.strength for one in found)
    counting = [one for one in found if one.strength == strongest]
    if strongest == STATED:  # "Score: 5. ... That said, it deserves a 2.": who says another one later has two
        last = max(one.end for one in counting)
        counting += [one for one in found if one.strength == SENTENCE and one.start >= last and one.read.grade]
    return _one_of(counting)


def _one_of(equals: Sequence[_Statement]) -> str:
    """The verdict of statements of the same strength.

    Raises:
        UnreadableReplyError: Two differ, and neither is introduced as final after the other; or it is off the scale.
    """
    last = max(equals, key=lambda one: one.end)
    for mark in ("revised", "final"):
        marked = [one for one in equals if getattr(one, mark)]
        if marked and len({one.read.grade for one in marked}) == 1:
            since = max(one.start for one in marked)
            if all(one.end <= since for one in equals if one.read.grade != marked[0].read.grade):
                last, equals = marked[-1], marked
                break
    if len({one.read.grade for one in equals}) > 1:
        grades = dict.fromkeys(one.read.grade or "?" for one in sorted(equals, key=lambda one: one.start))
        raise UnreadableReplyError(f"malformed reply: two verdicts: {', '.join(grades)}")
    if last.read.grade is None:
        raise UnreadableReplyError(last.read.fault)
    return last.read.grade
