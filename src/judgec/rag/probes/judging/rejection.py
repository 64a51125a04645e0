"""Classifies by rules what a system did with a question that its documents do not answer."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from judgec.evidence.answer_features import refuses, without_courtesies
from judgec.evidence.numerals import is_number
from judgec.evidence.text import FUNCTION_STEMS
from judgec.rag.probes.judging.facts import read
from judgec.rag.probes.judging.failures import is_failure

PAGES = (
    r"(?:documents?|documentation|contexts?|passages?|texts?|excerpts?|sources?|information|materials?|pages?|"
    r"catalogue|manuals?|articles?|sections?|data ?sheets?|web ?sites?|handbooks?|knowledge base|snippets?|chunks?)"
)
_OTHERS = re.compile(r"\"[^\"]{1,80}\"|“[^”]{1,80}”|„[^“”]{1,80}[“”]|«[^»]{1,80}»")  # somebody else's words
_LEAST = 3  # words around them, or the sentence is nothing but a quotation
_CONDITION = re.compile(r"^(?:if|unless|whoever|wenn|falls|sofern|wer|si|quien|quand|lorsque)\b[^,]{1,80},\s*")
_ATTRIBUTE = re.compile(
    r"(?:^|\b(?:an?|the|any|from|by|all) )(?:unknown|unclear) (?!to|in|from|based|because|at|and|whether)(?=\w)"
)
_CLAUSE = re.compile(r"[,;:–]\s")
_TO_READER = re.compile(r"\b(?:you|your|sie|ihre?[mnr]?|du|dein\w*|usted(?:es)?|tu|te|vous|votre|vos)\b")
_QUESTION = re.compile(r"\?[\"'”»)*_\s]*$")
_ASKS = re.compile(
    r"^(?:¿|which|what|who|where|when|could|can|do|are|(?:um )?welche\w*|was|können|könnten|meinen|meinst|podría|puede|"
    r"qué|cuál|a qué|de quel\w*|quel\w*|pour\w+-vous|pouvez-vous)"
)


class Denials(NamedTuple):
    """Ways of a language to say that the documents do not answer; all patterns are for one clause in lower case.

    Args:
        outright: Needs nothing beside it.
        source: What answers come from.
        told: What a source does with an answer.
        negated: Words that deny it.
        reported: "According to the manual": what follows is an answer.
        describes: A source that says what the documents are about.
    """

    outright: re.Pattern[str]
    source: re.Pattern[str]
    told: re.Pattern[str]
    negated: re.Pattern[str]
    reported: re.Pattern[str]
    describes: re.Pattern[str]

    def found(self, clause: str) -> bool:
        """True if a clause denies that a source has the answer, or that the writer does."""
        said = self.reported.sub(" ", clause)
        parts = (self.source, self.told, self.negated)
        return self.outright.search(said) is not None or all(part.search(said) for part in parts)


def _denials(outright: str, source: str, told: str, negated: str, reported: str, describes: str) -> Denials:
    words = (rf"\b(?:{part})\b" for part in (source, told, negated, reported))
    return Denials(*map(re.compile, (outright, *words, describes)))


ENGLISH = _denials(
    r"\bno\b[^.!?]{1,60}?\b(?:given|listed|stated|mentioned|specified|provided|documented|published)\b"
    r"|\b(?:says?|saying|have|states?) nothing (?:about|on|of)\b|(?:not|n't) (?:documented|name|appear)\b"
    rf"|\b(?:nothing in|none of|not (?:in|among|part of)|can(?:no|')t see it in)(?: the| my| these)? {PAGES}\b"
    rf"|^there (?:is|are|was|were) no\b[^.!?]{{1,60}}? in (?:the |my |these )?{PAGES}\b"
    r"|\b(?:is|are|remains?|stays?) silent (?:on|about|as to)\b|\bstops? short of (?:naming|saying|giving|stating)\b"
    rf"|\b(?:outside|beyond|out)(?: of)?(?: the)? scope of (?:\w+ ){{0,2}}?{PAGES}\b"
    r"|\bi(?:['’]d| would)? need (?:more|further|additional) (?:details?|information|context)\b"
    r"|\bi(?: would|'d|’d)? (?:rather|prefer)(?: to)? not\b"
    r"|\bi(?: won['’]t| will not| do(?: not|n['’]t) want to) (?:guess|speculate|invent|assume|make)",
    PAGES,
    r"cover(?:s|ed)?|address(?:es|ed)?|discuss(?:es|ed)?|includ(?:es?|ed)|available|goes? into|gets? into|has|have|"
    r"answer(?:s|ed)?",
    r"not|(?:is|are|was|were|do|does|did)n['’]t|nothing|none|never|nowhere|no",
    r"(?:according to|as per|per) [\w ]{1,20}",
    rf"\bi (?:only )?(?:found|have|see) (?:\w+ )?{PAGES} (?:about|on)\b"
    rf"|\b{PAGES}\b[^.!?]{{0,60}}?\b(?:only |mainly |mostly |instead )?(?:describes?|discuss(?:es)?|"
    r"contains?|covers?|mentions?|deals? with|(?:is|are) about|provides?|gives?|lists?|focus(?:es)? on|includes?|"
    r"refers? to|talks? about|concerns?)\b",
)
GERMAN = _denials(
    r"^(?=.*\b(?:ich|mir)\b)(?=.*\b(?:nicht|nichts|keine[nr]?)\b).*\b(?:weiß|weiss|beantworten|antworten|sagen|finden?|"
    r"gefunden|raten|spekulieren|angeben|nennen|beurteilen|entnehmen|feststellen|helfen|auskunft|antwort|angaben?|"
    r"informationen|hinweise?|ahnung)\b"
    r"|^keine ahnung\b"
    r"|\b(?:nicht|nirgends)(?: \w+){0,2}? (?:bekannt|angegeben|genannt|erwähnt|beschrieben|ersichtlich|spezifiziert)\b"
    r"|\b(?:gibt es|es gibt|liegen|finden sich)\b.*\bkeine(?:rlei)? "
    r"(?:\w+ ){0,2}?(?:informationen|angaben?|hinweise?)\b",
    r"kontext\w*|dokument\w*|unterlagen|texte?[ns]?|quellen?|handbuchs?|passagen?|abschnitt\w*|aus(?:zug|züge)\w*|"
    r"material\w*|seiten?|artikeln?|anleitung|katalog\w*",
    r"hervor|enthält|enthalten|ste(?:ht|hen)|nenn(?:t|en)|erwähn\w+|sag(?:t|en)|geben|gibt|beschr[ei]+b\w*|mach(?:t|en)|"
    r"angegeben|genannt|finde[nt]|findet|beantwort\w+|verfügbar|vorhanden|entnehmen|ableiten|behandel\w+",
    r"nicht|nichts|keine[nrms]?|keinerlei|nirgends",
    r"(?:laut|gemäß) [\w ]{1,20}",
    r"\b(?:kontext\w*|dokumente?|unterlagen|texte?|quellen?|handbuch|passagen?|abschnitte?|auszüge?)\b[^.!?]{0,40}?"
    r"\b(?:beschreib(?:t|en)|behandel(?:t|n)|enthält|enthalten|(?:geht|drehen sich) (?:\w+ )?um|befass(?:t|en) sich)\b",
)
SPANISH = _denials(
    r"\bno (?:lo |la |le )?(?:sé|puedo|pude|he (?:podido|encontrado|hallado)|encuentro|encontré|dispongo|tengo|conozco|"
    r"logro|cuento)\b|\bdesconozco\b|\bimposible (?:saber|responder|decir|determinar)\b"
    r"|^no (?:se )?(?:indican?|mencionan?|especifican?|dicen?|precisan?|aclaran?)\b"
    r"|\bno (?:hay|existe) (?:\w+ ){0,2}?(?:información|datos?|mención|referencias?|detalles)\b",
    r"contexto|documentos?|documentación|textos?|fuentes?|manual(?:es)?|pasajes?|fragmentos?|extractos?|material(?:es)?|"
    r"páginas?|artículos?|(?:esa|esta|la) información|es[et]e dato",
    r"mencion\w+|especific\w+|indic\w+|dicen?|contienen?|figuran?|aparecen?|constan?|proporcion\w+|ofrecen?|incluyen?|"
    r"abord\w+|tratan?|detall\w+|precis\w+|disponibles?|encuentran?|responden?",
    r"no|nada|tampoco|ning[uú]n\w*",
    r"(?:según|conforme a) [\w ]{1,20}",
    r"\b(?:contexto|documentos?|textos?|fuentes?|manual|pasajes?|fragmentos?)\b[^.!?]{0,40}?"
    r"\b(?:describen?|tratan?|contienen?|abordan?|mencionan?|explican?|hablan? de)\b",
)
FRENCH = _denials(
    r"\bje (?:ne |n['’]).*\b(?:sais|peux|trouve|trouvé|dispose|connais|vois|pu|parviens)\b"
    r"|\bje n['’]ai (?:pas|aucune)\b|\bj['’]ignore\b|\bil n['’]y a (?:pas d['’]|aucune )"
    r"(?:information|mention|précision)"
    r"|\bimpossible (?:de|à) (?:savoir|répondre|dire|déterminer)\b"
    r"|\baucune? (?:information|mention|indication|précision|réponse)\b.*"
    r"\b(?:donnée?s?|fournie?s?|trouvée?s?|disponibles?|sur|concernant|dans)\b",
    r"contexte|documents?|documentation|textes?|sources?|manuel|passages?|extraits?|notice|guide|pages?|articles?|"
    r"cette (?:information|question)",
    r"mentionn\w+|précis\w+|indiqu\w+|dit|disent|contien\w+|donn\w+|parl\w+|abord\w+|figur\w+|trouv\w+|fourni\w+|"
    r"permet\w*|évoqu\w+|trait\w+|disponibles?|spécifi\w+|répon\w+",
    r"(?:ne|n['’]\w+|rien|nulle part)(?=.*\b(?:pas|rien|aucune?|nulle part|permet))|rien",
    r"(?:selon|d['’]après) [\w ]{1,20}",
    r"\b(?:contexte|documents?|textes?|sources?|manuel|passages?|extraits?)\b[^.!?]{0,40}?"
    r"\b(?:décri(?:t|vent)|trait(?:e|ent)|contien(?:t|nent)|abord(?:e|ent)|mentionn(?:e|ent)|parl(?:e|ent) de)\b",
)
_LANGUAGES = (ENGLISH, GERMAN, SPANISH, FRENCH)


def denies(sentence: str) -> bool:
    """True if a sentence in lower case says that there is no answer: not in a condition or in somebody else's words."""
    quoted = _OTHERS.sub(" ", sentence)
    said = _ATTRIBUTE.sub("", _CONDITION.sub("", quoted if len(quoted.split()) >= _LEAST else sentence))
    clauses = _CLAUSE.split(said)
    return refuses(said) or any(language.found(clause) for clause in clauses for language in _LANGUAGES)


def describes(sentence: str) -> bool:
    """True if a sentence in lower case says what the documents are about."""
    return any(language.describes.search(language.reported.sub(" ", sentence)) for language in _LANGUAGES)


def asks_back(sentence: str) -> bool:
    """True if a sentence in lower case is a question to whoever asked."""
    if _QUESTION.search(sentence) is None:
        return False
    return _TO_READER.search(sentence) is not None or _ASKS.search(sentence) is not None


LEAST_CLAIM = 3  # content words of a sentence that claims something
_ADVICE = re.compile(
    r"^\W*(?:please|you (?:can|may|could|might|should|would)|contact|consult|check|ask|see|visit|if you|let me know|"
    r"i (?:can|could|would|recommend|suggest|am happy|'d)|for (?:this|that|more|further)|feel free|try)\b"
)
_WITH_DIGIT = re.compile(r"\S*\d\S*")
_CONCEDES = re.compile(r"(?:although|though|even though|even if|while|whereas)\b[^,]*,\s*", re.IGNORECASE)
_THEY = re.compile(
    r"^(?:they|it)(?= (?:only |mainly )?(?:describes?|discuss(?:es)?|covers?|deals?|focus(?:es)?|lists?|mentions?)\b)",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"\b[A-Z][A-Za-z]+ [A-Z]{0,3}\d+[A-Za-z]{0,2}\b"
    r"|\b\d+ (?:\w+ )?(?:passages?|documents?|sources?|pages?|excerpts?|texts?)\b"
    r"|\b(?:pages?|sections?|chapters?|passages?|documents?|sources?) \d+"
    r"|\b(?:at|call|tel\.?|phone) \+?\(?\d{3,}[-/]\d+"
)
_SENTENCE = re.compile(
    r"(?<=[.!?;])\s+|\n+|,? (?:but|however|nevertheless|that said|still),? |, (?:though|so),? ", re.IGNORECASE
)


def rejection_outcome(answer: str | None, query: str = "") -> str:
    """One of RAGProbe's six outcomes.

    A sentence refuses, describes the documents, asks back, gives advice or is a courtesy; whatever else says something
    claims it.
    An answer that claims anything has answered. A figure of its own is a claim whatever sentence it stands in: "the
    manual lists a price of 499 EUR" describes nothing.

    Args:
        answer: None, blank or an error message where the system gave none: an error.
        query: What was asked; its figures are no claims.
    """
    if answer is None or not answer.strip() or is_failure(answer, query):
        return "error"
    refused = described = answered = asked = False
    given = set(read(query).stems)
    for sentence in _sentences(without_courtesies(answer)):
        low = (_THEY.sub("the documents", sentence) if refused or described else sentence).lower()
        denied = denies(low)
        if asks_back(low) and not given.issuperset(read(sentence).stems):  # an echo asks nothing
            asked = True
        elif describes(low) and not denied:
            figures = _figures(sentence) - given
            described, answered = described or not figures, answered or bool(figures)
        elif denied:
            refused, answered = True, answered or bool(_figures(sentence) - given)
        elif not _ADVICE.match(low) and _claims(sentence):
            answered = True
    if refused:
        return "refused_then_answered" if answered else "described" if described else "refused"
    if described:
        return "described_then_answered" if answered else "described"
    return "answered" if answered or not (asked or _only_advice(answer)) else "refused"


def _sentences(text: str) -> Iterator[str]:
    """Sentences, and what follows "although the documents do not say, ..." by itself."""
    for part in _SENTENCE.split(text):
        sentence = (part or "").strip()
        conceded = _CONCEDES.match(sentence)
        if conceded and denies(conceded.group().lower()):
            yield conceded.group()
            sentence = sentence[conceded.end() :]
        if sentence:
            yield sentence


def _figures(sentence: str) -> set[str]:
    """The figures that a sentence writes in digits: not those of a name ("Fenn 25"), a page, a count of sources."""
    written = " ".join(_WITH_DIGIT.findall(_NAMED.sub(" ", sentence)))
    return {stem for stem in read(written).stems if is_number(stem)}


def _claims(sentence: str) -> bool:
    words = [stem for stem in read(sentence).stems if stem not in FUNCTION_STEMS]
    return len(words) >= LEAST_CLAIM or any(stem[:1].isdigit() for stem in words)


def _only_advice(answer: str) -> bool:
    parts = [part.strip().lower() for part in _SENTENCE.split(answer) if (part or "").strip()]
    return bool(parts) and all(_ADVICE.match(part) for part in parts)
