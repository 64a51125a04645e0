import numpy as np

from judgec.stats.correction.support import missing_kinds, out_of_range


def test_out_of_range_refuses_what_labels_do_not_reach() -> None:
    labelled = np.linspace(3.0, 5.0, 59)
    others = np.r_[np.linspace(3.0, 5.0, 80), np.full(20, 1.5)]
    said = out_of_range(labelled, others, 59)
    assert said.startswith("20 % ")
    assert "3 to 5" in said
    assert out_of_range(labelled, others, 20) == ""  # of 20 draws, as many as 6 / 21 may lie outside
    assert out_of_range(labelled, labelled, 59) == ""
    assert out_of_range(labelled, np.zeros(0), 59) == ""


def test_out_of_range_of_a_random_sample_is_rarely_refused() -> None:
    refused = 0
    for seed in range(1000):
        scores = np.random.default_rng(seed).normal(size=330)
        refused += out_of_range(scores[:30], scores[30:], 30) != ""
    assert refused <= 35  # 1.7 % are expected


def test_missing_kinds_refuses_an_agent_that_a_random_sample_could_not_miss() -> None:
    labelled = ["rag"] * 20
    said = missing_kinds(labelled, ["fusion"] * 20, 20, "agent")
    assert said.startswith("50 % ")
    assert "agent fusion" in said
    assert missing_kinds(labelled, ["rag"] * 80, 20, "agent") == ""
    assert missing_kinds(labelled, ["rag"] * 199 + ["rare"], 20, "agent") == ""  # (219/220)^20 is likely
    assert missing_kinds(labelled, [""] * 20, 20, "agent") == ""
