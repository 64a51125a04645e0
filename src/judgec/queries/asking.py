"""Prompts that write questions, asked in bulk: rendered once, journaled, malformed replies asked again."""

from collections.abc import Mapping, Sequence

import dspy

from judgec.judges.reading import UnreadableReplyError, read_fields
from judgec.judges.stream.interview import ATTEMPTS, CHECKED, Ask
from judgec.lm.executor import Request
from judgec.lm.frozen import freeze

Fields = Mapping[str, str]


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
    due: Sequence[int] = range(len(inputs))
    for attempt in range(ATTEMPTS):
        again: list[int] = []
        repeat = rollout if not attempt else (rollout or 0) + attempt * AGAIN
        requests = (Request(row, prompt.messages(inputs[row]), repeat) for row in due)
        for reply in ask(requests, total=len(due)):
            row = int(reply.key)
            if reply.text is None:
                results[row] = f"service error: {reply.error}"
                continue
            try:
                fields = read_fields(reply.text, prompt.parse)
            except UnreadableReplyError as fault:
                results[row] = str(fault)
                again.append(row)
                continue
            missing = [name for name in wanted if name not in fields]
            if missing:
                results[row] = f"malformed reply: no {missing[0]}"
                again.append(row)
                continue
            results[row] = {name: str(fields[name]).strip() for name in wanted}
        due = sorted(again)
        if not due:
            break
    return results


AGAIN = 1_000_003  # far from any seed: the second asking of one seed is no other seed's first
