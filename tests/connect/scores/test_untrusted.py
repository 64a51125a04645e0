"""Whatever an export holds: an error that says what is wrong, or counts that add up."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgec.connect.scores.registry import TOOLS, read_scores
from judgec.connect.scores.table import imported
from judgec.errors import UserError

KEYS = st.sampled_from(
    [
        *("id", "name", "value", "source", "traceId", "trace_id", "scores", "trace", "input", "output", "observations"),
        *("run_id", "key", "score", "feedback_source", "type", "user_id", "inputs", "outputs", "run_type", "post"),
        *("span_id", "context", "attributes", "annotator_kind", "result", "label", "explanation", "annotations"),
        *(
            "feedback_scores",
            "category_name",
            "created_by",
            "data",
            "completed_by",
            "from_name",
            "choices",
            "predictions",
        ),
        *("fields", "responses", "suggestions", "q.responses", "q.responses.status", "q.suggestion", "status", "grade"),
        *("results", "vars", "response", "gradingResult", "componentResults", "assertion", "pass", "success", "reason"),
        *("history", "annotation_id", "annotator", "subject", "kind", "dataType", "provider", "prompt", "messages"),
    ]
)
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 9), st.floats(allow_nan=False), st.text(max_size=6),
    st.sampled_from(["ANNOTATION", "EVAL", "HUMAN", "LLM", "ui", "app", "human", "submitted", "rating", "CATEGORICAL",
                     '{"a": 1}', "[1]", '"x"', "2026-01-01", "trace", "GENERATION", "choices", "pairwise", "\ud800"]),
)  # fmt: skip
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=7)),
    max_leaves=25,
)
RECORDS = st.lists(st.dictionaries(KEYS, VALUES, min_size=1, max_size=9), min_size=1, max_size=4)


@pytest.mark.parametrize("tool", TOOLS)
@settings(deadline=None, max_examples=30)
@given(records=RECORDS)
def test_any_json_is_refused_with_a_sentence_or_counted_in_full(tool: str, records: list[dict[str, object]]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "export.json"
        path.write_text(json.dumps(records), encoding="utf-8")
        try:
            found = imported(read_scores(tool, str(path), {}), str(path), {}, "labels")
        except UserError:
            return
    assert found.records == found.labels + len(found.verdicts) + found.texts + sum(found.skipped.values())
    assert sum(found.annotators.values()) == found.labels
    for row in (*found.rows, *found.verdicts):
        json.dumps(row, default=str)
