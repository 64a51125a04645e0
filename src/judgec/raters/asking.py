"""Asks a language model about rows, and again where a reply cannot be read."""

from collections.abc import Callable, Sequence

from judgec.lm.endpoint.untrusted import FAULTS, SETTLED
from judgec.lm.executor import Ask, Reply, Request
from judgec.raters.replies.said import UnreadableReplyError

ATTEMPTS = 2  # a malformed reply is asked for once more
SERVICE_ERROR = "service error"
SHOWN = 60  # characters of what a model said instead of a verdict


def text_of(reply: Reply) -> str:
    """The text of a reply.

    Raises:
        UnreadableReplyError: When there is none: the service failed, which was retried already.
    """
    if reply.finish in FAULTS:
        said = " ".join((reply.text or reply.error or "").split())[:SHOWN]
        raise UnreadableReplyError(f"{FAULTS[reply.finish]}: {said}".rstrip(": "), final=reply.finish in SETTLED)
    if reply.text is None:
        raise UnreadableReplyError(f"{SERVICE_ERROR}: {reply.error}", final=True)
    return reply.text


def ask_rows(
    rows: Sequence[int], ask: Ask, request: Callable[[int, int], Request], take: Callable[[int, Reply], None]
) -> dict[int, str]:
    """Ask for each row, once more for those whose reply cannot be read.

    Args:
        rows: What is asked for.
        ask: Sends the requests.
        request: Makes that of a row and of an attempt, from 0; its key is the row.
        take: Reads the reply to a row by ``text_of``; raises ``UnreadableReplyError`` when there is nothing to read.

    Returns:
        Why nothing came of a row, of those where nothing did.
    """
    faults: dict[int, str] = {}
    for attempt in range(ATTEMPTS):
        unread = []
        for reply in ask((request(row, attempt) for row in rows), total=len(rows)):
            row = int(reply.key)
            try:
                take(row, reply)
            except UnreadableReplyError as fault:
                faults[row] = str(fault)
                if not fault.final:
                    unread.append(row)
            else:
                faults.pop(row, None)
        rows = sorted(unread)
        if not rows:
            break
    return faults
