"""Holds the sentences of reasons in German, Spanish and French; counts stand apart, so that no plural has to agree."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Telling:
    """The sentences of one language; what stands in braces is filled in.

    Args:
        quote: A word in quotes.
        more: How many words are not listed.
        frames: What the two sides of a grade, and of a pair, are called, and what is said where nothing decided.
        verdicts: How a reason speaks of the model's verdict and of what overrode it.
        asks: A number, a name, a yes or no.
        phrases: All others, by what they say.
    """

    quote: str
    more: str
    frames: Mapping[str, str]
    verdicts: Mapping[str, str]
    asks: Mapping[str, str]
    phrases: Mapping[str, str]


GERMAN = Telling(
    quote="„{}“",
    more="{} und {} weitere",
    frames={
        "up": "Dafür: ",
        "down": "Dagegen: ",
        "a": "Für Antwort a: ",
        "b": "Für Antwort b: ",
        "for": "Für {}: ",
        "against": "Gegen {}: ",
        "similar": "die Noten ähnlicher Beispiele",
    },
    verdicts={
        "shares": "Beim Kompilieren unterschied die Evidenz keine Note von einer anderen: die häufigste Note.",
        "evidence": "die Evidenz",
        "calibration": "was solche Urteile wert sind, zusammen mit der Evidenz,",
        "changed": "Das Urteil war {}; {} machte daraus {}.",
        "silent": "Das Urteil war {verdict}, ohne Begründung.",
    },
    asks={"a number": "einer Zahl", "a name": "einem Namen", "a yes or no": "Ja oder Nein"},
    phrases={
        "missing": " (nicht: {})",
        "empty answer": "die Antwort ist leer",
        "empty document": "das Dokument ist leer",
        "empty query": "die Anfrage ist leer",
        "both empty": "beide Antworten sind leer",
        "one empty": "Antwort {} ist leer",
        "answers": "die Antwort weicht nicht aus",
        "unanswerable": "laut Referenz gibt es keine Antwort, die Antwort gibt eine",
        "refuses": "die Antwort sagt, dass sie es nicht weiß ({})",
        "refuses too": "{}, wie die Referenz",
        "refuses wrongly": "{}, obwohl die Referenz eine Antwort hat",
        "elsewhere": "die Antwort handelt von etwas anderem: {}",
        "question": "Hauptwörter der Frage in der Antwort: {} von {}",
        "length": "Wörter der Antwort: {}",
        "given": "die Frage fragt nach {}, und die Antwort liefert das",
        "not given": "die Frage fragt nach {}, und die Antwort liefert das nicht",
        "verbatim": "die Antwort enthält die Referenz Wort für Wort",
        "recall": "Wörter der Referenz in der Antwort: {} von {}",
        "lacks": "{}; der Antwort fehlt Satz {} von {} der Referenz ({})",
        "precision": "von den Wörtern, die die Antwort der Frage hinzufügt, stehen in der Referenz: {} von {}",
        "numbers": "Zahlen der Referenz in der Antwort: {} von {}",
        "names": "Namen und Hauptwörter der Referenz in der Antwort: {} von {}",
        "others": "{}; die Antwort hat: {}",
        "other numbers": "die Antwort hat Zahlen, die die Referenz nicht hat: {}",
        "support": "von den Wörtern, die die Antwort der Frage hinzufügt, stehen in den Kontexten: {} von {}",
        "supported": "alle Sätze sind durch die Kontexte gestützt: {}",
        "unsupported": "Satz {} von {} hat keine Stütze in den Kontexten ({})",
        "weak": "Satz {} von {} hat wenig Stütze in den Kontexten: {} von {} Wörtern ({})",
        "strangers": "kommt in den Kontexten nicht vor: {}",
        "known": "die Kontexte enthalten alle Namen und Zahlen der Antwort",
        "passages": "Hauptwörter der Frage in den Kontexten: {} von {}",
        "figure": "{} nennt eine andere Zahl als ein früherer Beitrag ({})",
        "contradicts": "{} widerspricht einem früheren Beitrag ({})",
        "turns": "Beiträge des Gesprächs: {}",
        "query": "Wörter der Anfrage im Dokument: {} von {}",
        "found": " ({})",
        "together": "Wörter der Anfrage im besten Satz: {} von {} ({})",
        "size": "Wörter des Dokuments: {}",
        "pair question": "Hauptwörter der Frage, {} insgesamt: Antwort a hat {}, Antwort b {}",
        "pair recall": "Wörter der Referenz, {} insgesamt: Antwort a hat {}, Antwort b {}",
        "pair numbers": "Zahlen der Referenz, {} insgesamt: Antwort a hat {}, Antwort b {}",
        "pair names": "Namen und Hauptwörter der Referenz, {} insgesamt: Antwort a hat {}, Antwort b {}",
        "only": "nur {}: {}",
        "pair precision": "von den hinzugefügten Wörtern stehen in der Referenz: {} % bei Antwort a, {} % bei b",
        "pair support": "von den hinzugefügten Wörtern stehen in den Kontexten: {} % bei Antwort a, {} % bei b",
        "pair length": "Wörter: {} in Antwort a, {} in Antwort b",
        "only says": "nur Antwort {} sagt {}",
        "both refuse": "beide Antworten sagen, dass sie es nicht wissen",
        "one refuses": "Antwort {} sagt, dass sie es nicht weiß ({})",
        "in answer": "in Antwort {}: {}",
    },
)

SPANISH = Telling(
    quote="«{}»",
    more="{} y {} más",
    frames={
        "up": "A favor: ",
        "down": "En contra: ",
        "a": "A favor de la respuesta a: ",
        "b": "A favor de la respuesta b: ",
        "for": "A favor de {}: ",
        "against": "En contra de {}: ",
        "similar": "las notas de ejemplos parecidos",
    },
    verdicts={
        "shares": "Al compilar, la evidencia no distinguió una nota de otra: la nota más frecuente.",
        "evidence": "la evidencia",
        "calibration": "lo que valen tales veredictos, junto con la evidencia,",
        "changed": "El veredicto era {}; {} lo cambió a {}.",
        "silent": "El veredicto era {verdict}, sin explicación.",
    },
    asks={"a number": "un número", "a name": "un nombre", "a yes or no": "un sí o un no"},
    phrases={
        "missing": " (no: {})",
        "empty answer": "la respuesta está vacía",
        "empty document": "el documento está vacío",
        "empty query": "la consulta está vacía",
        "both empty": "las dos respuestas están vacías",
        "one empty": "la respuesta {} está vacía",
        "answers": "la respuesta no elude la pregunta",
        "unanswerable": "la referencia dice que no hay respuesta y la respuesta da una",
        "refuses": "la respuesta dice que no lo sabe ({})",
        "refuses too": "{}, como la referencia",
        "refuses wrongly": "{}, aunque la referencia tiene una respuesta",
        "elsewhere": "la respuesta trata de otra cosa: {}",
        "question": "palabras principales de la pregunta en la respuesta: {} de {}",
        "length": "palabras de la respuesta: {}",
        "given": "la pregunta pide {} y la respuesta lo da",
        "not given": "la pregunta pide {} y la respuesta no lo da",
        "verbatim": "la respuesta contiene la referencia palabra por palabra",
        "recall": "palabras de la referencia en la respuesta: {} de {}",
        "lacks": "{}; a la respuesta le falta la frase {} de {} de la referencia ({})",
        "precision": "de las palabras que la respuesta añade a la pregunta, están en la referencia: {} de {}",
        "numbers": "números de la referencia en la respuesta: {} de {}",
        "names": "nombres de la referencia en la respuesta: {} de {}",
        "others": "{}; la respuesta tiene: {}",
        "other numbers": "la respuesta tiene números que no están en la referencia: {}",
        "support": "de las palabras que la respuesta añade a la pregunta, están en los contextos: {} de {}",
        "supported": "los contextos apoyan todas las frases: {}",
        "unsupported": "la frase {} de {} no tiene apoyo en los contextos ({})",
        "weak": "la frase {} de {} tiene poco apoyo en los contextos: {} de {} palabras ({})",
        "strangers": "no aparece en los contextos: {}",
        "known": "los contextos tienen todos los nombres y números de la respuesta",
        "passages": "palabras principales de la pregunta en los contextos: {} de {}",
        "figure": "{} da otra cifra que un turno anterior ({})",
        "contradicts": "{} contradice un turno anterior ({})",
        "turns": "turnos de la conversación: {}",
        "query": "palabras de la consulta en el documento: {} de {}",
        "found": " ({})",
        "together": "palabras de la consulta en la mejor frase: {} de {} ({})",
        "size": "palabras del documento: {}",
        "pair question": "palabras principales de la pregunta, {} en total: la respuesta a tiene {}, la respuesta b {}",
        "pair recall": "palabras de la referencia, {} en total: la respuesta a tiene {}, la respuesta b {}",
        "pair numbers": "números de la referencia, {} en total: la respuesta a tiene {}, la respuesta b {}",
        "pair names": "nombres de la referencia, {} en total: la respuesta a tiene {}, la respuesta b {}",
        "only": "solo {}: {}",
        "pair precision": "de las palabras añadidas, están en la referencia: {} % en la respuesta a, {} % en la b",
        "pair support": "de las palabras añadidas, están en los contextos: {} % en la respuesta a, {} % en la b",
        "pair length": "palabras: {} en la respuesta a, {} en la b",
        "only says": "solo la respuesta {} dice {}",
        "both refuse": "las dos respuestas dicen que no lo saben",
        "one refuses": "la respuesta {} dice que no lo sabe ({})",
        "in answer": "en la respuesta {}: {}",
    },
)

FRENCH = Telling(
    quote="« {} »",
    more="{} et {} de plus",
    frames={
        "up": "Pour : ",
        "down": "Contre : ",
        "a": "Pour la réponse a : ",
        "b": "Pour la réponse b : ",
        "for": "Pour {} : ",
        "against": "Contre {} : ",
        "similar": "les notes d'exemples semblables",
    },
    verdicts={
        "shares": "À la compilation, les indices n'ont distingué aucune note d'une autre : la note la plus fréquente.",
        "evidence": "l'analyse des textes",
        "calibration": "ce que valent de tels verdicts, avec l'analyse des textes,",
        "changed": "Le verdict était {} ; {} l'a changé en {}.",
        "silent": "Le verdict était {verdict}, sans explication.",
    },
    asks={"a number": "un nombre", "a name": "un nom", "a yes or no": "un oui ou un non"},
    phrases={
        "missing": " (pas : {})",
        "empty answer": "la réponse est vide",
        "empty document": "le document est vide",
        "empty query": "la requête est vide",
        "both empty": "les deux réponses sont vides",
        "one empty": "la réponse {} est vide",
        "answers": "la réponse n'élude pas la question",
        "unanswerable": "selon la référence il n'y a pas de réponse, et la réponse en donne une",
        "refuses": "la réponse dit qu'elle ne sait pas ({})",
        "refuses too": "{}, comme la référence",
        "refuses wrongly": "{}, alors que la référence a une réponse",
        "elsewhere": "la réponse parle d'autre chose : {}",
        "question": "mots principaux de la question dans la réponse : {} sur {}",
        "length": "mots de la réponse : {}",
        "given": "la question demande {} et la réponse le donne",
        "not given": "la question demande {} et la réponse ne le donne pas",
        "verbatim": "la réponse contient la référence mot pour mot",
        "recall": "mots de la référence dans la réponse : {} sur {}",
        "lacks": "{} ; il manque à la réponse la phrase {} sur {} de la référence ({})",
        "precision": "des mots que la réponse ajoute à la question, sont dans la référence : {} sur {}",
        "numbers": "nombres de la référence dans la réponse : {} sur {}",
        "names": "noms de la référence dans la réponse : {} sur {}",
        "others": "{} ; la réponse a : {}",
        "other numbers": "la réponse a des nombres que la référence n'a pas : {}",
        "support": "des mots que la réponse ajoute à la question, sont dans les contextes : {} sur {}",
        "supported": "les contextes appuient toutes les phrases : {}",
        "unsupported": "la phrase {} sur {} n'a aucun appui dans les contextes ({})",
        "weak": "la phrase {} sur {} a peu d'appui dans les contextes : {} mots sur {} ({})",
        "strangers": "absent des contextes : {}",
        "known": "les contextes ont tous les noms et nombres de la réponse",
        "passages": "mots principaux de la question dans les contextes : {} sur {}",
        "figure": "{} donne un autre chiffre qu'un tour précédent ({})",
        "contradicts": "{} contredit un tour précédent ({})",
        "turns": "tours de la conversation : {}",
        "query": "mots de la requête dans le document : {} sur {}",
        "found": " ({})",
        "together": "mots de la requête dans la meilleure phrase : {} sur {} ({})",
        "size": "mots du document : {}",
        "pair question": "mots principaux de la question, {} en tout : la réponse a en a {}, la réponse b {}",
        "pair recall": "mots de la référence, {} en tout : la réponse a en a {}, la réponse b {}",
        "pair numbers": "nombres de la référence, {} en tout : la réponse a en a {}, la réponse b {}",
        "pair names": "noms de la référence, {} en tout : la réponse a en a {}, la réponse b {}",
        "only": "seulement {} : {}",
        "pair precision": "des mots ajoutés, sont dans la référence : {} % pour la réponse a, {} % pour la b",
        "pair support": "des mots ajoutés, sont dans les contextes : {} % pour la réponse a, {} % pour la b",
        "pair length": "mots : {} dans la réponse a, {} dans la b",
        "only says": "seule la réponse {} dit {}",
        "both refuse": "les deux réponses disent qu'elles ne savent pas",
        "one refuses": "la réponse {} dit qu'elle ne sait pas ({})",
        "in answer": "dans la réponse {} : {}",
    },
)
TELLINGS: Mapping[str, Telling] = {"german": GERMAN, "spanish": SPANISH, "french": FRENCH}
"""By language; reasons in any other are English."""


def telling_of(languages: tuple[str, ...]) -> Telling | None:
    """The sentences for a judge of these languages; None for English, and of several."""
    return TELLINGS.get(languages[0]) if len(languages) == 1 else None
