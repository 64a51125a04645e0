"""What a fake endpoint can do with a call, and how a reply looks on the wire of OpenAI's chat completions."""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.prompts import Output, PromptParts, read_prompt

JsonObject = dict[str, object]
EMBEDDED = 64  # numbers of an embedding


@dataclass(frozen=True)
class Call:
    """One request as a policy sees it.

    Args:
        number: 1 for the first call that the server got.
        body: The request's JSON.
        prompt: The judge prompt in it.
        instructions: The system message.
    """

    number: int
    body: Mapping[str, object]
    prompt: PromptParts
    instructions: str


@dataclass(frozen=True)
class Text:
    """A reply: its text, and for some values in it the probability of each alternative."""

    text: str
    chances: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    finish: str = "stop"


@dataclass(frozen=True)
class Status:
    """An HTTP error."""

    code: int
    message: str = "fault"
    kind: str = "error"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Garbage:
    """Status 200 with a body that is no JSON."""


@dataclass(frozen=True)
class Hang:
    """No reply, ever."""


@dataclass(frozen=True)
class Reset:
    """The connection is reset."""


@dataclass(frozen=True)
class Raw:
    """Status 200 (or a redirect) with a body and headers of any kind; dripped, a byte at a time for ever."""

    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    code: int = 200
    drip_seconds: float = 0.0


Outcome = Text | Status | Garbage | Hang | Reset | Raw


def read_call(number: int, body: Mapping[str, object]) -> Call:
    """Read the prompt in a request body."""
    messages = body.get("messages")
    turns = [
        (str(message.get("role")), str(message.get("content")))
        for message in (messages if isinstance(messages, list) else [])
    ]
    system = "\n".join(text for role, text in turns if role in {"system", "developer"})
    rest = [(role, text) for role, text in turns if role not in {"system", "developer"}]
    return Call(number, body, read_prompt(system, rest), system)


def answer(call: Call, grades: Mapping[str, str], reason: str = "as the rules say") -> Text:
    """A well-formed reply with these grades, by output field; other fields get something fitting.

    A prompt that asks for no field (a preflight) gets one word.
    """
    outputs = call.prompt.outputs
    if not outputs:
        return Text("ready")
    values = {output.name: grades.get(output.name, _filler(output, reason)) for output in outputs}
    chances = {output.name: _chances(output, values[output.name]) for output in outputs if output.labels}
    if call.prompt.wants_json:
        return Text(json.dumps(values, indent=2), chances)
    blocks = [f"[[ ## {name} ## ]]\n{value}" for name, value in values.items()]
    return Text("\n\n".join([*blocks, "[[ ## completed ## ]]\n"]), chances)


def completion(call: Call, reply: Text) -> JsonObject:
    """The body of a successful response."""
    message = {"role": "assistant", "content": reply.text}
    choice: JsonObject = {"index": 0, "message": message, "finish_reason": reply.finish, "logprobs": None}
    if call.body.get("logprobs"):
        choice["logprobs"] = {"content": _tokens(reply, call.body.get("top_logprobs"))}
    prompt = sum(len(word) for word in json.dumps(call.body.get("messages"))) // 4
    spoken = max(1, len(reply.text) // 4)
    usage = {"prompt_tokens": prompt, "completion_tokens": spoken, "total_tokens": prompt + spoken}
    about = {"id": f"chatcmpl-{call.number}", "object": "chat.completion", "created": 0}
    return {**about, "model": call.body.get("model"), "choices": [choice], "usage": usage}


def embeddings(body: Mapping[str, object]) -> JsonObject:
    """The body of an embedding response: words hashed into counts, so that texts that share words are near."""
    texts = body.get("input")
    vectors = []
    for text in texts if isinstance(texts, list) else [texts]:
        counts = [0.0] * EMBEDDED
        for word in re.findall(r"\w+", str(text)):
            counts[digest(word) % EMBEDDED] += 1.0
        vectors.append(counts)
    data = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors)]
    usage = {"prompt_tokens": 0, "total_tokens": 0}
    return {"object": "list", "data": data, "model": body.get("model"), "usage": usage}


def digest(*texts: str) -> int:
    """A number that depends on the texts alone."""
    return int.from_bytes(hashlib.sha256("\0".join(texts).encode()).digest()[:8], "big")


def _filler(output: Output, reason: str) -> str:
    if output.labels:
        return output.labels[-1]
    return "80" if output.kind == "int" else "0.8" if output.kind == "float" else reason


def _chances(output: Output, value: str) -> dict[str, float]:
    """Most of the belief on the grade, the rest on its neighbours; a bad grade has none."""
    if value not in output.labels:
        return {value: 1.0}
    at = output.labels.index(value)
    weights = {label: 0.3 ** abs(i - at) for i, label in enumerate(output.labels)}
    whole = sum(weights.values())
    return {label: weight / whole for label, weight in weights.items()}


def _tokens(reply: Text, most: object) -> list[JsonObject]:
    """The reply as tokens, each with its alternatives; a graded value is one token."""
    kept = most if isinstance(most, int) else 0
    header = re.compile(r'(?:\[\[ ## (\w+) ## \]\]\n|"(\w+)": "?)')
    graded = {
        match.end(): reply.chances[name]
        for match in header.finditer(reply.text)
        if (name := match.group(1) or match.group(2)) in reply.chances
    }
    tokens: list[JsonObject] = []
    for match in re.finditer(r"\w+|\s+|[^\w\s]", reply.text):
        chances = graded.get(match.start(), {match.group(): 1.0})
        ranked = sorted(chances.items(), key=lambda pair: -pair[1])
        top = [{"token": token, "logprob": math.log(p), "bytes": list(token.encode())} for token, p in ranked]
        own = math.log(chances.get(match.group(), 1.0))
        spelled = list(match.group().encode())
        tokens.append({"token": match.group(), "logprob": own, "bytes": spelled, "top_logprobs": top[:kept]})
    return tokens
