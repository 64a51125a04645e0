"""SummEval: GPT-4 beside the mean of three experts, on an interval scale."""

from pathlib import Path

import pytest

import judgec

SUMMEVAL = Path(__file__).parents[2].parent / "shared" / "data" / "recorded" / "summeval_aspects.jsonl"
TAU_B = {"coherence": 0.373, "consistency": 0.522, "fluency": 0.452, "relevance": 0.361}
# Published by DAMO-NLP-SG (Shen et al., 2023), of their own means: .367, .504, .449, .361.


@pytest.mark.full
def test_agreement_with_the_mean_of_summevals_experts_is_that_of_scipy_on_the_same_means(tmp_path: Path) -> None:
    if not SUMMEVAL.exists():
        pytest.skip("../shared/data/recorded/summeval_aspects.jsonl is not there; GPT-4 on SummEval is not tested")
    found = judgec.agreement(
        SUMMEVAL.with_suffix(".verdicts.parquet"),
        labels=SUMMEVAL,
        annotators="*",
        judges="gpt-4-0314/rts",
        scale={"level": "interval", "grades": [1, 5]},
        home=tmp_path,
    )
    assert {
        name: round(one.estimates["tau_b"].value or 0.0, 3) for name, one in found.agreement.aspects.items()
    } == TAU_B
