"""Statistics as MLflow metrics, tags and a table."""

from judgec.records.estimate import Estimate
from judgec.tracking.names import encode_metric
from judgec.tracking.runs import Metrics


def flatten(metrics: Metrics) -> dict[str, float]:
    """Every defined number by its full name: the value, the bounds of its interval, and its p."""
    flat: dict[str, float] = {}
    for name, value in metrics.items():
        parts = {name: _defined(value)}
        if isinstance(value, Estimate):
            parts |= {f"{name}.low": value.low, f"{name}.high": value.high, f"{name}.p": value.p}
        flat |= {key: part for key, part in parts.items() if part is not None}
    return flat


def undefined_tags(metrics: Metrics) -> dict[str, str]:
    """``undefined.<metric>`` with the reason, for each metric without a value."""
    return {
        f"undefined.{encode_metric(name)}": (value.note if isinstance(value, Estimate) else "") or "undefined"
        for name, value in metrics.items()
        if _defined(value) is None
    }


def metrics_table(metrics: Metrics) -> dict[str, list[object]]:
    """Every metric under its own name, in the form of ``mlflow.log_table``."""
    rows: list[object] = []
    for name, value in metrics.items():
        estimate = value if isinstance(value, Estimate) else Estimate(value=None)
        rows.append([name, encode_metric(name), _defined(value), estimate.low, estimate.high, estimate.note])
    return {"columns": ["metric", "logged_as", "value", "low", "high", "note"], "data": rows}


def _defined(value: Estimate | float) -> float | None:
    """The number, or None for one that is undefined, NaN or infinite."""
    number = value.value if isinstance(value, Estimate) else value
    return number if number is not None and abs(number) < float("inf") else None
