"""Replaces secrets of this process in what servers send back: they may echo the key that they were sent.

What the user's own files hold is left as it is: only texts that came from a server pass through here.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from threading import Lock
from typing import TypeVar
from urllib.parse import quote

HIDDEN = "***"
SHORTEST = 8  # characters of a secret: shorter values stand in too many texts
_NAMED = re.compile(r"(?:^|_|-|\.)(?:KEY|TOKEN|SECRET|PASSWORD|AUTH)(?:$|_|-|\.)", re.IGNORECASE)
_WORD = re.compile(r"[A-Z]?[a-z]{0,23}|[A-Z]{0,24}")
_NUMBER = re.compile(r"[-+]?[\d.,]+(?:e[-+]?\d+)?", re.IGNORECASE)
_PATH = re.compile(r"(?:~|\.{1,2})?/[^+=]*|[A-Za-z]:[\\/].*|[\w.-]+(?:/[\w.-]+)*\.[a-z]{2,4}")
_ADDRESS = re.compile(
    r"[a-z][a-z0-9+.-]*://.*"  # a URL
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"  # of mail
    r"|(?:localhost|[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}|\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?(?:/.*)?"  # a host
)
# What looks like a key, whoever it belongs to: known prefixes, and whatever follows "Bearer", "api key" and their like.
_SHAPED = re.compile(
    r"\b(?:(?:sk|pk|rk|gsk|xai|hf|ghp|r8)[-_]|AIza|AKIA)[-_A-Za-z0-9]{8,}"
    r"|(?i:(?<=bearer )|(?<=provided: )|(?<=key: )|(?<=key=)|(?<=token: )|(?<=token=)|(?<=password=))[^\s'\",;]{6,}"
)
_given: set[str] = set()
_lock = Lock()

T = TypeVar("T")


def keep_secret(values: Iterable[str]) -> None:
    """Treat values as secrets from now on, as those of headers that a system is sent.

    Args:
        values: Whole values; of ``Bearer KEY`` the key is one, too.
    """
    found = {part for value in values for part in (value.strip(), value.strip().rpartition(" ")[2])}
    with _lock:
        _given.update(one for one in found if is_secret(one))


def is_secret(value: str) -> bool:
    """True if a value under a secret's name is one: long enough, and no path, plain word, number or address."""
    plain = (_WORD, _NUMBER, _PATH, _ADDRESS)
    return len(value) >= SHORTEST and not any(pattern.fullmatch(value) for pattern in plain)


def keep_environment(environ: Mapping[str, str]) -> None:
    """The same for the secrets of an environment that is not the process's own."""
    keep_secret(value for _, value in _of_environment(environ))


def cleaner() -> Callable[[str], str]:
    """As ``clean``, for many texts: the environment is read once."""
    environment = tuple(_of_environment(os.environ))

    def cleaned(text: str) -> str:
        pattern = _pattern(environment, frozenset(_given))
        return text if pattern is None else pattern.sub(HIDDEN, text)

    return cleaned


def clean(text: str) -> str:
    """A server's text without the secrets of this process."""
    return cleaner()(text)


def clean_error(text: str) -> str:
    """The same without anything that looks like a key: an error may quote those of others, shortened."""
    return _SHAPED.sub(HIDDEN, clean(text))


def clean_json(value: T) -> T:
    """A parsed JSON value with all of its texts cleaned, keys included."""
    if isinstance(value, str):
        return clean(value)  # type: ignore[return-value]  # a text for a text
    if isinstance(value, Mapping):
        return {clean(str(name)): clean_json(one) for name, one in value.items()}  # type: ignore[return-value]
    if isinstance(value, list | tuple):
        return [clean_json(one) for one in value]  # type: ignore[return-value]
    return value


def _of_environment(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    return ((name, value) for name, value in environ.items() if len(value) >= SHORTEST and _is_name(name))


@lru_cache(maxsize=4096)
def _is_name(name: str) -> bool:
    return _NAMED.search(name) is not None


@lru_cache(maxsize=8)
def _pattern(environment: tuple[tuple[str, str], ...], given: frozenset[str]) -> re.Pattern[str] | None:
    values = {value.strip() for _, value in environment} | given
    values |= {line.strip() for value in values if "\n" in value for line in value.splitlines()}  # a key in lines
    known = {value for value in values if is_secret(value)}
    written = {
        form for value in known for form in (value, quote(value, safe=""), quote(value), json.dumps(value)[1:-1])
    }
    if not written:
        return None
    return re.compile("|".join(map(re.escape, sorted(written, key=len, reverse=True))))
