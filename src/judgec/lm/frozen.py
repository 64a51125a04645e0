"""A DSPy predictor's prompt, rendered once: later prompts are made by concatenation, replies read by one
pattern.

DSPy renders the same instructions, field descriptions and demonstrations anew for every call, which costs a
hundred times more than the part that changes. The result here is the adapter's, byte for byte.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast, get_args, get_origin

import dspy

from judgec.lm.adapters import adapter_of

Message = dict[str, str]

UNLIKE = "the adapter renders a field in a way that concatenation does not reproduce"
_MARKER = "[[ ## "
_HEADER = re.compile(r"^\[\[ ## (\w+) ## \]\]\n", re.MULTILINE)
_ODD_LINE_ENDS = re.compile("[\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")  # line ends to str.splitlines, not to us
_SENTINEL = "\u2063judgec:{}\u2063"  # an invisible separator, so that no prompt holds it by chance


@dataclass(frozen=True, slots=True)
class _Template:
    """Messages of one set of fields; parts of a message alternate between fixed text and a field's name."""

    messages: tuple[tuple[Message, tuple[str, ...]], ...]

    def fill(self, inputs: Mapping[str, str]) -> list[Message]:
        return [
            {
                "role": fixed["role"],
                "content": "".join(inputs[p] if i % 2 else p for i, p in enumerate(parts)),
            }
            if parts
            else fixed
            for fixed, parts in self.messages
        ]


class FrozenPrompt:
    """The result of ``freeze``.

    Attributes:
        departure: Why prompts are rendered by DSPy each time after all, or None when they are concatenated.
    """

    def __init__(self, predict: dspy.Predict, adapter: dspy.Adapter) -> None:
        self.departure: str | None = None
        self._signature = predict.signature
        self._demos = list(predict.demos)
        self._adapter = adapter
        self._fields = tuple(self._signature.input_fields)
        self._templates: dict[tuple[str, ...], _Template | None] = {}
        self._readers = _readers(self._signature) if type(adapter) is dspy.ChatAdapter else None

    def messages(self, inputs: Mapping[str, object]) -> list[Message]:
        """The prompt for one item; absent fields are left out, as DSPy does. Do not change the messages."""
        if self.departure is None:
            present = tuple(name for name in self._fields if name in inputs)
            if present not in self._templates:
                self._templates[present] = self._template(present)
            template = self._templates[present]
            if template is None:
                self.departure = UNLIKE
            elif all(type(inputs[name]) is str for name in present):
                return template.fill(cast("Mapping[str, str]", inputs))  # checked on the line above
        return self.rendered(inputs)

    def rendered(self, inputs: Mapping[str, object]) -> list[Message]:
        """The same by DSPy's adapter."""
        return self._rendered(inputs, self._demos)

    def _rendered(self, inputs: Mapping[str, object], demos: list[object]) -> list[Message]:
        known = {name: inputs[name] for name in self._fields if name in inputs}
        messages: list[Message] = self._adapter.format(self._signature, demos, known)
        return messages

    def agrees(self, inputs: Mapping[str, object]) -> bool:
        """True if the prompt for one item is what DSPy's adapter makes of it.

        Of DSPy's own adapters the demonstrations are not rendered again: they do not depend on the item, and a prompt
        is these between what a prompt without them begins and ends with.
        """
        mine = self.messages(inputs)
        if self.departure is None and self._demos and type(self._adapter) in {dspy.ChatAdapter, dspy.JSONAdapter}:
            bare = self._rendered(inputs, [])
            if mine[: len(bare) - 1] == bare[:-1] and mine[-1] == bare[-1]:
                return True
        return mine == self.rendered(inputs)

    def parse(self, text: str) -> dict[str, object]:
        """As ``usual``.

        Raises:
            ValueError: When the reply has another form, or the fields have types of their own.
        """
        fields = self.usual(text)
        if fields is None:
            raise ValueError("not of the usual form")
        return fields

    def usual(self, text: str) -> dict[str, object] | None:
        """The output fields of a reply of the usual form, typed, each of which stands there once; None of any other.

        DSPy's parsers are not asked: what repairs broken JSON takes seconds for some texts of a few kilobytes.
        """
        if self._readers is not None and not _ODD_LINE_ENDS.search(text):
            names_and_values = _HEADER.split(text)
            names = names_and_values[1::2]
            # As many markers as headers: nothing that DSPy might read as a header differently.
            expected = [*self._readers, "completed"]
            if names == expected and text.count(_MARKER) == len(expected) and not names_and_values[0].strip():
                values = names_and_values[2::2]
                fields = {
                    name: reader(value.strip())
                    for (name, reader), value in zip(self._readers.items(), values, strict=False)
                }
                if None not in fields.values():
                    return fields
        return None

    def _template(self, present: tuple[str, ...]) -> _Template | None:
        """None when a sentinel does not come through: then a field is rendered in a way of its own."""
        sentinels = {name: _SENTINEL.format(name) for name in present}
        rendered = self.rendered(sentinels)
        if any(not isinstance(message.get("content"), str) for message in rendered):
            return None
        whole = "".join(message["content"] for message in rendered)
        if any(whole.count(sentinel) != 1 for sentinel in sentinels.values()):
            return None
        if not present:
            return _Template(tuple((message, ()) for message in rendered))
        pattern = re.compile(f"({'|'.join(map(re.escape, sentinels.values()))})")
        names = {sentinel: name for name, sentinel in sentinels.items()}
        split = []
        for message in rendered:
            parts = tuple(names.get(part, part) for part in pattern.split(message["content"]))
            split.append((message, parts if len(parts) > 1 else ()))
        return _Template(tuple(split))


def freeze(
    predict: dspy.Predict, sample_inputs: Iterable[Mapping[str, object]], adapter: dspy.Adapter | None = None
) -> FrozenPrompt:
    """Render the prompt of ``predict`` once, and check it against DSPy's own on a sample.

    Args:
        predict: The predictor, with its instructions and demonstrations; later changes to it are not seen.
        sample_inputs: Inputs to compare on; where one differs, every prompt is rendered by DSPy
            (``departure``).
        adapter: The adapter; by default the predictor's own, which is DSPy's chat adapter unless another was set.
    """
    frozen = FrozenPrompt(predict, adapter or adapter_of(predict))
    for inputs in sample_inputs:
        if not frozen.agrees(inputs):
            frozen.departure = UNLIKE
            break
    return frozen


Reader = Callable[[str], object]


def _readers(signature: type[dspy.Signature]) -> dict[str, Reader] | None:
    """Functions that read each output field; None when one has a type that only DSPy can read."""
    readers: dict[str, Reader] = {}
    for name, field in signature.output_fields.items():
        if field.annotation is str:
            readers[name] = str
        elif field.annotation is int:
            readers[name] = _read_int
        elif get_origin(field.annotation) is Literal:
            readers[name] = _read_label(get_args(field.annotation))
        else:
            return None
    return readers


def _read_int(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and (text == "0" or text[0] != "0") else None


def _read_label(labels: Sequence[object]) -> Reader:
    """Only what stands there exactly; anything else is left to DSPy."""
    values = {label if isinstance(label, str) else str(label): label for label in labels}
    return values.get
