"""Statistics as MLflow metrics and as a table."""

from collections.abc import Collection, Iterable

from judgec.connect.tracking.names import encode_metric
from judgec.connect.tracking.runs import Metrics
from judgec.records.card import Cost
from judgec.records.estimate import Estimate

MOST_SHOWN = 15  # metrics of a run: what fits on MLflow's compare page
ENDS = ((".low", ".high"), (".high", ".low"))
FEW = 40  # numbers of a tournament or probe that are all shown: a table of them can still be read


def flatten(metrics: Metrics) -> dict[str, float]:
    """Every defined number by its full name: the value, the bounds of its interval, and its p."""
    flat: dict[str, float] = {}
    for name, value in metrics.items():
        parts = {name: _defined(value)}
        if isinstance(value, Estimate):
            parts |= {f"{name}.low": value.low, f"{name}.high": value.high, f"{name}.p": value.p}
        flat |= {key: part for key, part in parts.items() if part is not None}
    return flat


def headline(metrics: Metrics, names: Iterable[str]) -> dict[str, float]:
    """The numbers that MLflow shows: the first 15 of ``names`` that are defined; of an interval both ends or none.

    Args:
        metrics: All numbers.
        names: The most important first; bounds and p have names of their own.
    """
    known = flatten(metrics)
    wanted = {name: known[name] for name in names if name in known}
    shown: dict[str, float] = {}
    for name in wanted:
        ends = (name, *(name.removesuffix(end) + other for end, other in ENDS if name.endswith(end)))
        together = {one: wanted[one] for one in ends if one in wanted and one not in shown}
        if len(shown) + len(together) <= MOST_SHOWN:
            shown |= together
    return shown


def all_or_headline(metrics: Metrics, names: Iterable[str]) -> dict[str, float]:
    """All numbers of a run that has few, and else its headline; as ``headline``."""
    known = flatten(metrics)
    return known if len(known) <= FEW else headline(metrics, names)


def of_cost(cost: Cost) -> dict[str, float]:
    """Cost of a run; an unknown price is absent."""
    priced = {} if cost.usd is None else {"cost_usd": cost.usd}
    return {"lm_calls": float(cost.lm_calls), **priced, "seconds": cost.seconds}


def metrics_table(metrics: Metrics, shown: Collection[str] | None = None) -> dict[str, list[object]]:
    """Every number under its own name, in the form of ``mlflow.log_table``; undefined ones say why in ``note``.

    Args:
        metrics: All of them.
        shown: Those that are MLflow metrics, too; None for all.
    """
    rows: list[object] = []
    for name, value in metrics.items():
        estimate = value if isinstance(value, Estimate) else Estimate(value=None)
        logged_as = encode_metric(name) if shown is None or name in shown else ""
        rows.append([name, logged_as, _defined(value), estimate.low, estimate.high, estimate.note])
    return {"columns": ["metric", "logged_as", "value", "low", "high", "note"], "data": rows}


def _defined(value: Estimate | float) -> float | None:
    """The number, or None for one that is undefined, NaN or infinite."""
    number = value.value if isinstance(value, Estimate) else value
    return number if number is not None and abs(number) < float("inf") else None
