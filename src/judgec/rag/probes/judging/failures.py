"""Replies that are a system's error message instead of an answer, by rule: one table of patterns."""

import re

LONGEST = 600  # characters of a message that is recognized by a phrase within it

SORRY = r"(?:(?:i'?m sorry|sorry|apologies|oops)[,.!]? (?:but )?)?"

BEGINNINGS = (  # how such a reply begins, without case; signs before the first letter do not count
    r"(?:(?:fatal|internal|server|api|system|runtime|unknown|unexpected) )?error\s*(?:[:\]!(]|[-–—] |code\b|\d{3,4}\b)",
    r"[a-z_.]*(?:error|exception)\s*(?:\(|: )",  # ValueError: ..., openai.BadRequestError(...)
    r"(?-i:[A-Za-z_.]*[a-z](?:Error|Exception))\s*$",  # TimeoutError, and nothing else
    r"traceback \(most recent call last\)",
    SORRY
    + r"an? (?:\w+ )?(?:error|exception) (?:has |was )?(?:occurred|thrown)(?: (?:while|when|during)\b|[.,:;!]|\s*$)",
    SORRY + r"something went wrong\b",
    SORRY + r"i (?:have )?(?:encountered|ran into) an? (?:\w+ )?(?:error|problem)\b",
    r"(?:http )?(?:status(?: code)?:? )?[45]\d\d:? (?:client error|server error|bad gateway|bad request|internal)",
    r"(?:http )?(?:status(?: code)?:? )?[45]\d\d:? (?:service unavailable|gateway time-?out|too many requests)",
    r"(?:http )?(?:status(?: code)?:? )?[45]\d\d:? (?:unauthorized|forbidden|not found|payment required|unprocessable)",
    r"http(?:/\d(?:\.\d)?)?(?: status| code| error)*:? ?[45]\d\d\b",
    r"(?:internal server error|bad gateway|service (?:temporarily )?unavailable|gateway time-?out|too many requests)\b",
    r"(?:(?:request|connection|read) timed out|(?:request )?time-?out\s*(?:$|[:!.]))",
    r"connection (?:error|refused|reset|aborted)\b",
    r"(?:rate limit (?:reached|exceeded|hit)|quota exceeded|(?:cuda )?out of memory|invalid api key)\b",
    SORRY
    + r"there was an (?:\w+ )?error (?:while|when|generating|processing|connecting|fetching|loading|retrieving)\b",
    r"we(?:'re| are) (?:currently )?experiencing (?:technical|some)\b",
    r"you (?:have )?exceeded your (?:current )?(?:quota|rate limit)\b",
    r"(?:unable to|could not|cannot) connect to (?:the |a )?(?:\w+ )?(?:database|server|index|store|backend|api)\b",
    r"failed to (?:generate|fetch|get|load|connect|call|process|retrieve)\b",
    r"\{\s*\"(?:error|errors|detail|exception)\"\s*:",  # the body of a failed call
    r"\{\s*\"(?:status|code|status_?code)\"\s*:\s*\"?[45]\d\d\b",
    r"\{\s*\"message\"\s*:\s*\"(?:internal|error|bad gateway|service|endpoint|forbidden|unauthorized)\b",
    r"(?:null|undefined|nan|\[object object\])\s*$",  # a field that was not there; "None" can be an answer
    r"(?:<!doctype html>\s*)?<html[^>]*>\s*<head>\s*<title>\s*[45]\d\d\b",
)

PHRASES = (  # what only such a reply says, anywhere in a short one
    r"\bcontext (?:size|length|window)(?: limit)? (?:has been |have been |was |is )?exceeded\b",
    r"\bexceeds? (?:the )?(?:model'?s? )?(?:available |maximum )?context (?:size|length|window)\b",
    r"\bmaximum context length is \d+ tokens\b",
    r"\bthe server (?:is overloaded|had an error while processing)\b",
)

_BEGINNING = re.compile(rf"[^\w{{<]*(?:{'|'.join(BEGINNINGS)})", re.IGNORECASE)
_PHRASE = re.compile("|".join(PHRASES), re.IGNORECASE)
_ABOUT_ERRORS = re.compile(r"\berrors?\b|\bexceptions?\b|\bfault|\bcontext\b|\bhttp\b|\bstatus code", re.IGNORECASE)


def is_failure(answer: str, query: str = "") -> bool:
    """True when a reply is an error message of the system.

    Args:
        answer: The reply.
        query: What was asked: where that is about errors themselves, "Error: E42 means ..." is an answer.
    """
    if _ABOUT_ERRORS.search(query):
        return False
    return _BEGINNING.match(answer) is not None or (len(answer) <= LONGEST and _PHRASE.search(answer) is not None)
