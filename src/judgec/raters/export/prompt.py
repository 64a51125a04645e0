"""A judge's prompt by itself: the turns that are sent, with a placeholder in the place of each text of an item."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import dspy

from judgec.errors import UserError
from judgec.lm.frozen import Message, freeze
from judgec.raters.judge import JudgeTree
from judgec.raters.predictors import module_of
from judgec.raters.tree import PLACEHOLDER, PromptLeaf
from judgec.records.counts import plural

FORMS = ("{%s}", "{{%s}}", "{{{%s}}}", "<<%s>>")  # of a placeholder; the first that the prompt does not hold
FENCE = (
    "each line of a text has to begin with '> ', several texts are numbered [1], [2], ... on lines of their own: that "
    "keeps a text from ending its place or posing as an instruction"
)


@dataclass(frozen=True, slots=True)
class BarePrompt:
    """The turns of one prompt.

    Args:
        messages: ``role`` and ``content`` of each turn.
        placeholders: What stands in the content for each field of an item.
        judge: The recorded judge whose prompt it is, or empty.
        aspect: What it asks about, where each aspect has a prompt of its own; else empty.
    """

    messages: tuple[Message, ...]
    placeholders: Mapping[str, str]
    judge: str = ""
    aspect: str = ""

    def filled(self, texts: Mapping[str, str]) -> list[Message]:
        """The turns with texts in their places; a text that looks like a placeholder stays as it is."""
        names = {mark: name for name, mark in self.placeholders.items()}
        if not names:
            return list(self.messages)
        marks = re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True))))
        return [
            {**turn, "content": marks.sub(lambda found: texts[names[found[0]]], turn["content"])}
            for turn in self.messages
        ]

    def to_json(self) -> dict[str, object]:
        """As it is written to a file."""
        named = {"judge": self.judge, "aspect": self.aspect}
        return {
            **{key: value for key, value in named.items() if value},
            "placeholders": dict(self.placeholders),
            "messages": list(self.messages),
        }

    def to_text(self) -> str:
        """The turns as text, each under a line with its role."""
        heading = "".join(f"=== {text} ===\n" for text in (self.judge, self.aspect) if text)
        return heading + "\n".join(f"=== {turn['role']} ===\n{turn['content']}" for turn in self.messages) + "\n"


def bare_prompts(judge: JudgeTree, where: str) -> tuple[BarePrompt, ...]:
    """Prompts of a judge, without what it adds: one each, of a prompt in turns one for each aspect that has its own.

    Args:
        judge: The judge.
        where: Its name, for messages.

    Raises:
        UserError: One cannot be written with placeholders.
    """
    return tuple(
        found
        for one in judge.prompts
        for found in (_in_turns(one) if one.turns else [placed(module_of(one, judge.scale), where)])
    )


def placed(predict: dspy.Predict, where: str, adapter: dspy.Adapter | None = None) -> BarePrompt:
    """The prompt of a predictor, as an adapter writes it.

    Args:
        predict: With instructions and demonstrations.
        where: The judge's name, for messages.
        adapter: Of DSPy; None for the predictor's own.

    Raises:
        UserError: As ``bare_prompts``.
    """
    frozen, fields = freeze(predict, [], adapter), tuple(predict.signature.input_fields)
    plain = "".join(turn["content"] for turn in frozen.messages(dict.fromkeys(fields, "")))
    placeholders = {name: _placeholder(name, plain) for name in fields}
    messages = tuple(dict(turn) for turn in frozen.messages(placeholders))
    if frozen.departure is not None:
        raise UserError(
            f"export {where}: {frozen.departure}; a prompt whose fields stand as they are has placeholders. "
            "Load the judge with judgec.load_judge instead."
        )
    return BarePrompt(messages, placeholders)


def lost_outside(judge: JudgeTree, *, abstains: bool) -> tuple[str, ...]:
    """Steps of the judge beside asking its prompt, a sentence each: somebody who asks the prompt alone lacks them."""
    lost = []
    if not judge.asks_lm:
        lost.append("the judge itself: it grades by evidence alone and asks nobody")
    if judge.kind == "panel":
        lost.append(f"panel: the mean of {', '.join(leaf.name for leaf in judge.leaves)}")
    if judge.kind == "cascade":
        lost.append("cascade: whether an item needs the model at all")
    for aspect, one in judge.calibrators.items():
        name = f" of {aspect}" if len(judge.aspects) > 1 else ""
        lost.append(
            f"calibration{name}: {one.family}, from {'verdict and evidence' if one.source == 'both' else one.source}"
            " to probabilities of the experts' grades"
        )
        if one.source != "lm":
            lost.append(f"evidence{name}: {plural(len(one.feature_names), 'feature')} of the texts")
        cuts = f" at {', '.join(f'{cut:g}' for cut in one.rule.cuts)}" if one.rule.cuts else ""
        lost.append(f"decision rule{name}: {one.rule.name}{cuts}")
        if one.accept_threshold is not None:
            lost.append(f"accept threshold{name}: {one.accept_threshold:g}")
    if judge.pairs:
        lost.append("both orders: every pair is asked twice with the answers exchanged; a verdict that flips is a tie")
    if abstains:
        lost.append("abstention: items that it is not sure about are left to people")
    if any(one.fields for one in judge.prompts):
        lost.append(f"quoting: {FENCE}")
    return (*lost, "reading: a reply counts only where it states one grade of the scale; others are asked for again")


def _in_turns(prompt: PromptLeaf) -> Iterator[BarePrompt]:
    for aspect, turns in prompt.turns.items():
        messages: Sequence[Message] = [{"role": role, "content": text} for role, text in turns]
        fields = dict.fromkeys(found for _, text in turns for found in PLACEHOLDER.findall(text))
        yield BarePrompt(tuple(messages), {field: f"{{{field}}}" for field in fields}, prompt.name, aspect)


def _placeholder(name: str, plain: str) -> str:
    return next((form % name for form in FORMS if form % name not in plain), f"<<{name}:{len(plain)}>>")
