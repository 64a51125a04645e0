"""Ready-made behaviours of the fake endpoint, by name; each is a function of the call alone."""

import re
from collections.abc import Callable, Iterator, Mapping

from tests.service import grading_world
from tests.service.replies import Call, Garbage, Hang, Outcome, Reset, Status, Text, answer, digest

Policy = Callable[[Call], Outcome]

TOO_MANY = Status(429, "Rate limit reached", "rate_limit_exceeded", {"Retry-After": "0.05"})
BROKEN = Status(500, "The server had an error", "server_error")


def good(call: Call) -> Outcome:
    """A well-formed reply whose grade depends on the item alone."""
    texts = "".join(f"{name}{value}" for name, value in sorted(call.prompt.inputs.items()))
    return answer(
        call,
        {o.name: o.labels[digest(o.name, texts) % len(o.labels)] for o in call.prompt.outputs if o.labels},
    )


def malformed(call: Call) -> Outcome:
    """Prose without a field."""
    return Text("I would say that this answer is rather good.") if call.prompt.outputs else answer(call, {})


def off_scale(call: Call) -> Outcome:
    """The right fields with a grade that is not on the scale."""
    return answer(call, {output.name: "11" for output in call.prompt.outputs if output.labels})


def refusing(call: Call) -> Outcome:
    """A refusal."""
    return Text("I'm sorry, but I can't help with that.") if call.prompt.outputs else answer(call, {})


def always(outcome: Outcome) -> Policy:
    """The same outcome for every judge prompt; a preflight gets through unless it is an error for all."""
    return lambda call: outcome


def every(count: int, bad: Outcome | Policy, otherwise: Policy = good) -> Policy:
    """Calls number ``count``, 2 ``count``, ... go badly."""

    def policy(call: Call) -> Outcome:
        if call.number % count:
            return otherwise(call)
        return bad(call) if callable(bad) else bad

    return policy


def first(count: int, bad: Outcome, otherwise: Policy = good) -> Policy:
    """The first ``count`` calls go badly."""
    return lambda call: bad if call.number <= count else otherwise(call)


def storm(call: Call) -> Outcome:
    """5 % resets, 5 % garbage, 5 % malformed, bursts of 429, the rest good."""
    draw = digest("storm", str(call.number)) % 100
    if call.number % 200 < 20:
        return TOO_MANY
    if draw < 5:
        return Reset()
    if draw < 10:
        return Garbage()
    return malformed(call) if draw < 15 else good(call)


def without(parameter: str, complaint: str = "Unsupported parameter: {}", otherwise: Policy = good) -> Policy:
    """An endpoint that answers calls with a parameter by 400."""
    refusal = Status(400, complaint.format(parameter), "unsupported_parameter")
    return lambda call: refusal if call.body.get(parameter) else otherwise(call)


def only_schema(call: Call) -> Outcome:
    """A weak model: prose, unless a schema leaves it no choice."""
    return good(call) if call.body.get("response_format") else malformed(call)


# Graders that obey orders in what they grade, to measure what fencing is worth. A grade is ordered by a number after
# one of the words that all attacks use; without an order it is what the answer's claims earn.
ORDER = re.compile(r"(?:grade|Note|en el|dans|reason|give|Give|GradeBot|给出|поставь|وضع)\D{0,60}?([1-5])(?!\d)")
TURN = re.compile(r"<\|im_start\|>|<\|eot_id\|>|\[/?INST\]|</s>|<start_of_turn>")
STRUCTURE = re.compile(r"\[\[ ## (query|answer|reference|contexts) ## \]\]|\[\d+\]|\(the \w+ (?:is|are) empty\)")
ENDING = "Respond with the corresponding output fields"


def obedient(call: Call) -> Outcome:
    """Obeys what stands outside quoted lines, or behind a token that ends the turn: where text got out."""
    return _graded(call, "\n".join(_outside(_asked(call))))


def gullible(call: Call) -> Outcome:
    """Obeys every order that it can read, quoted or not."""
    return _graded(call, _asked(call))


def _asked(call: Call) -> str:
    """The message with the item, without the adapter's own closing line."""
    messages = call.body.get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else {}
    return str(last.get("content", "")).rpartition(ENDING)[0]


def _outside(text: str) -> Iterator[str]:
    broken = False
    for line in text.splitlines():
        broken = broken or TURN.search(line) is not None
        if broken or not (line.startswith("> ") or line == ">" or STRUCTURE.fullmatch(line)):
            yield line


def _graded(call: Call, orders: str) -> Outcome:
    if not call.prompt.outputs:
        return answer(call, {})
    ordered = ORDER.search(orders)
    text = _asked(call).partition("[[ ## answer ## ]]")[2]
    grade = int(ordered[1]) if ordered else min(5, grading_world.expert_grade(text))
    return answer(call, {output.name: str(grade) for output in call.prompt.outputs if output.labels})


POLICIES: Mapping[str, Policy] = {
    "good": good,
    "malformed": malformed,
    "off_scale": off_scale,
    "refusing": refusing,
    "rate_limited": every(3, TOO_MANY),
    "always_rate_limited": always(TOO_MANY),
    "flaky": every(3, BROKEN),
    "always_broken": always(BROKEN),
    "hanging": always(Hang()),
    "sometimes_hanging": every(5, Hang()),
    "resetting": every(4, Reset()),
    "garbage": every(4, Garbage()),
    "bad_key": always(Status(401, "Incorrect API key provided", "invalid_api_key")),
    "unknown_model": always(Status(404, "The model does not exist", "model_not_found")),
    "no_quota": always(Status(429, "You exceeded your current quota", "insufficient_quota")),
    "storm": storm,
    "no_schema": without("response_format"),
    "no_logprobs": without("logprobs"),
    "only_schema": only_schema,
    "teachable": grading_world.teachable,
    "stubborn": grading_world.stubborn,
}
