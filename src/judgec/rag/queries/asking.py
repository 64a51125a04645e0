"""Prompts that write questions, asked in bulk: rendered once, journaled, malformed replies asked again."""

from collections.abc import Mapping, Sequence

import dspy

from judgec.lm.executor import Ask, Reply, Request
from judgec.lm.frozen import freeze
from judgec.raters.asking import ask_rows, text_of
from judgec.raters.prompt import CHECKED
from judgec.raters.replies import UnreadableReplyError, read_fields

Fields = Mapping[str, str]
AGAIN = 1_000_003  # far from any seed: the second asking of one seed is no other seed's first


def ask_fields(
    predict: dspy.Predict, inputs: Sequence[Fields], ask: Ask, *, rollout: int | None = None
) -> list[Fields | str]:
    """The output fields of each reply, or the reason why there are none.

    Args:
        predict: The prompt; its outputs are texts.
        inputs: Its input fields, fenced, in the order of the result.
        ask: Sends the requests.
        rollout: Tells one seed's calls from another's, so that each is asked and journaled by itself.
    """
    results: list[Fields | str] = ["no reply"] * len(inputs)
    if not inputs:
        return results
    prompt = freeze(predict, inputs[:CHECKED])
    wanted = tuple(predict.signature.output_fields)

    def request(row: int, attempt: int) -> Request:
        repeat = (rollout or 0) + attempt * AGAIN if attempt else rollout
        return Request(row, prompt.messages(inputs[row]), repeat)

    def take(row: int, reply: Reply) -> None:
        text = text_of(reply)
        fields = prompt.usual(text) or read_fields(text)
        missing = [name for name in wanted if name not in fields]
        if missing:
            raise UnreadableReplyError(f"malformed reply: no {missing[0]}")
        results[row] = {name: str(fields[name]).strip() for name in wanted}

    for row, fault in ask_rows(range(len(inputs)), ask, request, take).items():
        results[row] = fault
    return results
