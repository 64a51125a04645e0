"""Says in other languages what the grades of the built-in tasks mean, for rubrics in the language of the labels."""

from collections.abc import Mapping, Sequence

GERMAN, SPANISH, FRENCH = "german", "spanish", "french"

_MEANINGS: tuple[tuple[str, str, str, str], ...] = (  # English, German, Spanish, French
    (
        "not aligned, off topic or hallucinated; a hallucination is worse than an honest 'I don't know'",
        "unpassend, am Thema vorbei oder erfunden; Erfundenes ist schlechter als ein ehrliches 'Ich weiß es nicht'",
        "no corresponde, se sale del tema o es inventada; inventar es peor que un honesto 'no lo sé'",
        "inadaptée, hors sujet ou inventée ; inventer est pire qu'un honnête « je ne sais pas »",
    ),
    (
        "honestly admits that it cannot answer, or that context is missing",
        "gibt ehrlich zu, dass sie nicht antworten kann oder dass Kontext fehlt",
        "admite honestamente que no puede responder o que falta contexto",
        "admet honnêtement ne pas pouvoir répondre, ou que le contexte manque",
    ),
    (
        "relevant, with notable errors",
        "zum Thema, mit deutlichen Fehlern",
        "pertinente, con errores notables",
        "pertinente, avec des erreurs notables",
    ),
    (
        "acceptable and sufficient, not exhaustive",
        "annehmbar und ausreichend, nicht erschöpfend",
        "aceptable y suficiente, no exhaustiva",
        "acceptable et suffisante, non exhaustive",
    ),
    (
        "fully accurate and comprehensive",
        "völlig richtig und umfassend",
        "totalmente correcta y completa",
        "entièrement exacte et complète",
    ),
    (
        "not relevant: the document is not on topic",
        "nicht relevant: das Dokument gehört nicht zum Thema",
        "no relevante: el documento no trata del tema",
        "non pertinent : le document ne traite pas du sujet",
    ),
    (
        "somewhat relevant: the document is on topic but does not fully answer the query",
        "etwas relevant: das Dokument gehört zum Thema, beantwortet die Frage aber nicht ganz",
        "algo relevante: el documento trata del tema, pero no responde del todo a la consulta",
        "assez pertinent : le document traite du sujet sans répondre entièrement à la requête",
    ),
    (
        "very relevant: the document is on topic and answers the query",
        "sehr relevant: das Dokument gehört zum Thema und beantwortet die Frage",
        "muy relevante: el documento trata del tema y responde a la consulta",
        "très pertinent : le document traite du sujet et répond à la requête",
    ),
    (
        "the answer is not relevant to the user's question",
        "die Antwort geht an der Frage vorbei",
        "la respuesta no es pertinente para la pregunta",
        "la réponse n'a pas de rapport avec la question",
    ),
    (
        "the answer is relevant to a part of the question",
        "die Antwort betrifft einen Teil der Frage",
        "la respuesta es pertinente para una parte de la pregunta",
        "la réponse se rapporte à une partie de la question",
    ),
    (
        "the answer is relevant to the whole question",
        "die Antwort betrifft die ganze Frage",
        "la respuesta es pertinente para toda la pregunta",
        "la réponse se rapporte à toute la question",
    ),
    (
        "the answer is factually wrong",
        "die Antwort ist sachlich falsch",
        "la respuesta es incorrecta en los hechos",
        "la réponse est fausse dans les faits",
    ),
    (
        "the answer is partly correct",
        "die Antwort ist zum Teil richtig",
        "la respuesta es correcta en parte",
        "la réponse est en partie juste",
    ),
    (
        "everything in the answer is correct",
        "alles in der Antwort ist richtig",
        "todo en la respuesta es correcto",
        "tout est juste dans la réponse",
    ),
    (
        "the answer does not give enough information to answer the question",
        "die Antwort sagt nicht genug, um die Frage zu beantworten",
        "la respuesta no da información suficiente para contestar la pregunta",
        "la réponse ne donne pas assez d'informations pour répondre à la question",
    ),
    (
        "the answer covers only some parts of the question",
        "die Antwort behandelt nur Teile der Frage",
        "la respuesta cubre solo algunas partes de la pregunta",
        "la réponse ne couvre que certaines parties de la question",
    ),
    (
        "the answer covers the whole question",
        "die Antwort behandelt die ganze Frage",
        "la respuesta cubre toda la pregunta",
        "la réponse couvre toute la question",
    ),
    (
        "the answer does not speak of the product or entity that was asked about, nor of a similar one",
        "die Antwort spricht weder von dem Produkt oder der Sache, nach der gefragt ist, noch von etwas Ähnlichem",
        "la respuesta no habla del producto o de la entidad por la que se pregunta ni de otra similar",
        "la réponse ne parle ni du produit ou de l'entité en question, ni d'un semblable",
    ),
    (
        "the answer speaks of a similar product or entity, but not of the one that was asked about",
        "die Antwort spricht von einem ähnlichen Produkt oder einer ähnlichen Sache, aber nicht von der gefragten",
        "la respuesta habla de un producto o una entidad similar, pero no de la que se pregunta",
        "la réponse parle d'un produit ou d'une entité semblable, mais pas de celui en question",
    ),
    (
        "the answer speaks of exactly the product or entity that was asked about, or none was",
        "die Antwort spricht genau von dem Produkt oder der Sache, nach der gefragt ist, wenn nach einer",
        "la respuesta habla exactamente del producto o de la entidad por la que se pregunta, si la hay",
        "la réponse parle exactement du produit ou de l'entité en question, s'il y en a un",
    ),
    ("not at all", "gar nicht", "en absoluto", "pas du tout"),
    ("in part", "zum Teil", "en parte", "en partie"),
    ("fully", "ganz", "por completo", "entièrement"),
    ("answer A is better", "Antwort A ist besser", "la respuesta A es mejor", "la réponse A est meilleure"),
    ("answer B is better", "Antwort B ist besser", "la respuesta B es mejor", "la réponse B est meilleure"),
    (
        "they are equally good",
        "sie sind gleich gut",
        "son igual de buenas",
        "elles se valent",
    ),
)
TRANSLATIONS: Mapping[str, Mapping[str, str]] = {
    language: {row[0]: row[1 + place] for row in _MEANINGS} for place, language in enumerate((GERMAN, SPANISH, FRENCH))
}
"""What the meanings of grades are called, by language."""


def translated(meanings: Sequence[str], language: str) -> tuple[str, ...]:
    """The meanings in a language; as they are where one of them is the user's own, or the language has none."""
    known = TRANSLATIONS.get(language, {})
    return tuple([known[text] for text in meanings]) if all(text in known for text in meanings) else tuple(meanings)
