"""Holds what evidence looks for in texts that are not English: months, figures in words, refusals, questions.

English has its own tables beside the features. A language that is not here has its stemmer and its function words
(``records.language``) and none of this; of a language that is here, what a table lacks is not found.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from judgec.evidence.numerals import MONTH_ORDER


@dataclass(frozen=True, slots=True)
class LanguageCues:
    """The words of a language that evidence looks for, in lower case.

    Args:
        spelled: Other spellings and abbreviations by what they become; months become the English ones, figures in
            words figures.
        phrases: The same of several words, as a pattern and what it becomes.
        refusal: Ways to say that an answer is not known or not given.
        asks_number: Words of questions that want a figure.
        asks_name: Words of questions that want a name.
        polar: First words of questions that want a yes or a no.
        says: Yes and no.
        negations: Words that deny.
        references: Words that refer to something before them.
        complaint: What users say of a bad answer.
        thanks: What they say of a good one.
        taken_back: What an assistant says that corrects itself.
        ordinal_dot: A dot after a figure ends no sentence.
    """

    spelled: Mapping[str, str] = field(default_factory=dict)
    phrases: tuple[tuple[re.Pattern[str], str], ...] = ()
    refusal: re.Pattern[str] | None = None
    asks_number: frozenset[str] = frozenset()
    asks_name: frozenset[str] = frozenset()
    polar: frozenset[str] = frozenset()
    says: frozenset[str] = frozenset()
    negations: frozenset[str] = frozenset()
    references: frozenset[str] = frozenset()
    complaint: re.Pattern[str] | None = None
    thanks: re.Pattern[str] | None = None
    taken_back: re.Pattern[str] | None = None
    ordinal_dot: bool = False


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _months(names: str) -> dict[str, str]:
    """Months in order, of each all spellings with ``/`` between them."""
    spellings = zip(names.split(), MONTH_ORDER, strict=True)
    return {spelling: month for said, month in spellings for spelling in said.split("/")}


def _numbers(words: str, start: int = 0, step: int = 1) -> dict[str, str]:
    """Figures in words, in order; ``/`` between spellings."""
    return {
        word: str(start + step * place) for place, said in enumerate(words.split()) for word in said.split("/") if word
    }


_GERMAN_UNITS = ["ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"]
_GERMAN_TENS = "zwanzig dreissig/dreißig vierzig fünfzig sechzig siebzig achtzig neunzig"
_GERMAN_NUMBERS = (
    _numbers("zwei drei vier fünf sechs sieben acht neun zehn elf zwölf", 2)
    | _numbers("dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn", 13)
    | _numbers(_GERMAN_TENS, 20, 10)
    | {
        f"{unit}und{ten}": str(int(tens) + one)
        for ten, tens in _numbers(_GERMAN_TENS, 20, 10).items()
        for one, unit in enumerate(_GERMAN_UNITS, 1)
    }
    | {"hundert": "100", "tausend": "1000"}
)

_GERMAN_KNOWN = (
    r"(?:bekannt|angegeben|genannt|enthalten|erwähnt|beschrieben|ersichtlich|verfügbar|vorhanden|möglich|klar|"
    r"festgelegt|spezifiziert)"
)
GERMAN = LanguageCues(
    spelled=_months(
        "januar/jänner/jan februar/feber/feb märz/mrz april/apr mai juni/jun juli/jul august/aug "
        "september/sept/sep oktober/okt november/nov dezember/dez"
    )
    | _GERMAN_NUMBERS
    | {"prozent": "percent", "km": "kilometer", "kg": "kilogramm", "cm": "zentimeter", "mm": "millimeter"}
    | {"std": "stunde", "min": "minute", "sek": "sekunde", "mio": "million", "mrd": "milliarde", "ca": "circa"},
    refusal=re.compile(
        r"\b(?:weiß|wissen|weiss|kann|können|konnte|lässt|lassen)\b[^.;]*\b(?:nicht|nichts|keine[nr]?)\b"
        r"(?:[^.;]*\b(?:sagen|beantworten|angeben|finden|nennen|bestimmen|entnehmen|feststellen|antworten|beurteilen)\b|$"
        r"|\W*$)"
        rf"|\b(?:nicht|nirgends)\b(?: \w+){{0,2}}? {_GERMAN_KNOWN}\b"
        r"|\bkeine(?:n|r|rlei)? (?:\w+ )?(?:angaben?|informationen|hinweise?|auskunft|antwort|daten|ahnung|aussage)\b"
        r"|\bnichts (?:darüber|dazu|davon)\b|\bunbekannt\b|\bunklar\b|\btut mir leid\b|\bleider (?:nicht|kein)"
        r"|\b(?:enthält|enthalten|nennt|nennen|sagt|sagen|erwähnt|erwähnen|beschreibt)\b[^.;]*\b(?:nicht|nichts|keine)\b"
    ),
    asks_number=_set(
        "wann wieviel wieviele viel viele lang lange hoch weit alt groß breit tief schwer jahr zahl datum"
    ),
    asks_name=_set("wer wen wem wessen wo wohin woher"),
    polar=_set("ist sind war waren hat haben hatte kann können darf muss soll wird wurde gibt gab stimmt"),
    says=_set("ja nein"),
    negations=_set("nicht nichts nie niemals kein keine keinen keiner keinem keines weder ohne"),
    references=_set(
        "er sie es ihn ihm ihr ihnen sein seine seinen seiner dies diese dieser dieses diesem diesen das da dort "
        "davon dazu damit darin derselbe dieselbe dasselbe letzterer ersterer"
    ),
    complaint=re.compile(
        r"\b(?:falsch|stimmt nicht|nicht (?:richtig|hilfreich|korrekt)|das meinte ich nicht|bist du sicher|"
        r"sind sie sicher|vergessen|schon gesagt|noch einmal)\b|^nein\b"
    ),
    thanks=re.compile(r"\b(?:danke|dankeschön|vielen dank|perfekt|super|prima|großartig)\b"),
    taken_back=re.compile(
        r"\b(?:entschuldigung|entschuldigen|mein fehler|ich habe mich geirrt|korrektur|haben recht)\b"
    ),
    ordinal_dot=True,
)

SPANISH = LanguageCues(
    spelled=_months(
        "enero febrero marzo abril mayo junio julio agosto septiembre/setiembre octubre noviembre diciembre"
    )
    | _numbers("dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince", 2)
    | _numbers("dieciséis diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro", 16)
    | _numbers("veinticinco veintiséis veintisiete veintiocho veintinueve treinta", 25)
    | _numbers("cuarenta cincuenta sesenta setenta ochenta noventa cien", 40, 10)
    | {"mil": "1000", "km": "kilómetro", "kg": "kilogramo", "cm": "centímetro", "mm": "milímetro", "min": "minuto"},
    phrases=((re.compile(r"\bpor ?ciento\b", re.IGNORECASE), "percent"),),
    refusal=re.compile(
        r"\bno (?:lo |se |me |le )?(?:sé|sabemos|puedo|podemos|puede|pude|conozco|tengo|tenemos|hay|consta|existe|"
        r"encuentro|encontré|dispongo|figura|aparece|contiene|contienen|menciona|mencionan|indica|indican|"
        r"especifica|dice|dicen|proporciona)\b"
        r"|\b(?:no|nunca) (?:está|están|es|fue) (?:\w+ )?(?:claro|clara|especificad\w|mencionad\w|indicad\w|"
        r"disponible|posible|conocid\w)\b"
        r"|\bdesconozco\b|\bdesconocid[oa]\b|\blo siento\b|\blamento\b|\bimposible (?:saber|responder|decir)\b"
        r"|\bni idea\b|\bsin (?:más )?(?:información|datos)\b"
    ),
    asks_number=_set("cuándo cuánto cuánta cuántos cuántas año fecha edad número porcentaje altura cuando cuanto"),
    asks_name=_set("quién quiénes dónde quien donde"),
    polar=_set("es son era fue está están tiene tienen puede pueden hay había existe debe"),
    says=_set("sí no"),
    negations=_set("no nunca jamás ningún ninguno ninguna nada nadie tampoco sin"),
    references=_set(
        "él ella ello ellos ellas lo la los las le les su sus este esta esto ese esa eso aquel aquella allí"
    ),
    complaint=re.compile(
        r"\b(?:incorrecto|equivocad\w|está mal|no es (?:cierto|correcto|verdad)|estás segur\w|olvidaste|ya (?:dije|te)|"
        r"no (?:responde|sirve|ayuda)|otra vez)\b|^no\b"
    ),
    thanks=re.compile(r"\b(?:gracias|perfecto|excelente|genial|estupendo)\b"),
    taken_back=re.compile(
        r"\b(?:perdón|disculp\w+|lo siento|mi error|me equivoqué|corrección|tienes razón|tiene razón)\b"
    ),
)

FRENCH = LanguageCues(
    spelled=_months(
        "janvier/janv février/févr mars avril/avr mai juin juillet/juil août/aout septembre/sept octobre/oct "
        "novembre/nov décembre/déc"
    )
    | _numbers("deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize", 2)
    | _numbers("vingt trente quarante cinquante soixante", 20, 10)
    | {"cent": "100", "mille": "1000", "km": "kilomètre", "kg": "kilogramme", "cm": "centimètre", "mm": "millimètre"},
    phrases=((re.compile(r"\bpour ?cent\b", re.IGNORECASE), "percent"),),
    refusal=re.compile(
        r"\b(?:ne|n')(?: ?\w+'?){1,4}? (?:pas|rien|aucune?|jamais|nulle part)\b[^.;]*"
        r"\b(?:savoir|dire|répondre|trouver|déterminer|préciser|précisée?|indiquée?|mentionnée?|informations?|réponse|"
        r"donnée?|connue?|disponibles?|possible|clair|spécifiée?|indication|mention)\b"
        r"|\bje (?:ne |n'en )?(?:sais|connais|peux|trouve) (?:pas|rien)\b|\bje l'ignore\b"
        r"|\b(?:ne|n')(?: ?\w+)? ?(?:dit|disent|précise|précisent|indique|indiquent|mentionne|mentionnent|contient|"
        r"contiennent|donne|donnent|parle|parlent)\b[^.;]*\b(?:pas|rien|aucune?)\b"
        r"|\baucune? (?:\w+ )?(?:informations?|réponse|indication|mention|donnée|idée)\b|\binconnue?s?\b"
        r"|\bdésolée?s?\b|\bimpossible (?:de|à) (?:savoir|répondre|dire)\b"
    ),
    asks_number=_set("quand combien année date âge longueur hauteur nombre pourcentage prix vitesse"),
    asks_name=_set("qui où"),
    polar=_set("est sont était ont a peut peuvent doit existe faut"),
    says=_set("oui non"),
    negations=_set("ne n pas jamais rien aucun aucune ni non personne sans"),
    references=_set(
        "il elle ils elles le la les lui leur leurs son sa ses ce cela ça cet cette ces celui celle y en là"
    ),
    complaint=re.compile(
        r"\b(?:faux|incorrecte?|pas (?:vrai|correct|utile|juste)|vous êtes sûre?|tu es sûre?|oublié|déjà dit|"
        r"ne répond(?:ez)? pas|encore une fois)\b|^non\b"
    ),
    thanks=re.compile(r"\b(?:merci|parfait|excellent|génial|super)\b"),
    taken_back=re.compile(r"\b(?:pardon|désolée?|excusez|mon erreur|je me suis trompée?|correction|avez raison)\b"),
)

NOTHING = LanguageCues()
LANGUAGE_CUES: Mapping[str, LanguageCues] = {"german": GERMAN, "spanish": SPANISH, "french": FRENCH}
"""Of the languages that have tables of their own."""


def cues_of(language: str) -> LanguageCues:
    """Cues that evidence looks for in a language."""
    return LANGUAGE_CUES.get(language, NOTHING)
