"""Label sets in four languages, constructed for the tests: nobody graded them.

The reference names three things in the plural; the answers name eight in the singular. The grade is how many of the
three are among them. The things are the same in every language, so that the languages can be compared.
"""

import numpy as np

from judgec.records.label import Item

NOUNS = {  # singular and plural of the same 24 things
    "english": "house/houses book/books tree/trees city/cities bridge/bridges garden/gardens ship/ships forest/forests "
    "tower/towers street/streets church/churches king/kings bird/birds river/rivers machine/machines school/schools "
    "newspaper/newspapers flower/flowers island/islands mountain/mountains doctor/doctors factory/factories "
    "animal/animals song/songs",
    "german": "Haus/Häuser Buch/Bücher Baum/Bäume Stadt/Städte Brücke/Brücken Garten/Gärten Schiff/Schiffe Wald/Wälder "
    "Turm/Türme Straße/Straßen Kirche/Kirchen König/Könige Vogel/Vögel Fluss/Flüsse Maschine/Maschinen Schule/Schulen "
    "Zeitung/Zeitungen Blume/Blumen Insel/Inseln Berg/Berge Arzt/Ärzte Fabrik/Fabriken Tier/Tiere Lied/Lieder",
    "spanish": "casa/casas libro/libros árbol/árboles ciudad/ciudades puente/puentes jardín/jardines barco/barcos "
    "bosque/bosques torre/torres calle/calles iglesia/iglesias rey/reyes pájaro/pájaros río/ríos máquina/máquinas "
    "escuela/escuelas periódico/periódicos flor/flores isla/islas montaña/montañas médico/médicos fábrica/fábricas "
    "animal/animales canción/canciones",
    "french": "maison/maisons livre/livres arbre/arbres ville/villes pont/ponts jardin/jardins bateau/bateaux "
    "forêt/forêts tour/tours rue/rues église/églises roi/rois oiseau/oiseaux fleuve/fleuves machine/machines "
    "école/écoles journal/journaux fleur/fleurs île/îles montagne/montagnes médecin/médecins usine/usines "
    "animal/animaux chanson/chansons",
}
SENTENCES = {  # question, reference, answer
    "english": (
        "What is this text about, and what can be read in it? ({})",
        "It is about {}, {} and {}.",
        "In this text the keywords are {}.",
    ),
    "german": (
        "Worum geht es in diesem Text, und was kann man darin lesen? ({})",
        "Es geht um {}, {} und {}.",
        "In diesem Text sind die Stichwörter {}.",
    ),
    "spanish": (
        "¿De qué trata este texto y qué se puede leer en él? ({})",
        "Se trata de {}, {} y {}.",
        "En este texto las palabras clave son {}.",
    ),
    "french": (
        "De quoi parle ce texte et que peut-on y lire ? ({})",
        "On y parle de {}, {} et {}.",
        "Dans ce texte les mots clés sont {}.",
    ),
}
GRADES = (1, 2, 3, 4)
NAMED = 8  # things in an answer


def language_set(language: str, queries: int = 40, seed: int = 0) -> tuple[list[Item], list[int]]:
    """Items and their grades' positions: of each query one answer with none, one, two and three right."""
    rng = np.random.default_rng(seed)
    pairs = [pair.split("/") for pair in NOUNS[language].split()]
    question, reference, answer = SENTENCES[language]
    items, grades = [], []
    for number in range(queries):
        order = rng.permutation(len(pairs)).tolist()
        wanted, others = order[:3], order[3:]
        for right in range(4):
            said = [*wanted[:right], *others[: NAMED - right]]
            rng.shuffle(said)
            inputs = {
                "query": question.format(number),
                "reference": reference.format(*(pairs[i][1] for i in wanted)),
                "answer": answer.format(", ".join(pairs[i][0] for i in said)),
            }
            items.append(Item(f"{language}-{number}-{right}", f"{language}-{number}", inputs))
            grades.append(right)
    return items, grades
