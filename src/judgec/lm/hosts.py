"""Finds the endpoint that the environment names for a provider, as OpenAI's client and LiteLLM look for it."""

import os
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit, urlunsplit

from judgec.errors import UserError

# Where a provider's variable is not simply PROVIDER_API_BASE. The first that is set is used.
# Source: the clients of LiteLLM (1.80) and the SDKs of OpenAI and Anthropic.
_OPENAI = ("OPENAI_BASE_URL", "OPENAI_API_BASE")
_VARIABLES = {
    **dict.fromkeys(("openai", "text-completion-openai", "custom_openai"), _OPENAI),
    **dict.fromkeys(("anthropic", "anthropic_text"), ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE")),
    **dict.fromkeys(("azure", "azure_text"), ("AZURE_API_BASE",)),
    **dict.fromkeys(("ollama", "ollama_chat"), ("OLLAMA_API_BASE",)),
    **dict.fromkeys(("cohere", "cohere_chat"), ("COHERE_API_BASE",)),
    **dict.fromkeys(("ai21", "ai21_chat"), ("AI21_API_BASE",)),
    **dict.fromkeys(("vertex_ai", "vertex_ai_beta"), ("VERTEXAI_API_BASE", "VERTEX_API_BASE")),
    **dict.fromkeys(("watsonx", "watsonx_text"), ("WATSONX_API_BASE", "WATSONX_URL", "WX_URL", "WML_URL")),
    "bedrock": ("BEDROCK_API_BASE", "AWS_BEDROCK_RUNTIME_ENDPOINT"),
    "cometapi": ("COMETAPI_BASE_URL", "COMETAPI_API_BASE"),
    "datarobot": ("DATAROBOT_ENDPOINT",),
    "featherless_ai": ("FEATHERLESS_AI_API_BASE", "FEATHERLESS_API_BASE"),
    "fireworks_ai": ("FIREWORKS_AI_API_BASE", "FIREWORKS_API_BASE"),
    "friendliai": ("FRIENDLI_API_BASE",),
    "huggingface": ("HF_API_BASE", "HUGGINGFACE_API_BASE"),
    "lambda_ai": ("LAMBDA_API_BASE",),
    "meta_llama": ("LLAMA_API_BASE",),
    "volcengine": ("VOLCENGINE_API_BASE", "ARK_API_BASE"),
}
# Under which path a bare host serves the protocol that is spoken here; the variables' own clients add it themselves.
_PATHS = {"anthropic": "/v1", "gemini": "/v1beta", "ollama": "/v1", "ollama_chat": "/v1"}
# Where a model is asked that nobody names an endpoint for.
_OWN = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com/v1",
    "gemini": "https://generativelanguage.googleapis.com/v1beta",
    "deepseek": "https://api.deepseek.com",
    "groq": "https://api.groq.com/openai/v1",
    "openrouter": "https://openrouter.ai/api/v1",
    "xai": "https://api.x.ai/v1",
    "moonshot": "https://api.moonshot.ai/v1",
    "mistral": "https://api.mistral.ai/v1",
    "hosted_vllm": "http://localhost:8000/v1",
    **dict.fromkeys(("ollama", "ollama_chat"), "http://localhost:11434/v1"),
}


class NamedEndpoint(NamedTuple):
    """An endpoint, and the variable that names it."""

    variable: str
    url: str


def named_endpoint(model: str, environ: Mapping[str, str] | None = None) -> NamedEndpoint | None:
    """The endpoint that the environment names for a model, without credentials; None for the provider's own.

    Args:
        model: ``provider/name``.
        environ: By default the process's environment.

    Raises:
        UserError: The variable holds no http(s) URL, or one with a query.
    """
    provider, slash, _ = model.partition("/")
    if not slash or ":" in provider:  # no model, recorded verdicts, a jury
        return None
    given = os.environ if environ is None else environ
    usual = (f"{provider.upper().replace('-', '_')}_API_BASE",)
    for variable in _VARIABLES.get(provider, usual):
        if value := given.get(variable, "").strip():
            return NamedEndpoint(variable, _usable(variable, value, _PATHS.get(provider, "")))
    return None


def own_endpoint(model: str) -> str | None:
    """The URL of a provider's own API, or None where it is not known here."""
    return _OWN.get(model.partition("/")[0])


def bare(url: str) -> str:
    """A URL without user, password, query and fragment, for people and files."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", "")).rstrip("/")


def host_of(url: str) -> str:
    """Host and port of a URL."""
    return urlsplit(url).netloc.rpartition("@")[2] or url


def _usable(variable: str, value: str, path: str) -> str:
    try:
        parts = urlsplit(value)
        sound = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:  # of brackets or the port
        parts, sound = SplitResult("", "", "", "", ""), False
    if not sound:
        raise UserError(
            f"{variable}: not an http(s) URL; valid is for example http://127.0.0.1:8000/v1. "
            f"Correct it, unset it, or give --api-base."
        )
    if parts.query or parts.fragment:
        raise UserError(
            f"{variable}: the URL {bare(value)} carries a query or fragment; the bare URL is valid. Leave it out."
        )
    found = bare(value)
    return found if parts.path.strip("/") else found + path
