"""Labels and recorded judges of known worth: an odd one, a clear one, one that fails often, one asked about half."""

import numpy as np

Rows = list[dict[str, object]]


def labels(queries: int = 60, each: int = 4) -> Rows:
    rng = np.random.default_rng(1)
    return [
        {
            "item_id": f"q{q}-d{d}",
            "query_id": f"q{q}",
            "query": f"question {q}",
            "document": f"document {d} of {q}",
            "grade": int(rng.integers(0, 4)),
        }
        for q in range(queries)
        for d in range(each)
    ]


def verdicts(rows: Rows, seed: int = 2) -> Rows:
    """What each judge said; ``gpt/odd`` ranks best and squeezes the scale into its upper half."""
    rng = np.random.default_rng(seed)
    made: Rows = []

    def add(row: dict[str, object], judge: str, grade: float | None, cost: float | None) -> None:
        model = judge.partition("/")[0]
        made.append(
            {"item_id": row["item_id"], "judge": judge, "grade": grade, "model": model, "cost_usd": cost}
            | ({"prompt": f"Grade {{document}} as {judge} does."} if judge == "gpt/odd" else {})
        )

    def noisy(grade: int, rate: float) -> int:
        return int(rng.integers(0, 4)) if rng.random() < rate else grade

    for row in rows:
        grade = int(str(row["grade"]))
        near = noisy(grade, 0.08)
        add(row, "gpt/odd", 1.5 + near / 2, 0.01)
        add(row, "gpt/clear", noisy(grade, 0.45), 0.01)
        add(row, "gpt/plain", noisy(grade, 0.75), 0.01)
        add(row, "llama/vague", noisy(grade, 0.9), None)
        add(row, "llama/silent", None if rng.random() < 0.6 else grade, None)
        if int(str(row["query_id"])[1:]) % 2:
            add(row, "big/half", noisy(grade, 0.6), 0.1)
    return [*made, *[{**one, "judge": "few/few", "model": "few"} for one in made[:60:6]]]
