"""A RAG system behind HTTP, described in a TOML or a YAML file."""

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import httpx
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from judgec.errors import InputError, UserError
from judgec.lm.backend import WHOLE_REPLY
from judgec.lm.endpoint import untrusted
from judgec.lm.endpoint.bounded import GIVEN_UP, Deadline, exchanging
from judgec.lm.redaction import clean, clean_error, clean_json, keep_secret
from judgec.rag.agents.external import ExternalReply, SystemFailedError, as_said
from judgec.table.regular import seen_at
from judgec.table.safe_yaml import load_yaml

_VARIABLE = re.compile(r"\$\{(\w+)\}|\$(\w+)")
QUERY = "{query}"


class HttpSettings(BaseModel):
    """The file.

    Args:
        name: The agent's; by default the file's.
        method: Of the request.
        url: May hold ``{query}``, which is then escaped.
        headers: ``$NAME`` and ``${NAME}`` come from the environment.
        params: Query parameters; ``{query}`` is replaced.
        body: Sent as JSON; ``{query}`` is replaced wherever a text holds it.
        answer: Where the answer is in the reply: keys and list places by dots (``choices.0.text``); empty for the
            reply itself.
        contexts: Where the passages are; ``*`` takes every element (``sources.*.text``), one without a text as an empty
            passage, so that the numbers of citations stay true. None when it gives none.
        timeout: Seconds without a byte; a whole reply may take five times as long.
        in_flight: Most requests at once.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = ""
    method: Literal["GET", "POST", "PUT"] = "POST"
    url: str
    headers: Mapping[str, str] = {}
    params: Mapping[str, str] = {}
    body: Mapping[str, object] | None = None
    answer: str = "answer"
    contexts: str | None = None
    timeout: float = Field(default=60.0, gt=0)
    in_flight: int = Field(default=4, ge=1, le=256)

    @field_validator("url")
    @classmethod
    def _http(cls, url: str) -> str:
        parts = httpx.URL(url.replace(QUERY, "query"))
        if parts.scheme not in {"http", "https"} or not parts.host:
            raise ValueError("an http(s) URL is needed")
        if parts.userinfo:
            raise ValueError("the URL carries credentials; put them into headers as $NAME")
        return url


class HttpSystem:
    """The system that a file describes.

    Redirects are not followed: they could carry a key to another host. No message holds a header's value.

    Args:
        path: The file.
        environ: Where ``$NAME`` is looked up.
        transport: Instead of the network.
        keys: What the file may say.

    Raises:
        InputError: When the file is missing or wrong.
        UserError: When a variable is not set.
    """

    def __init__(
        self,
        path: Path,
        environ: Mapping[str, str],
        transport: httpx.BaseTransport | None = None,
        keys: type[HttpSettings] = HttpSettings,
    ) -> None:
        self.settings = _read(path, keys)
        self.name = self.settings.name or path.stem
        self.identity = self.settings.model_dump_json()
        headers = {
            key: _filled(value, environ, f"{path}: headers.{key}") for key, value in self.settings.headers.items()
        }
        keep_secret(headers.values())
        self._whole = WHOLE_REPLY * self.settings.timeout
        deadline = Deadline(self._whole)
        self._client = httpx.Client(
            headers=headers,
            timeout=self.settings.timeout,
            follow_redirects=False,
            transport=transport,
            event_hooks={"request": [deadline.begin], "response": [deadline.end]},
        )

    def ask(self, query: str) -> ExternalReply:
        """Its answer.

        Raises:
            SystemFailedError: No reply, a status that is no success, no answer where the file says that it is.
        """
        settings = self.settings
        try:
            params = {key: value.replace(QUERY, query) for key, value in settings.params.items()}
            url = httpx.URL(settings.url.replace(QUERY, quote(query, safe="")))
            with exchanging(untrusted.MOST_BODY, self._whole):
                reply = self._client.request(
                    settings.method,
                    url.copy_merge_params(params) if params else url,
                    json=None if settings.body is None else _with_query(settings.body, query),
                )
        except (httpx.HTTPError, httpx.InvalidURL, *GIVEN_UP) as error:
            raise SystemFailedError(f"{type(error).__name__}: {clean_error(str(error))[:200]}") from error
        said = clean_error(reply.text)
        if not reply.is_success:
            raise SystemFailedError(f"HTTP {reply.status_code}: {said[:120]!r}")
        if not settings.answer:
            return ExternalReply(clean(reply.text))
        try:
            found = clean_json(reply.json())
        except (ValueError, RecursionError):
            raise SystemFailedError(f"its reply is not JSON: {said[:120]!r}") from None
        answer = look_up(found, settings.answer)
        if not isinstance(answer, str):
            raise SystemFailedError(f"no text at {settings.answer} in its reply: {json.dumps(found)[:120]}")
        contexts = look_up(found, settings.contexts) if settings.contexts else None
        if isinstance(contexts, list) and contexts and all(one is None for one in contexts):
            raise SystemFailedError(f"no passage at {settings.contexts} in its reply: {json.dumps(found)[:120]}")
        return as_said({"answer": answer, "contexts": contexts})


def look_up(found: object, path: str) -> object:
    """The value at ``a.0.b`` in a JSON value; None where there is nothing.

    ``*`` takes every element of a list, or every value of an object: a list with a place for each, None where it has
    nothing. Lists of several ``*`` become one.
    """
    key, _, rest = path.partition(".")
    if key == "*":
        each = list(found.values()) if isinstance(found, dict) else found if isinstance(found, list) else []
        inner = [look_up(one, rest) if rest else one for one in each]
        if "*" not in rest.split("."):
            return inner
        return [one for part in inner for one in (part if isinstance(part, list) else [part])]
    if isinstance(found, dict):
        value = found.get(key)
    elif isinstance(found, list) and key.isdecimal() and int(key) < len(found):
        value = found[int(key)]
    else:
        return None
    return look_up(value, rest) if rest else value


def _with_query(value: object, query: str) -> object:
    if isinstance(value, str):
        return value.replace(QUERY, query)
    if isinstance(value, Mapping):
        return {key: _with_query(one, query) for key, one in value.items()}
    return [_with_query(one, query) for one in value] if isinstance(value, list) else value


def _filled(text: str, environ: Mapping[str, str], where: str) -> str:
    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        if name not in environ:
            raise UserError(f"{where}: ${name} is not in the environment; the system's key is needed. Set {name}.")
        return environ[name]

    return _VARIABLE.sub(value, text)


def _read(path: Path, keys: type[HttpSettings]) -> HttpSettings:
    kind = "TOML" if path.suffix == ".toml" else "YAML"
    if not path.is_file():
        raise InputError([f"{path}: {seen_at(path)}; the {kind} file of an HTTP system is needed. Check the path."])
    try:
        text = path.read_text(encoding="utf-8")
        return keys.model_validate(tomllib.loads(text) if kind == "TOML" else load_yaml(path, text) or {})
    except (tomllib.TOMLDecodeError, yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError([f"{path}: not {kind} ({str(error).splitlines()[0]}). Correct the file."]) from None
    except ValidationError as error:
        raise InputError(
            [
                f"{path}: {'.'.join(map(str, fault['loc'])) or 'the file'}: {fault['msg']}; keys are "
                f"{', '.join(keys.model_fields)}. Correct the file."
                for fault in error.errors(include_input=False)
            ]
        ) from None
