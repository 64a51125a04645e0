"""Keeps prompts and keys on the host that was named: the clients of LiteLLM and the SDKs would follow a redirect.

LiteLLM's clients read replies as carefully as the others, too.
"""

import os
from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from judgec.lm.endpoint.bounded import Deadline, aread_within, read_within
from judgec.lm.endpoint.unpack import ENCODINGS

OWN_PRICES = "LITELLM_LOCAL_MODEL_COST_MAP"  # else importing LiteLLM downloads a price list, and waits for it offline
HANDLERS = "litellm.llms.custom_httpx.http_handler"
OPENAI = "litellm.llms.openai.common_utils"
OF_THE_SDK = {"_get_async_http_client": aread_within, "_get_sync_http_client": read_within}


@cache
def stay_on_host() -> None:
    """Have LiteLLM make clients that follow no redirects and read no endless reply to a call of ours, from now on.

    That imports it, which takes a second. Only what LiteLLM makes is changed: downloads by other libraries go where
    they are sent.
    """
    os.environ.setdefault(OWN_PRICES, "True")
    handlers, sdk = import_module(HANDLERS), import_module(OPENAI).BaseOpenAILLM
    handlers.AsyncHTTPHandler.create_client = _staying(handlers.AsyncHTTPHandler.create_client, aread_within)
    for name, read in OF_THE_SDK.items():  # no setting of LiteLLM's does this
        setattr(sdk, name, staticmethod(_staying(getattr(sdk, name), read)))
    made = handlers.HTTPHandler.__init__

    @wraps(made)
    def init(self: Any, *given: Any, **named: Any) -> None:  # LiteLLM's own arguments
        made(self, *given, **named)
        _careful(self.client, read_within)

    handlers.HTTPHandler.__init__ = init


class ElsewhereError(Exception):
    """A client was about to send a request to a host that nobody named."""


def on_host(base_url: str, whole: float) -> dict[str, Any]:  # settings of several libraries' clients
    """Settings that make a client of the providers' SDKs talk to this host alone.

    Redirects are not followed, and an address that a reply names is refused when it is another host's. A reply that is
    not there ``whole`` seconds after the request was sent is given up.
    """
    named, deadline = urlsplit(base_url), Deadline(whole)

    def check(request: Any) -> None:  # the SDKs' HTTP library has no name that both share
        there = urlsplit(str(request.url))
        if (there.scheme, there.netloc) != (named.scheme, named.netloc):
            raise ElsewhereError(f"the endpoint names an address at {there.netloc[:200]}, which is not followed")

    return {"follow_redirects": False, "event_hooks": {"request": [check, deadline.begin], "response": [deadline.end]}}


def _staying(make: Callable[..., Any], read: Callable[[Any], Any]) -> Callable[..., Any]:  # LiteLLM is untyped
    @wraps(make)
    def client(*given: Any, **named: Any) -> Any:  # as above
        made = make(*given, **named)
        if made is not None:
            _careful(made, read)
        return made

    return client


def _careful(client: Any, read: Callable[[Any], Any]) -> None:  # as above
    client.follow_redirects = False
    client.headers["Accept-Encoding"] = ENCODINGS
    hooks = client.event_hooks
    if read not in hooks["response"]:  # LiteLLM keeps clients
        client.event_hooks = {**hooks, "response": [*hooks["response"], read]}
