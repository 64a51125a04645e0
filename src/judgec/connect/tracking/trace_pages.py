"""Reads an experiment's traces from MLflow, a page at a time."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Trace

WHOLE = 100  # traces a request, the most that a server gives
WITHOUT_SPANS = 500  # the same, of traces that are only named


def all_traces(
    client: "MlflowClient", experiment: str, *, only: str | None = None, spans: bool = True
) -> Iterator["Trace"]:
    """The traces of an experiment, in the order in which they began.

    Args:
        client: Of the store.
        experiment: Its id.
        only: MLflow's filter, or None for all.
        spans: Whether their spans are read, too.
    """
    token = None
    while True:
        page = client.search_traces(
            locations=[experiment],
            filter_string=only,
            max_results=WHOLE if spans else WITHOUT_SPANS,
            order_by=["timestamp_ms ASC"],
            page_token=token,
            include_spans=spans,
        )
        yield from page
        token = page.token
        if not token:
            return
