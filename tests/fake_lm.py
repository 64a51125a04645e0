"""A cheap, deterministic language model for tests: ``FAKE`` wherever a model is named, in this process.

It reads the rendered prompt as a model does, learns from its demonstrations, and replies in the adapter's format with
the log-probabilities of the grades, in about a millisecond. ``conftest`` opens it in the place of an endpoint.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from unittest.mock import patch

from judgec.lm import client
from judgec.lm.backend import Backend
from judgec.lm.saved_engine import SavedEngine
from judgec.lm.spec import LMSpec

FAKE = "hosted_vllm/fake"


@contextmanager
def serving_fake() -> Iterator[None]:
    """For as long as the block lasts ``FAKE`` can be asked."""
    real = client.open_backend

    def opened(spec: LMSpec, environ: Mapping[str, str] | None = None) -> Backend:
        return SavedEngine() if spec.model == FAKE else real(spec, environ)

    with patch.object(client, "open_backend", opened):
        yield
