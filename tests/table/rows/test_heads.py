"""Heads that say by a word that a machine's column follows, in any language."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.table.rows.heads import MACHINES, machine_words


@pytest.mark.parametrize(
    "head",
    [
        *("AI grade", "GPT-4 Grade", "score_llm", "GPT4", "AIgrade", "KI-Wert", "gpt.grade", "llmScore", "Note IA"),
        *("gptscore", "llmjudge", "Llama3", "Qwen2.5-72B", "gpt-4o-mini", "Gemini 1.5", "BERTScore", "G-Eval", "f1"),
        *("exact match", "Sprachmodell", "AzureScore", "YandexGPT", "Оценка ИИ"),
    ],
)
def test_machine_is_known_by_its_head(head: str) -> None:
    assert machine_words(head)
    assert machine_words(head.upper())


@pytest.mark.parametrize("head", ["Mia", "Kai", "Aisha", "Kira", "Judge 1", "score_mia", "relevance", "A2KI8Q", "Phi"])
def test_people_and_aspects_have_no_machine_words(head: str) -> None:
    assert not machine_words(head)


@given(
    st.sampled_from(sorted(word for word in MACHINES if word.isalpha())),
    st.sampled_from(["{}", "{} grade", "{}_score", "grade-{}", "rating.{}", "{}4", "Grade{}"]),
    st.sampled_from([str.lower, str.upper, str.capitalize]),
)
def test_every_word_of_the_list_counts_in_any_case_and_place(word: str, head: str, case: object) -> None:
    assert callable(case)
    assert machine_words(head.format(word.upper() if "Grade{}" in head else case(word)))
