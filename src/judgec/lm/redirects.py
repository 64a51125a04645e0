"""Keeps prompts and keys on the host that was named: the clients of LiteLLM and the SDKs would follow a redirect."""

from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

HANDLERS = "litellm.llms.custom_httpx.http_handler"
OPENAI = "litellm.llms.openai.common_utils"


@cache
def stay_on_host() -> None:
    """Have LiteLLM make clients that do not follow redirects, from now on; imports it, which takes a second.

    Only what LiteLLM makes is changed: downloads by other libraries go where they are sent.
    """
    handlers, openai = import_module(HANDLERS), import_module(OPENAI)
    handlers.AsyncHTTPHandler.create_client = _staying(handlers.AsyncHTTPHandler.create_client)
    openai.BaseOpenAILLM._get_async_http_client = staticmethod(_staying(openai.BaseOpenAILLM._get_async_http_client))  # noqa: SLF001 - no setting of LiteLLM's does this
    openai.BaseOpenAILLM._get_sync_http_client = staticmethod(_staying(openai.BaseOpenAILLM._get_sync_http_client))  # noqa: SLF001 - as above
    made = handlers.HTTPHandler.__init__

    @wraps(made)
    def init(self: Any, *given: Any, **named: Any) -> None:  # LiteLLM's own arguments
        made(self, *given, **named)
        self.client.follow_redirects = False

    handlers.HTTPHandler.__init__ = init


class ElsewhereError(Exception):
    """A client was about to send a request to a host that nobody named."""


def on_host(base_url: str) -> dict[str, Any]:  # settings of several libraries' clients
    """What a client of the providers' SDKs is made with so that it talks to this host alone.

    Redirects are not followed, and an address that a reply names is refused when it is another host's.
    """
    named = urlsplit(base_url)

    def check(request: Any) -> None:  # the SDKs' HTTP library has no name that both share
        there = urlsplit(str(request.url))
        if (there.scheme, there.netloc) != (named.scheme, named.netloc):
            raise ElsewhereError(f"the endpoint names an address at {there.netloc[:200]}, which is not followed")

    return {"follow_redirects": False, "event_hooks": {"request": [check]}}


def _staying(make: Callable[..., Any]) -> Callable[..., Any]:  # LiteLLM is untyped
    @wraps(make)
    def client(*given: Any, **named: Any) -> Any:  # as above
        made = make(*given, **named)
        if made is not None:
            made.follow_redirects = False
        return made

    return client
