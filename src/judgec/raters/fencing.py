r"""Untrusted text in a prompt, quoted line by line so that it cannot end its block or open another field.

The format, which a reader of the rendered prompt can undo exactly::

    one text                  several texts (contexts)      no text
    > first line              [1]                           (the answer is empty)
    > second line             > first text
                              [2]
                              > second text

Every line of the text, whatever character ended the line before it, begins with ``> ``. So the block ends at
the first line that does not, and no text can write such a line. Inside a line, DSPy's field marker
``[[ ## name ## ]]`` is written ``[\[ ## name ## ]]``; a text that already holds the written form gets one
more backslash. Likewise the tokens with which chat templates begin and end turns, thoughts and calls of tools
(``<|im_end|>``, ``[INST]``, ``</s>``, ``<end_of_turn>``, ``<think>``, ``[TOOL_RESULTS]``) are written with a backslash
after their first character, because servers read them as what they are even inside a message. Characters that show
nothing or reorder what is shown are written ``[u+200b]`` where the script that they stand in does not use them: a
joiner in a Persian word or a family of emoji is text, one between Latin letters is not.

The turns of a conversation are several texts, each of which begins with its role; so are the steps of a run, each of
which begins with its kind. Those of a long one that are left out of the middle leave their numbers out and one line
that no quoted text can look like::

    [3]
    > user: first text
    (turns 4 to 17 left out, about 5200 tokens)
    [18]
    > assistant: second text

Documents of several answers together have names in place of numbers, and beside these what is known of them, each in
one line; what the answers' marks mean stands above an answer::

    (grades of relevance to the query, worst first: 0: not relevant; 1: relevant)
    [P1] relevance 1: the reason
    > first text

Marking every line, rather than the two ends, is the stronger defence: Hines et al. (2024), "Defending against
indirect prompt injection attacks with spotlighting", arXiv:2403.14720.
"""

import re
from types import MappingProxyType

from judgec.records.citation import armed
from judgec.records.conversation import DIALOGUE, TURNS
from judgec.records.counts import plural
from judgec.records.label import PooledContexts, Text
from judgec.records.trajectory import STEPS

QUOTE = "> "
LINE_END = re.compile(r"(\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029])")  # what str.splitlines() splits at
LINE_ENDS = frozenset("\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")  # their last characters
MARKER = re.compile(r"\[(\\*)(?=\[\s*##)")
ESCAPED_MARKER = re.compile(r"\[(\\*)\\(?=\[\s*##)")
# Control tokens by family, behind their first character. Source: tokenizer_config.json and chat template of each model.
FAMILIES = MappingProxyType(
    {
        "ChatML, Llama 3, Qwen, DeepSeek, Phi, GLM-4": r"[|｜]|\w{1,40}[|｜]>",  # <|im_end|>, <turn|>
        "Llama 2, Gemma 3, SentencePiece": r"/?(?:s|SYS|bos|eos|eot|pad|unk|mask|unused\d+)>"
        r"|/?(?:start|end)_of_(?:turn|image)>",
        "Mistral v1 to v13": r"/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_(?:CALLS|RESULTS|CONTENT)|ARGS|CALL_ID"
        r"|THINK|PREFIX|MIDDLE|SUFFIX|IMG(?:_BREAK|_END)?|(?:BEGIN_)?AUDIO|TRANSCRIBE)\]",
        "Qwen3, Seed-OSS-36B, MiniMax-M2": r"/?(?:\w{1,20}:)?(?:think|tools|tool_call|tool_response)>"
        r"|/?seed:cot_budget_reflect>|\w{1,20}:(?:bos|eos|pad|unk)>",  # <seed:bos>, <minimax:tool_call>
        "Qwen3-Coder, Llama 3.1": "(?:function|parameter)=",
        "MiniMax-M2, MiniMax-Text-01": r"~!?b[\[\]]|e~\[|(?:beginning|end)_of_sentence>",  # ]~b], ]~!b[, [e~[
        "Nemotron-4, Nemotron Nano": r"extra_id_\d+>|SPECIAL_\d+>|/?(?:TOOLCALL|TOOL_RESPONSE|AVAILABLE_TOOLS)>",
        "Baichuan2": r"reserved_\d+>",
        "Command R": "(?:BOS|EOS|PAD|UNK|CLS|SEP|MASK|EOP)_TOKEN>",
        "Ling-lite": "role>(?:SYSTEM|HUMAN|ASSISTANT|OBSERVATION)</role>",
        "InternLM": r"(?:eoh|eoa|eosys)>|TOKENS_UNUSED_\d+>|UNUSED_TOKEN_\d+\]",
        "ChatGLM": r"[gs]MASK\]|(?:sop|eop)>",
    }
)
TURN = f"(?={'|'.join(FAMILIES.values())})"
_FIRST = r"([<\[](?!\\*~)|\](?=\\*~))"
TURN_TOKEN = re.compile(rf"{_FIRST}(\\*){TURN}")
ESCAPED_TURN = re.compile(rf"{_FIRST}(\\*)\\{TURN}")
SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"  # which form of the character before
UNSEEN = re.compile(  # what Unicode calls default ignorable, and the marks of annotations
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    f"\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff{SELECTORS}]"
)
_EMOJI = "\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_SOUTHERN = "\u0900-\u109f\u1780-\u18af\u1900-\u1cff\ua800-\uabff\U00010a00-\U00011fff"  # India, South-East Asia, Tibet
_RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
ORDINARY = re.compile(  # an unseen character where its script uses it: it is text
    f"(?<=[{_SOUTHERN}{_RIGHT_TO_LEFT}])[\u200c\u200d]"
    f"|(?<=[{_EMOJI}\ufe0f])\u200d(?=[{_EMOJI}])"
    f"|(?<=[{_SOUTHERN}])[\u200b\u17b4\u17b5\u180b-\u180f]"
    f"|(?<=[0-9#*\xa9\xae\u2018-\u201d\u203c\u2049\u2100-\u2bff\u3000-\u30ff\u3297\u3299\u3400-\u9fff\uf900-\ufaff"
    f"{_EMOJI}{_SOUTHERN}\U00020000-\U0003ffff])[{SELECTORS}]"
    r"|(?<=\w)\xad|(?<=[\u1100-\u115f])\u1160|\u115f(?=[\u1160-\u11a7])"
)
MARK = re.compile("(?<![\u061c\u200e\u200f])[\u061c\u200e\u200f]")  # of direction: text beside letters that have one
RIGHT_TO_LEFT = re.compile(f"[{_RIGHT_TO_LEFT}]")
SPELLED = re.compile(r"\[(\\*)(?=u\+[0-9a-f]{4,5}\])")
SPELLED_UNSEEN = re.compile(r"\[u\+([0-9a-f]{4,5})\]")
ESCAPED_SPELLED = re.compile(r"\[(\\*)\\(?=u\+[0-9a-f]{4,5}\])")
MOST_TOKENS = 6_000  # of a conversation in a prompt: fits, with the rest, where windows are smallest (8,192)
MOST_OF_STEP = 700  # of one step of a run that is longer than that: one long result must not hide the other steps
BYTES_A_TOKEN = 4  # as prices are estimated
BEGINNING = 1 / 3  # of what is kept: a conversation's end tells more of its last answer than its beginning
HEADING = re.compile(r"\[\d+\]|\[P\d+\].*")
HEAD = re.compile(r"^\s*(?:#{1,6}\s+|`{3,}\w*|>\s)")  # of a line in Markdown
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
ROLE = re.compile(r"^(system|developer|user|human|assistant|instructions?)\s*:", re.IGNORECASE)
ORDER = re.compile(  # to whoever reads a prompt; the usual words of attacks, not a reason's
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instructions?|rules?|rubric|prompt|above|guidelines)\b"
    r"|\bfrom now on\b|\bnew instructions?\b|\byou are now\b"
    r"|\balways (?:answer|give|grade|output|rate|reply|respond|return|score|write)\b"
    r"|\b(?:ignorier\w*|vergiss)\b.{0,40}\b(?:Anweisung|Regel)"
    r"|\b(?:ignore[rz]?|ignora|olvida|oublie[rz]?)\b.{0,40}\b(?:consignes|instrucciones|reglas|règles|istruzioni|instruções)\b"
    r"|(?:忽略|无视|無視).{0,20}(?:指令|指示|规则|規則)",
    re.IGNORECASE,
)


def fence(name: str, value: Text) -> str:
    """Quote the text of one input field; several texts are numbered from 1.

    Args:
        name: What the prompt calls the field: turns and steps that are too many are left out of their middle.
        value: One text, or several.

    Returns:
        The block; an empty value says so in a line that no quoted text can look like.
    """
    if not value:
        return f"(the {name} {'are' if name.endswith('s') else 'is'} empty)"
    if isinstance(value, str):
        return _quote(disarmed(value))
    if name in {*TURNS, DIALOGUE, STEPS}:  # what may be long without limit
        return _fenced_turns(value, "step", MOST_OF_STEP) if name == STEPS else _fenced_turns(value)
    return "\n".join(f"[{number}]\n{_quote(disarmed(text))}" for number, text in enumerate(value, 1))


def fence_pool(texts: tuple[str, ...], pool: PooledContexts) -> str:
    """Quote pooled documents, each below one line of its name, grade and reason."""
    lines = [f"({_line(pool.meanings)})"] if pool.meanings else []
    for n, (text, grade, reason) in enumerate(zip(texts, pool.grades, pool.reasons, strict=True), 1):
        said = ": ".join(filter(None, (_line(grade), armed(spoken(reason)))))
        lines += [f"[P{n}] {said}".rstrip(), _quote(disarmed(text))]
    return "\n".join(lines)


def _line(text: str) -> str:
    return escape_markers(disarmed(" ".join(text.split())))


def _fenced_turns(turns: tuple[str, ...], what: str = "turn", each: int = MOST_TOKENS) -> str:
    """The turns or steps, numbered; what exceeds ``MOST_TOKENS`` is left out of the middle, with a mark.

    Of a single one that is longer than its part, or than ``each``, the middle is left out too.
    """
    whole = [_tokens(turn) for turn in turns]
    if sum(whole) <= MOST_TOKENS:
        return "\n".join(f"[{number}]\n{_quote(disarmed(turn))}" for number, turn in enumerate(turns, 1))
    sizes = [min(size, each) for size in whole]
    first = last = 0
    begin, end = int(MOST_TOKENS * BEGINNING), MOST_TOKENS - int(MOST_TOKENS * BEGINNING)
    while first < len(turns) and sum(sizes[: first + 1]) <= begin:
        first += 1
    while last < len(turns) - first and sum(sizes[len(turns) - last - 1 :]) <= end:
        last += 1
    last = max(last, 1)  # the turn before the answer is always there, if not all of it
    left = range(first, len(turns) - last)
    shown = [f"[{number}]\n{_cut(turn, min(begin, each), what)}" for number, turn in enumerate(turns[:first], 1)]
    if left:
        which = f"{what}s {left[0] + 1} to {left[-1] + 1}" if len(left) > 1 else f"{what} {left[0] + 1}"
        shown.append(f"({which} left out, about {plural(sum(whole[at] for at in left), 'token')})")
    start, most = len(turns) - last, min(end, each)
    ending = (f"[{number}]\n{_cut(turn, most, what)}" for number, turn in enumerate(turns[start:], start + 1))
    return "\n".join([*shown, *ending])


def _cut(turn: str, most: int, what: str) -> str:
    """One turn, quoted; what exceeds ``most`` tokens is left out of its middle."""
    if _tokens(turn) <= most:
        return _quote(disarmed(turn))
    half = most * BYTES_A_TOKEN // 2
    data = turn.encode("utf-8", "replace")
    begin, end = data[:half].decode("utf-8", "ignore"), data[-half:].decode("utf-8", "ignore")
    mark = f"({_tokens(turn) - most} tokens of this {what} left out)"
    return f"{_quote(disarmed(begin))}\n{mark}\n{_quote(disarmed(end))}"


def _tokens(text: str) -> int:
    return -(-len(text.encode("utf-8", "replace")) // BYTES_A_TOKEN)


def unfence(fenced: str) -> Text:
    """The text or texts that ``fence`` was given; an empty value comes back as one empty text.

    A prompt may have lost white space at the very end of the block; nothing else is lost.
    """
    parts = LINE_END.split(fenced)
    texts: list[str] = []
    numbered = False
    ended = ""  # how the line before ended, when it belongs to the same text
    for line, end in zip(parts[::2], [*parts[1::2], ""], strict=True):
        if line.startswith(QUOTE) or line == QUOTE.rstrip():
            content = line[len(QUOTE) :]
            if ended and texts:
                texts[-1] += ended + content
            else:
                texts.append(content)
            ended = end
        else:
            numbered = numbered or HEADING.fullmatch(line) is not None
            ended = ""
    texts = [_armed(ESCAPED_MARKER.sub(r"[\1", text)) for text in texts]
    if numbered:
        return tuple(texts)
    return texts[0] if texts else ""


def disarmed(text: str) -> str:
    """The text with turn tokens broken and unseen characters spelled out; ``unfence`` puts both back."""
    if "<" not in text and "[" not in text and "]~" not in text and text.isascii():  # most texts
        return text
    if "[" in text:
        text = SPELLED.sub(r"[\1\\", text)
    if "[" in text or "<" in text or "]~" in text:
        text = TURN_TOKEN.sub(r"\1\2\\", text)
    return text if text.isascii() or UNSEEN.search(text) is None else _spelled(text)


def _spelled(text: str) -> str:
    marked = RIGHT_TO_LEFT.search(text) is not None

    def spell(match: re.Match[str]) -> str:
        at = match.start()
        ordinary = ORDINARY.match(text, at) or (marked and MARK.match(text, at))
        return match[0] if ordinary else f"[u+{ord(match[0]):04x}]"

    return UNSEEN.sub(spell, text)


def _armed(text: str) -> str:
    text = SPELLED_UNSEEN.sub(_unseen, text)
    return ESCAPED_SPELLED.sub(r"[\1", ESCAPED_TURN.sub(r"\1\2", text))


def _unseen(match: re.Match[str]) -> str:
    char = chr(int(match[1], 16))
    return char if UNSEEN.fullmatch(char) else match[0]


def spoken(text: str) -> str:
    """Somebody's text as the model's own turn may hold it, which must not be quoted: a model that sees its turns quoted
    learns to quote.

    It is one line, so that nothing in it begins one (a field, a heading, a role); markers and turn tokens are broken;
    sentences that give the judge orders are left out.
    """
    lines = (HEAD.sub("", line) for line in text.splitlines())
    sentences = SENTENCE_END.split(" ".join(" ".join(lines).split()))
    plain = (ROLE.sub(r"\1\\:", one) for one in sentences if one and not ORDER.search(one))
    return escape_markers(disarmed(" ".join(plain)))


def escape_markers(text: str) -> str:
    """The text, not quoted, with DSPy's field markers made harmless."""
    return MARKER.sub(r"[\1\\", text) if "##" in text else text


def _quote(text: str) -> str:
    lines = escape_markers(text).splitlines(keepends=True)  # at what LINE_END matches, ten times faster
    if not text or text[-1] in LINE_ENDS:  # a line end at the very end begins one more line
        lines.append("")
    return QUOTE + QUOTE.join(lines)
