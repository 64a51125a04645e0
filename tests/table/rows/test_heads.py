"""Whose column or name it is: people's, a machine's, computed, nobody's."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.table.rows.heads import (
    MACHINES,
    are_versions,
    doubtful_among,
    gradings_among,
    is_adjudicated,
    is_computed,
    is_counter,
    is_low_good,
    is_nobodys,
    machines_among,
    says_a_person,
)

PEOPLE = ["Mia", "Noah", "Kai", "Aisha", "Kira", "Maia", "Nora", "Aimée", "Kimberly", "Ki Hoon", "Ai Tanaka", "Malik"]


@pytest.mark.parametrize(
    "head",
    [
        *(
            "AI grade",
            "GPT-4 Grade",
            "score_llm",
            "Grade GPT-4",
            "claude_score",
            "GPT4",
            "AIgrade",
            "AIGrade",
            "KI-Wert",
        ),
        *("gpt.grade", "llmScore", "LLM", "ai", "Note IA", "évaluation IA", "nota_automática", "gptscore", "llmjudge"),
        *("Llama3", "Qwen2.5-72B", "gpt-4o-mini", "claude-3-opus", "Gemini 1.5", "mistral_large", "DeepEval", "ragas"),
        *("BERTScore", "ROUGE-L", "rouge1", "bleu", "G-Eval", "exact match", "f1", "RAGAS faithfulness"),
        *("o3-mini", "o1", "o4-mini-high", "phi-4", "command-r-plus", "Nova Pro", "prometheus", "AlignScore", "KI"),
        *("Sprachmodell", "titan-express", "Yi-34B", "grok-3", "gemma-2-9b-it", "kimi-k2", "bm25", "palm2", "modèle"),
        *("judge", "Model", "auto_score", "Judge score", "model rating", "Automatic score", "claude"),
        *("Évaluateur automatique", "Evaluador automático", "Note du modèle", "Nota del modelo", "Oordeel door AI"),
        *("4o", "4o-mini", "JudgeLM", "computer", "Système"),
        *("Azure", "AzureScore", "Bedrock", "Patronus", "Flow Judge", "Modeloordeel", "Modelloordeel", "Bewertung KI"),
        *("YandexGPT", "Оценка ИИ", "Автооценка", "AI评分", "模型评分", "自动评分", "自動評価", "AI평가", "모델 점수"),
        *("Ocena automatyczna", "Bedrock (Titan)", "Nota automática", "Giudice AI", "automatisk vurdering", "Bard 2"),
    ],
)
def test_machine_is_known_by_its_head_beside_people(head: str) -> None:
    assert machines_among(["Mia", head, "Noah"]) == (head,)
    assert machines_among([head.upper(), "Grader Mia", "Grader Noah"]) == (head.upper(),)


@pytest.mark.parametrize(
    "names",
    [
        *(PEOPLE, ["Judge 1", "Judge 2", "Judge 3"], ["Judge A", "Judge B", "Marie"], ["Judge Mia", "Judge Noah"]),
        ["Kai", "Aisha", "Kira", "Yi Chen", "Gemma Smith", "Phi", "Noah Palm", "Grace"],
        *(["Claude", "Marie"], ["O1", "O2", "O3"], ["Mia 1", "Mia 2", "Yi 1", "Yi 2"], ["score_claude", "score_marie"]),
        *(["Claude Dupont", "Marie", "Jean"], ["score_mia", "score_noah", "jo"], ["A2KI8Q", "A1AI3K", "B7GX"]),
        *(["kai@firm.ai", "mia@openai.com"], ["A. I. Smith", "B. Jones"], ["annotator_1", "expert0", "nist"]),
        ["Évaluateur 1", "Marie de la Tour", "Jan van den Berg", "4b"],
    ],
)
def test_people_stay_people(names: Sequence[str]) -> None:
    assert machines_among(names) == ()


@pytest.mark.parametrize(
    ("names", "machines"),
    [
        (["relevance", "llm_relevance"], ("llm_relevance",)),
        (["relevance", "accuracy", "model_relevance", "model_accuracy"], ("model_relevance", "model_accuracy")),
        (["Human", "Model"], ("Model",)),
        (["grade", "judge_grade"], ("judge_grade",)),
        (["score", "judge_score"], ("judge_score",)),
        (["human_score", "auto_score"], ("auto_score",)),
        (["Judge Mia", "Judge Noah", "Judge AI"], ("Judge AI",)),
        (["Mia", "claudeScore"], ("claudeScore",)),
    ],
)
def test_word_that_is_no_machine_alone_is_one_where_people_remain(
    names: Sequence[str], machines: Sequence[str]
) -> None:
    assert machines_among(names, ["relevance", "accuracy"]) == machines


@given(
    st.sampled_from(sorted(word for word in MACHINES if word.isalpha())),
    st.sampled_from(["{}", "{} grade", "{}_score", "grade-{}", "rating.{}", "{}4", "Grade{}"]),
    st.sampled_from([str.lower, str.upper, str.capitalize]),
)
def test_every_word_of_the_list_counts_in_any_case_and_place(word: str, head: str, case: object) -> None:
    assert callable(case)
    name = head.format(word.upper() if "Grade{}" in head else case(word))
    assert name in machines_among(["Mia", "Noah", name])


@pytest.mark.parametrize(
    "head",
    [
        *("Team", "Top k", "Page", "Retries", "Urgent", "Is duplicate", "Quellen", "Gruppe", "Niveau", "Wörter"),
        *("Version", "Version 1", "Run", "Priority", "Priorität", "Rank", "Difficulty", "Mia confidence", "Nr.", "No"),
    ],
)
def test_head_about_the_row_is_nobodys_grade(head: str) -> None:
    assert is_nobodys(head)


@pytest.mark.parametrize(
    "head",
    [
        *("#", "No.", "Nr", "N°", "Nº", "N.", "Núm.", "Numéro", "№", "№ п/п", "№ з/п", "Порядковый номер", "Sr. No."),
        *("Sl. No", "S/N", "Volgnr", "Volgnummer", "lfd. Nr.", "LfdNr", "Lfd.-Nr.", "Löpnr", "Løbenr.", "Lp."),
        *("Poř. č.", "Sıra No", "Sorszám", "Nr. crt.", "序号", "番号", "번호", "Pos.", "Item No", "Case ID", "Zeile"),
        "STT",
    ],
)
def test_head_that_numbers_rows(head: str) -> None:
    assert is_counter(head)
    assert not any(map(is_counter, [*PEOPLE, "Grade", "Mia 1", "Question no. of words", "#1 reviewer"]))


def test_numbered_person_is_somebody_and_means_are_computed() -> None:
    assert not any(map(is_nobodys, ["Grader No. 1", "Team 1", "Site B", "Source quality", *PEOPLE]))
    computed = ["Mean", "Median", "Average score", "Mittelwert", "Consensus", "Final", "Majority", "Ø"]
    assert [is_computed(head) for head in computed] == [True] * len(computed)
    assert not any(map(is_computed, [*PEOPLE, "Øyvind", "Final Mia"]))
    assert all(map(is_adjudicated, ["Adjudicated grade", "gold"]))


def test_letters_and_versions_are_no_grades() -> None:
    versions = [["A", "B", "C"], ["v1", "v2"], ["r1", "r2"], ["gpt-4o", "claude-3"], ["1.0.2"]]
    grades = [["y", "n"], ["bad", "good"], ["1", "2"], ["j", "n"], ["ja", "nein"]]
    assert [values for values in versions + grades if are_versions(values)] == versions


@pytest.mark.parametrize(
    ("heads", "person"),
    [
        (("Mia 1", "Mia 2", "Noah 1", "Noah 2"), "Mia"),
        (("grade_mia_run1", "grade_mia_run2"), "grade_mia"),
        (("Mia (1st)", "Mia (2nd)"), "Mia"),
        (("Runde 1 Mia", "Runde 2 Mia"), "Mia"),
        (("MiaRun1", "MiaRun2"), "Mia"),
        (("Mia", "Mia again"), "Mia"),
        (("Mia", "Mia.1", "Noah", "Noah.1"), "Mia"),
        (("Rater A 1", "Rater A 2", "Rater B 1", "Rater B 2"), "Rater A"),
        (("Rater 1 (run 1)", "Rater 1 (run 2)", "Rater 2 (run 1)", "Rater 2 (run 2)"), "Rater 1"),
        (("Rating 1 (Mia)", "Rating 2 (Mia)", "Rating 1 (Noah)", "Rating 2 (Noah)"), "Mia"),
        (("小明1", "小明2", "小红1", "小红2"), "小明"),
    ],
)
def test_name_with_several_times_is_one_person(heads: Sequence[str], person: str) -> None:
    found = gradings_among(tuple(heads))[person]
    assert (found.columns, found.sure) == (tuple(heads[:2]), True)


@pytest.mark.parametrize(
    "heads",
    [
        *(("Rater 1", "Rater 2"), ("Judge 1", "Judge 2", "Judge 3"), ("first rater", "second rater"), ("A1", "A2")),
        *(("Annotator 1", "Annotator 2", "Expert 1", "Expert 2"), ("Nurse 1", "Nurse 2", "Doctor 1", "Doctor 2")),
        *(("relevance 1", "relevance 2", "fluency 1", "fluency 2"), ("grade_1", "grade_2"), ("Mia 1", "Mia 2")),
        *(("A1", "A2", "B1", "B2"), ("Mia 1", "Mia 2", "Mia 3", "Noah 1", "Noah 2"), ("Score (1st)", "Score (2nd)")),
        ("human_grade_run1", "human_grade_run2"),
    ],
)
def test_numbered_people_are_not_surely_one_person(heads: Sequence[str]) -> None:
    assert not any(one.sure for one in gradings_among(tuple(heads)).values())


@pytest.mark.parametrize(
    "name", ["Athena-2", "Lynx-8B", "Tulu-3-70B", "HHEM-2.1", "Vectara 2.1", "rubric_v3", "eval-service-v2", "zeta:13b"]
)
def test_name_of_a_version_beside_people_may_be_a_judge(name: str) -> None:
    assert doubtful_among(["Mia", name, "Noah"]) == (name,)
    assert doubtful_among(["mia@firm.de", name]) == (name,)


@pytest.mark.parametrize(
    "names",
    [
        ("Anne-Marie", "Jean-Luc", "Zoë", "O'Neil", "van der Berg", "Nguyễn"),
        *(("Rater-1", "Rater-2", "Mia"), ("Berlin-1", "Berlin-2", "Mia"), ("Nurse-1", "Mia")),
        ("P-03", "S-12", "MK-2", "A1", "R2-D2", "A2KI8QXY", "worker_A1B2C3"),
        *(("Mia.1", "Noah.1", "Lea 2"), ("user_973", "mia2", "Mia (2024-05-01)")),
        *(("Athena-2",), ("Athena-2", "Lynx-8B")),  # nobody else graded
        ("Sanne", "Mehmet", "Aylin", "Jürgen", "Siobhán", "Xiomara"),
        *(("Gemma Smith", "Claude Dupont", "Expert Gemma", "Rater Bard"), ("Anna Richter", "Tim Vogel")),
        *(("Judge 1", "Judge 2"), ("Human judge", "Mia"), ("小明", "小红", "Анна")),
    ],
)
def test_names_of_people_are_not_doubtful(names: Sequence[str]) -> None:
    assert doubtful_among(names) == ()


@pytest.mark.parametrize(
    "name", ["Bard", "Gemma", "Selene", "Yi", "score_bard", "Acme judge", "Ocena Gemma", "Zeta bot", "Bewertung Titan"]
)
def test_name_of_a_model_and_of_people_is_doubtful_whoever_stands_beside_it(name: str) -> None:
    for names in (["Sanne", name], ["Sanne", "Mehmet", name], [name, "Rater 1", "Rater 2"]):
        assert name not in machines_among(names) or name in {"Acme judge", "Zeta bot"}
        assert doubtful_among(names) == (name,)


def test_head_says_that_it_is_a_person_and_whether_low_is_good() -> None:
    heads = ["Expert", "Rater 2", "Score A", "Prüfer Tim", "MK", "评分人1", "Beoordelaar 2", "Team 1"]
    assert [head for head in [*heads, "Sanne", "Athena-2", "Score Mehmet"] if says_a_person(head)] == heads
    low = ["hallucination_score", "Toxicity", "bias", "toxic (model)"]
    high = ["faithfulness", "hallucination-free", "non_toxic", "biathlon", "harmless"]
    assert [name for name in low + high if is_low_good(name)] == low
