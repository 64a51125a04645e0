"""YAML that somebody else wrote: plain values only, and no more of them than the file seems to hold."""

from pathlib import Path

import yaml

from judgec.errors import InputError

MOST_CHARACTERS = 5_000_000  # of a file; PyYAML reads some 100,000 a second
MOST_VALUES = 100_000  # of a file, each alias written out: a few lines of aliases can stand for billions


def load_yaml(path: Path | str, text: str) -> object:
    """The value that a YAML text stands for.

    Args:
        path: Of the file, for the message.
        text: Its content.

    Raises:
        yaml.YAMLError: Not YAML, a date that is none, or nested too deeply; the caller says which file was wanted.
        InputError: When the text has more than ``MOST_CHARACTERS``, or its aliases stand for more than ``MOST_VALUES``
            values, or for themselves.
    """
    if len(text) > MOST_CHARACTERS:
        raise InputError([f"{path}:1: {len(text)} characters; at most {MOST_CHARACTERS} of YAML are read. Split it."])
    try:
        rest, n = [yaml.compose(text, Loader=yaml.SafeLoader)], 0
        while rest:  # before anything is made of the nodes: keys that are merged (<<) multiply, too
            node, n = rest.pop(), n + 1
            if isinstance(node, yaml.MappingNode):
                rest += [part for pair in node.value for part in pair]
            elif isinstance(node, yaml.SequenceNode):
                rest += node.value
            if n > MOST_VALUES:
                raise InputError([f"{path}:1: aliases stand for more than {MOST_VALUES} values; write them out."])
        content: object = yaml.safe_load(text)
    except ValueError as error:
        raise yaml.YAMLError(str(error)) from error
    except RecursionError as error:
        raise yaml.YAMLError("it is nested too deeply") from error
    return content
