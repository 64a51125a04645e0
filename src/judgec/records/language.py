"""Tells the language of texts by their function words or their script, and which of them have a stemmer.

The words are the commonest articles, pronouns, prepositions, conjunctions and auxiliaries, in lower case.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from judgec.records.label import Item

ENGLISH = "english"

_WORD = re.compile(r"[^\W\d_]+")
_READ = 1_000  # characters of a text that are looked at
_COUNTED = 4_096  # texts whose words are remembered: a few megabytes, and more than those of _MOST items
_MOST = 400  # items of a set, from its beginning to its end: files may be sorted by language
_LEAST_SET, _LEAST_ITEM = 8, 3  # function words of a language before it is believed
_LEAST_SHARE = 0.12  # of a text's words; a fifth to a half is usual
_LEAD = 1.25  # over English, before a text is in another language
_SCRIPT_SHARE = 0.3  # of the letters
_SECOND_SHARE, _SECOND_ITEMS = 0.1, 5  # of the items, before a set is in several languages


@dataclass(frozen=True, slots=True)
class Language:
    """Facts known of a language.

    Args:
        words: Its function words; empty where the script tells it.
        stems: Whether there is a stemmer.
        comma: 3,5 is three and a half, 1.000 is a thousand.
        plural_s: Snowball leaves the s of some plurals, of short words above all; it is cut off.
        elided: Endings of words that are written onto the next one with an apostrophe, as a pattern.
    """

    words: frozenset[str] = frozenset()
    stems: bool = True
    comma: bool = True
    plural_s: bool = False
    elided: str = ""


def _of(words: str, *, stems: bool = True, comma: bool = True, plural_s: bool = False, elided: str = "") -> Language:
    return Language(frozenset(words.split()), stems, comma, plural_s, elided)


LANGUAGES: Mapping[str, Language] = {
    ENGLISH: _of(
        "the of and to in a is that it for was on as with be by at are this not from have or an which but they were "
        "his he she has had their its you what when who how does did do can would will there been",
        comma=False,
    ),
    "german": _of(
        "der die das des dem den ein eine einer eines einem einen und oder aber denn sondern doch weil dass daß wenn "
        "als ob wie damit obwohl während ich du er sie es wir ihr mich dich sich uns euch ihn ihm ihnen mir dir mein "
        "meine dein deine sein seine seiner seinem seinen ihre ihrer ihrem ihren unser unsere dieser diese dieses "
        "diesem diesen jener jene jenes welcher welche welches welchem welchen wer was wen wem wessen wo wohin woher "
        "wann warum wieso man ist sind war waren bin bist seid gewesen wird werden wurde wurden worden habe hat haben "
        "hatte hatten hast kann können konnte muss müssen musste soll sollen sollte will wollen darf dürfen mag möge "
        "würde würden nicht kein keine keiner keinen keinem auch nur noch schon sehr so zu zum zur in im an am auf "
        "aus bei beim mit nach von vom vor für über unter um durch gegen ohne bis seit zwischen da dort hier hin her "
        "dann also mehr alle allem allen aller alles"
    ),
    "spanish": _of(
        "el la los las lo un una unos unas y e o u pero sino aunque porque que si como cuando donde mientras pues de "
        "del a al en con por para sin sobre entre desde hasta hacia según ante bajo tras contra durante yo tú él ella "
        "ello nosotros vosotros ellos ellas usted ustedes me te se nos os le les mi mis tu tus su sus nuestro nuestra "
        "este esta estos estas esto ese esa esos esas eso aquel aquella aquellos aquellas quien quién quienes qué "
        "cuál cuáles cual cuales cuándo dónde cómo cuánto cuánta cuántos cuántas es son era eran fue fueron ser sido "
        "siendo soy eres somos está están estaba estaban estar ha han había habían hay haber tiene tienen tenía puede "
        "pueden podía debe deben no ni también muy más menos ya sólo solo así todo toda todos todas otro otra otros "
        "otras",
        plural_s=True,
    ),
    "french": _of(
        "le la les un une des du de d l et ou mais donc or ni car que qu qui quoi dont où si comme quand lorsque "
        "puisque parce à au aux en dans par pour sur sous avec sans entre vers chez depuis pendant avant après contre "
        "je j tu il elle on nous vous ils elles me m te t se s lui leur leurs y mon ma mes ton ta tes son sa ses "
        "notre nos votre vos ce c cet cette ces cela ça celui celle ceux celles quel quelle quels quelles lequel "
        "laquelle est sont était étaient être été suis es sommes êtes sera seront fut furent a ont avait avaient "
        "avoir eu ai as avons avez aura auront peut peuvent pouvait doit doivent fait ne n pas plus moins très aussi "
        "tout toute tous toutes même autre autres combien comment pourquoi",
        plural_s=True,
        elided=r"(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu)'",
    ),
    "italian": _of(
        "il lo la i gli le un uno una l e ed o ma se che chi cui non di del dello della dei degli delle a al allo "
        "alla ai agli alle da dal dallo dalla dai in nel nello nella nei negli nelle con su sul sulla sui per tra fra "
        "io tu lui lei noi voi loro mi ti si ci vi ne è sono era erano essere stato stata ha hanno aveva avere può "
        "possono questo questa questi queste quello quella quale quali quando dove come perché quanto quanti anche "
        "più molto suo sua suoi sue",
        elided=r"(?:l|un|dell|all|dall|nell|sull|c|d|s|quell|quest)'",
    ),
    "portuguese": _of(
        "o a os as um uma uns umas e ou mas se que quem de do da dos das em no na nos nas por pelo pela pelos pelas "
        "para com sem sobre entre até desde eu tu ele ela nós vós eles elas você vocês me te lhe lhes seu sua seus "
        "suas este esta estes estas isto esse essa isso aquele aquela é são era eram foi foram ser está estão tem têm "
        "tinha há pode podem não também mais muito como quando onde qual quais porque ao à aos às",
        plural_s=True,
    ),
    "dutch": _of(
        "de het een en of maar want dat die dit deze er in op aan van met voor door bij naar uit over tot om onder "
        "tegen ik jij je hij zij ze wij we jullie u hem haar hun mijn zijn is was waren ben bent wordt worden werd "
        "heeft hebben had hadden kan kunnen moet zal zou niet geen ook nog wel als wat wie waar wanneer hoe welke te"
    ),
    "swedish": _of(
        "och att det som en ett är var för på med av till den de inte om så men från vid har hade han hon vi ni jag "
        "du sig sin sitt sina detta denna dessa när hur vad vem kan ska skulle eller också mycket där här efter under"
    ),
    "danish": _of(
        "og at det som en et er var for på med af til den de ikke om så men fra ved har havde han hun vi jeg du sig "
        "sin sit sine dette denne disse når hvordan hvad hvem hvor kan skal skulle eller også meget der her efter blev"
    ),
    "norwegian": _of(
        "og å det som en et er var for på med av til den de ikke om så men fra ved har hadde han hun vi jeg du seg "
        "sin sitt sine dette denne disse når hvordan hva hvem hvor kan skal skulle eller også mye der her etter ble"
    ),
    "finnish": _of(
        "ja on ei se että oli ovat olla ole hän ne tämä joka mutta kun niin kuin myös tai jos sen sitä mitä mikä kuka "
        "missä milloin miten jotka olivat voi vain sekä eivät hänen heidän ollut"
    ),
    "polish": _of(
        "i w z na do nie się jest to że o jak od po za przez dla przy a ale lub oraz czy który która które był była "
        "było były być są co kto gdzie kiedy dlaczego ten ta te tego tej tych jego jej ich może także tylko we ze"
    ),
    "czech": _of(
        "a v na je se že s z do o k i za po pro od ve který která které byl byla bylo byli být jsou jako ale nebo co "
        "kdo kde kdy jak proč ten ta to tento tato jeho její jejich není také při podle si již jen může"
    ),
    "romanian": _of(
        "și în de la cu pe un o este sunt era nu că care din pentru mai a al ai ale să se au fost prin sau dar ce "
        "cine unde când cum această acest aceste lui ei lor după până fi poate despre"
    ),
    "hungarian": _of(
        "a az és hogy nem is egy volt van meg ez azt de ha mint vagy csak még már el ki mi aki ami amely hol mikor "
        "miért hogyan voltak lehet után között által szerint ezt neki"
    ),
    "turkish": _of(
        "ve bir bu da de için ile ne olarak daha çok gibi var en olan o ki ama ya mı mi mu mü değil kadar sonra her "
        "veya nasıl neden nerede kim hangi oldu olduğu tarafından şu ancak"
    ),
    "russian": _of(
        "и в не на что с по как это из у за от к о для но а он она они его её их был была было были быть есть или "
        "который которая которые при так же то мы вы я где когда кто почему также только до после"
    ),
    "greek": _of(
        "και το η ο της του να των είναι που για με στο στην από την τον τα οι δεν θα ένα μια στη στα ήταν αυτό αυτή "
        "ή αλλά τι ποιος πού πότε πώς έχει"
    ),
    "arabic": _of(
        "في من على إلى أن هو هي هذا هذه التي الذي عن مع كان كانت ما لا أو ثم قد بين بعد قبل كل عند إن كما لم لن هل "
        "متى أين كيف",
        comma=False,
    ),
    "ukrainian": _of(
        "і в не на що з по як це із у за від до для але а він вона вони його її їх був була було були бути є або "
        "який яка які при так же та й ми ви я де коли хто чому також тільки після",
        stems=False,
    ),
    "vietnamese": _of(
        "và của là có không được cho các một những với trong người này đã từ khi để theo cũng như về đến ở ra thì "
        "nào gì bao nhiêu đó tại",
        stems=False,
    ),
    "chinese": _of("", stems=False, comma=False),
    "japanese": _of("", stems=False, comma=False),
    "korean": _of("", stems=False, comma=False),
    "thai": _of("", stems=False, comma=False),
    "hebrew": _of("", stems=False, comma=False),
    "hindi": _of("", stems=False, comma=False),  # the words that evidence reads end at vowel signs
}
"""Every language that is told apart; its name is also the stemmer's."""

_TELLING: Mapping[str, tuple[str, ...]] = {
    word: tuple(name for name, language in LANGUAGES.items() if word in language.words)
    for word in sorted({word for language in LANGUAGES.values() for word in language.words})
}
_SCRIPTS = (
    ("japanese", re.compile("[\u3040-\u30ff]")),  # before Chinese: its texts have Chinese characters, too
    ("chinese", re.compile("[\u3400-\u9fff]")),
    ("korean", re.compile("[\uac00-\ud7af]")),
    ("thai", re.compile("[\u0e00-\u0e7f]")),
    ("hebrew", re.compile("[\u0590-\u05ff]")),
    ("hindi", re.compile("[\u0900-\u097f]")),
)


def language_of(texts: Iterable[str], among: Sequence[str] = (), *, least: int = _LEAST_SET) -> str | None:
    """The language of texts taken together, or None where they are too short or too mixed to say.

    Args:
        texts: Any number.
        among: The languages that it can be; default: all.
        least: Function words that it must have.
    """
    hits, words, letters = Counter[str](), 0, Counter[str]()
    for text in texts:
        of_text = _counted(text[:_READ])
        hits.update(of_text[0])
        words += of_text[1]
        letters.update(of_text[2])
    for name, _ in _SCRIPTS:
        han = letters["chinese"] if name == "japanese" else 0
        if letters[name] and letters[name] + han > _SCRIPT_SHARE * letters["all"] and (not among or name in among):
            return name
    best = max(among or LANGUAGES, key=lambda name: (hits[name], name == ENGLISH, name))
    english = hits[ENGLISH] if not among or ENGLISH in among else 0
    sure = hits[best] >= least and hits[best] >= _LEAST_SHARE * words
    return best if sure and (best == ENGLISH or hits[best] >= _LEAD * english) else None


@lru_cache(maxsize=_COUNTED)
def _counted(text: str) -> tuple[Counter[str], int, Counter[str]]:
    """Function words of each language, words, and letters of each script; asked six times a compile."""
    read = unicodedata.normalize("NFC", text)
    found = _WORD.findall(read.lower())
    hits, letters = Counter[str](), Counter[str](all=sum(map(len, found)))
    for word in found:
        hits.update(_TELLING.get(word, ()))
    if not read.isascii():
        letters.update({name: len(pattern.findall(read)) for name, pattern in _SCRIPTS})
    return hits, len(found), letters


def item_language(item: Item, languages: Sequence[str]) -> str:
    """The language of one item among a judge's; the first where it cannot be told.

    Args:
        item: The item.
        languages: At least one.
    """
    if len(languages) == 1:
        return languages[0]
    return language_of(_texts(item), languages, least=_LEAST_ITEM) or languages[0]


def languages_of(items: Sequence[Item]) -> tuple[str, ...]:
    """The languages of a set of items, the commonest first; English where no language can be told.

    One language, unless others have a tenth of the items each and five items at least.
    """
    looked = items[:: -(-len(items) // _MOST)] if items else ()
    counts = Counter(found for item in looked if (found := language_of(_texts(item), least=_LEAST_ITEM)))
    told = counts.total()
    ranked = sorted(counts, key=lambda name: (-counts[name], name))
    several = [name for name in ranked if counts[name] >= max(_SECOND_ITEMS, _SECOND_SHARE * told)]
    if len(several) > 1:
        return tuple(several)
    return (language_of(text for item in looked for text in _texts(item)) or ENGLISH,)


def language_notes(languages: Sequence[str]) -> tuple[str, ...]:
    """Notes for a reader of the report on the labels' languages; nothing of English ones."""
    if tuple(languages) == (ENGLISH,):
        return ()
    named = [name.title() for name in languages]
    said = [
        f"the texts are in {named[0]}: evidence uses its stemmer and function words, reasons are asked for in it"
        if len(named) == 1 and LANGUAGES[languages[0]].stems
        else f"the texts are in {named[0]}: reasons are asked for in it"
        if len(named) == 1
        else f"the texts are in {', '.join(named)}: evidence reads each item in its own, reasons are asked for in it"
    ]
    if bare := [name.title() for name in languages if not LANGUAGES[name].stems]:
        said.append(f"there is no stemmer for {', '.join(bare)}: evidence compares words as they are written")
    return tuple(said)


def _texts(item: Item) -> Iterator[str]:
    for value in item.inputs.values():
        yield from (value,) if isinstance(value, str) else value
