"""Names that MLflow accepts for metrics, parameters and tags."""

import hashlib
import posixpath
import re

MAX_NAME = 250  # characters, mlflow.utils.validation.MAX_ENTITY_KEY_LENGTH
DIGEST = 16  # hexadecimal digits that tell shortened names apart
_ACCEPTED = re.compile(r"[\w.\- /]+", re.ASCII)  # MLflow's set without the colon, which it refuses on Windows
_ESCAPE = re.compile(r"_[0-9A-F]{2}")


def encode_metric(name: str) -> str:
    """``name`` as MLflow takes it: percent-encoding with ``_`` for ``%``, ``agent+v2`` -> ``agent_2Bv2``.

    A name that MLflow takes stays as it is, unless it looks encoded already (``ndcg_10``): then its
    underscores are encoded too (``ndcg_5F10``), so that two names never become one. Names above 250
    characters are cut and end in a digest of the whole.

    Raises:
        ValueError: When ``name`` is empty.
    """
    if not name:
        raise ValueError("a metric needs a name")
    norm = posixpath.normpath(name)
    is_path = norm != name or norm == "." or norm.startswith(("..", "/"))
    if is_path or not _ACCEPTED.fullmatch(name) or _ESCAPE.search(name):
        refused = r"[^A-Za-z0-9\- ]" if is_path else r"[^A-Za-z0-9.\- /]"
        name = re.sub(refused, _escaped, name)
    if len(name) <= MAX_NAME:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:DIGEST]
    return f"{name[: MAX_NAME - DIGEST - 1]}.{digest}"


def _escaped(match: re.Match[str]) -> str:
    return "".join(f"_{byte:02X}" for byte in match[0].encode())
