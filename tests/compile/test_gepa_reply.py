"""Frames that reflection models put a new instruction into."""

import json

import dspy
import pytest
from dspy.teleprompt.gepa.instruction_proposal import ProposeInstruction
from dspy.utils.exceptions import AdapterParseError

from judgec.compile.gepa_driver import AnyFormat, instruction_in

TEXT = 'Grade strictly.\n\nAn example:\n```json\n{"grade": 3}\n```\nSay why.'
PLAIN = "Grade strictly."


@pytest.mark.parametrize("text", [TEXT, PLAIN])
@pytest.mark.parametrize(
    "frame",
    [
        "JSON",
        "```json\nJSON\n```",
        "Sure, here it is:\nJSON\nI hope that helps.",
        "<think>They want {json}.</think>\nJSON",
        "[[ ## new_instruction ## ]]\nTEXT\n\n[[ ## completed ## ]]\n",
        "[[ ## new_instruction ## ]]\nTEXT",
        "[[ ## reasoning ## ]]\nIt was mild.\n[[ ## new_instruction ## ]]\n```\nTEXT\n```\n[[ ## completed ## ]]",
        "[[ ## current_instruction ## ]]\nOld.\n[[ ## improved_instruction ## ]]\nTEXT\n[[ ## completed ## ]]",
        "Here is the instruction:\n```\nTEXT\n```\nIt is better.",
        "```markdown\nTEXT\n```",
        "<new_instruction>\nTEXT\n</new_instruction>",
    ],
)
def test_instruction_is_read_whole_from_each_frame(frame: str, text: str) -> None:
    reply = frame.replace("JSON", json.dumps({"new_instruction": text})).replace("TEXT", text)
    assert instruction_in(reply) == text


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I am sorry, I cannot help with that.",
        "[[ ## new_instruction ## ]]\n\n[[ ## completed ## ]]",
        '{"new_instruction": ""}',
        '{"other": "text"}',
        "[[ ## reasoning ## ]]\nNothing to change.",
        "```\n```",
    ],
)
def test_reply_without_an_instruction_is_none(reply: str) -> None:
    assert instruction_in(reply) is None
    with pytest.raises(AdapterParseError, match="No instruction"):
        AnyFormat().parse(ProposeInstruction, reply)


def test_other_signatures_are_read_as_json_alone() -> None:
    signature = dspy.Signature("question -> answer")
    assert AnyFormat().parse(signature, '{"answer": "5"}') == {"answer": "5"}
