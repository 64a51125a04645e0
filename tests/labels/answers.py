"""Answers of somebody who knows the tables of ``messy``: who graded, what the grades mean, what the columns are."""

from collections.abc import Mapping
from typing import Any

ANSWERS: Mapping[str, Mapping[str, Any]] = {  # any option of init
    "title_above_the_header": {
        "columns": {"Question": "query", "Answer": "answer"},
        "annotators": ("Mia", "Noah"),
        "best": "5",
    },
    "title_above_the_header_of_a_csv": {
        "columns": {"Question": "query", "Answer": "answer"},
        "annotators": ("Score Mia", "Score Noah"),
        "best": "5",
    },
    "titel_ueber_dem_kopf": {
        "columns": {"Frage": "query", "Antwort": "answer"},
        "annotators": ("Lena", "Tim"),
        "best": "5",
    },
    "excel_names_its_separator": {
        "columns": {"Question": "query", "Answer": "answer"},
        "annotators": ("Mia", "Noah"),
        "best": "5",
    },
    "question_merged_over_its_answers": {
        "columns": {"Question": "query", "Model": "agent", "Answer": "answer"},
        "annotators": ("Mia", "Noah"),
        "best": "5",
    },
    "heading_merged_over_people": {
        "columns": {"ID": "item_id", "Question": "query", "Answer": "answer"},
        "annotators": ("Ana", "Ben", "Cleo"),
        "best": "3",
    },
    "mittelwert_darunter": {
        "columns": {"Nr.": "item_id", "Frage": "query", "Antwort": "answer"},
        "annotators": ("Lena", "Tim"),
        "best": "5",
    },
    "sum_and_mean_below_an_empty_row": {
        "columns": {"No": "item_id", "Question": "query", "Answer": "answer"},
        "annotators": ("Mia", "Noah"),
        "best": "2",
    },
    "footnotes_below": {
        "columns": {"Question": "query", "Answer": "answer"},
        "annotators": ("Mia", "Noah"),
        "best": "5",
    },
    "sections_between_rows": {
        "columns": {"Frage": "query", "Antwort": "answer"},
        "annotators": ("Lena", "Tim"),
        "best": "5",
    },
    "header_repeated_on_each_page": {
        "columns": {"Question": "query", "Answer": "answer"},
        "annotators": ("Mia", "Noah"),
        "best": "5",
    },
    "decimal_commas": {
        "columns": {"Question": "query", "Réponse": "answer"},
        "annotators": ("Marie", "Paul"),
        "grades": ("1", "1.5", "2", "2.5", "3"),
    },
    "percent": {
        "columns": {"Question": "query", "Answer": "answer"},
        "annotators": ("Mia", "Noah"),
        "grades": ("0", "0.25", "0.5", "0.75", "1"),
    },
    "marks_of_nothing": {
        "columns": {"Question": "query", "Answer": "answer"},
        "annotators": ("Mia", "Noah"),
        "best": "5",
    },
    "stray_text_among_grades": {
        "columns": {"Question": "query", "Answer": "answer"},
        "annotators": ("Mia", "Noah"),
        "best": "5",
        "missing": ("see comment", "ask Tom"),
    },
    "numbers_dates_and_constants": {
        "columns": {"Nr": "item_id", "Question": "query", "Answer": "answer"},
        "annotators": ("Mia", "Noah"),
        "best": "5",
    },
    "version_and_models_judge": {
        "columns": {"No": "item_id", "Customer question": "query", "Version": "agent", "Reply": "answer"},
        "annotators": ("Score Mia", "Score Noah"),
        "judges": ("GPT-4 Judge",),
        "best": "5",
    },
    "names_with_an_apostrophe": {
        "columns": {"prompt": "query", "bot": "agent", "response": "answer"},
        "annotators": ("Mia's score", "Noah’s score"),
        "judges": {"llm_judge": "0..5"},
        "best": "5",
    },
    "automatic_score": {
        "columns": {"Question": "query", "Answer": "answer"},
        "annotators": ("Mia", "Noah", "Zoe"),
        "judges": {"auto score": "0..1"},
        "grades": ("bad", "fair", "good"),
    },
    "bewertungsbogen": {
        "columns": {"Nr": "item_id", "Frage": "query", "Antwort": "answer", "Ausführung": "agent"},
        "annotators": ("Prüferin Lena", "Prüfer Tim"),
        "judges": {"KI-Wert": "0..1"},
        "grades": ("nein", "teilweise", "ja"),
    },
    "legend_on_another_sheet": {
        "columns": {"Frage": "query", "Antwort": "answer"},
        "annotators": ("Note Lena", "Note Tim"),
        "best": "5",
    },
    "read_me_before_the_ratings": {
        "columns": {"Question": "query", "Answer": "answer"},
        "annotators": ("Rater Mia", "Rater Noah"),
        "best": "3",
    },
    "one_row_a_person": {
        "columns": {"Bewerter": "annotator", "Frage": "query", "Antwort": "answer", "Bewertung": "grade"},
        "annotators": ("Lena", "Tim"),
        "best": "5",
    },
    "answers_of_a_form": {
        "columns": {
            "Email Address": "annotator",
            "Question": "query",
            "Answer": "answer",
            "How good is the answer?": "grade",
        },
        "annotators": ("mia@example.org", "noah@example.org"),
        "best": "5",
    },
    "graded_again": {
        "columns": {"question": "query", "rater": "annotator", "rating": "grade"},
        "annotators": ("Mia", "Noah"),
        "best": "5",
    },
    "score_of_each_rater": {
        "columns": {"Question": "query", "Answer": "answer", "Rater": "annotator", "Score": "grade"},
        "annotators": ("Mia", "Noah"),
        "best": "5",
    },
    "same_text_of_two_models": {"columns": {"question": "query", "model": "agent", "rating": "grade"}, "best": "3"},
    "two_answers_beside_each_other": {
        "columns": {"Customer question": "query", "Ideal reply": "reference"},
        "annotators": ("Mia r1", "Noah r1"),
        "best": "5",
    },
    "spanish": {
        "columns": {"Nº": "item_id", "Pregunta": "query", "Respuesta": "answer"},
        "annotators": ("Calificación Ana", "Calificación Luis"),
        "best": "5",
    },
    "italian": {
        "columns": {"Domanda": "query", "Risposta": "answer"},
        "annotators": ("Voto Anna", "Voto Luca"),
        "best": "4",
    },
    "portuguese": {
        "columns": {"Pergunta": "query", "Resposta": "answer"},
        "annotators": ("Avaliação Ana", "Avaliação João"),
        "grades": ("ruim", "regular", "bom"),
    },
    "dutch": {
        "columns": {"Vraag": "query", "Antwoord": "answer", "Versie": "agent"},
        "annotators": ("Score Jan", "Score Piet"),
        "best": "5",
    },
    "polish": {
        "columns": {"Pytanie": "query", "Odpowiedź": "answer"},
        "annotators": ("Ocena Ewa", "Ocena Jan"),
        "best": "5",
    },
    "russian": {
        "columns": {"№": "item_id", "Вопрос": "query", "Ответ": "answer"},
        "annotators": ("Анна", "Иван"),
        "best": "2",
    },
    "chinese": {"columns": {"序号": "item_id", "问题": "query", "回答": "answer", "评分": "grade"}, "best": "5"},
    "means_in_a_column": {
        "columns": {"Question": "query", "Answer": "answer"},
        "annotators": ("Mia (1-5)", "Noah (1-5)", "Zoe (1-5)"),
        "best": "5",
    },
    "grades_out_of_five": {
        "columns": {"Question": "query", "Answer": "answer"},
        "annotators": ("Mia", "Noah"),
        "grades": ("1/5", "2/5", "3/5", "4/5", "5/5"),
    },
    "unicode_text_of_excel": {
        "columns": {"Question": "query", "Answer": "answer"},
        "annotators": ("Mia", "Noah"),
        "grades": ("👎", "👍"),
    },
    "german_note": {
        "columns": {"Frage": "query", "Antwort": "answer"},
        "annotators": ("Note Lena", "Note Tim"),
        "grades": ("6", "5", "4", "3", "2", "1"),
    },
    "judges_of_unknown_names": {
        "columns": {"Question": "query", "Answer": "answer"},
        "annotators": ("Mia", "Noah"),
        "judges": ("Athena-2",),
        "best": "5",
    },
    "colours": {
        "columns": {"Frage": "query", "Antwort": "answer"},
        "annotators": ("Lena", "Tim"),
        "grades": ("rot", "gelb", "grün"),
    },
    "decimal_commas_beside_numbers": {
        "columns": {"Kundenfrage": "query", "Antwort": "answer"},
        "annotators": ("Punkte Lena", "Punkte Tim"),
        "grades": ("1", "1.5", "2", "2.5", "3"),
    },
    "headings_above_every_group": {
        "columns": {"Id": "item_id", "Pregunta": "query", "Respuesta": "answer"},
        "annotators": ("Ana", "Pablo"),
        "judges": ("Juez LLM",),
        "grades": ("no", "parcialmente", "sí"),
        "missing": ("N/D",),
    },
    "counts_of_words_below": {
        "columns": {"Nr": "item_id", "Anfrage": "query", "Antwort": "answer"},
        "annotators": ("Lena", "Tim"),
        "grades": ("n.i.O.", "i.O."),
    },
    "aangekruist_beside_a_models_column": {
        "columns": {"Volgnr": "item_id", "Vraag": "query", "Antwoord": "answer"},
        "judges": ("GPT-4",),
        "best": "5",
    },
    "items_across": {
        "columns": {"Nr.": "item_id", "1": "query", "2": "answer"},
        "annotators": ("Sanne", "Mehmet"),
        "judges": ("GPT-4o",),
        "best": "5",
    },
    "dansk_regneark": {
        "columns": {"Løbenr.": "item_id", "Spørgsmål": "query", "Svar": "answer", "Model": "agent"},
        "annotators": ("Vurdering Anna", "Vurdering Søren"),
        "judges": {"Automatisk vurdering": "0..5"},
        "best": "5",
    },
    "turkce": {
        "columns": {"Sıra No": "item_id", "Soru": "query", "Cevap": "answer"},
        "annotators": ("Puan Ayşe", "Puan Mehmet"),
        "judges": ("Yapay zeka",),
        "best": "2",
    },
    "names_above_repeated_grades": {
        "columns": {"Nr": "item_id", "Frage": "query", "Antwort": "answer"},
        "annotators": ("Lena", "Tim"),
        "best": "5",
    },
    "grades_below_names": {
        "columns": {"Nr": "item_id", "Frage": "query", "Antwort": "answer"},
        "annotators": ("Lena", "Tim"),
        "judges": ("KI",),
        "best": "5",
    },
    "heading_over_people_without_merged_cells": {
        "columns": {"ID": "item_id", "Question": "query", "Answer": "answer"},
        "annotators": ("Ana", "Ben"),
        "best": "3",
    },
    "check_boxes_beside_a_models_score": {
        "columns": {"S/N": "item_id", "Prompt": "query", "Response": "answer", "Score 1": "grade"},
        "judges": ("Bedrock score",),
        "best": "3",
    },
    "halves_of_a_grader_of_unknown_name": {
        "columns": {"Nº": "item_id", "Pergunta": "query", "Resposta": "answer"},
        "annotators": ("Nota da Ana", "Nota do João"),
        "judges": ("Nota do Quasar",),
        "best": "5",
    },
    "preferences_francaises": {
        "columns": {
            "Question": "query",
            "Système A": "agent_a",
            "Réponse A": "answer_a",
            "Système B": "agent_b",
            "Réponse B": "answer_b",
        },
        "annotators": ("Claire", "Hugo"),
        "judges": ("Mistral Large",),
        "winner_words": {"égalité": "tie"},
    },
    "preferencias": {
        "columns": {
            "Pregunta": "query",
            "Sistema A": "agent_a",
            "Respuesta A": "answer_a",
            "Sistema B": "agent_b",
            "Respuesta B": "answer_b",
        },
        "annotators": ("Claire", "Hugo"),
        "judges": ("Mistral Large",),
        "winner_words": {"empate": "tie"},
    },
    "voorkeuren": {
        "columns": {
            "Vraag": "query",
            "Systeem A": "agent_a",
            "Antwoord A": "answer_a",
            "Systeem B": "agent_b",
            "Antwoord B": "answer_b",
        },
        "annotators": ("Claire", "Hugo"),
        "judges": ("Mistral Large",),
        "winner_words": {"gelijk": "tie"},
    },
    "vorlieben": {
        "columns": {
            "Frage": "query",
            "Modell A": "agent_a",
            "Antwort A": "answer_a",
            "Modell B": "agent_b",
            "Antwort B": "answer_b",
        },
        "annotators": ("Claire", "Hugo"),
        "judges": ("Mistral Large",),
        "winner_words": {"unentschieden": "tie"},
    },
    "angekreuzt_by_two_people_and_never_the_best": {},
    "ein_blatt_je_prueferin": {},
    "rounds_on_two_sheets": {},
}
"""By table, what is typed as options of ``init``."""

RESHAPED: Mapping[str, str] = {
    "two_answers_beside_each_other": "pd.concat",
    "aangekruist_beside_a_models_column": "idxmax",
    "angekreuzt_by_two_people_and_never_the_best": "heads of two rows",
    "items_across": ".T.",
    "ein_blatt_je_prueferin": "sheet_name",
    "rounds_on_two_sheets": "sheet_name",
    "names_above_repeated_grades": "idxmax",
    "grades_below_names": "idxmax",
    "check_boxes_beside_a_models_score": "idxmax",
}
"""Tables that are not read: what the one error names."""
