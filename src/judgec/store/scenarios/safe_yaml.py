"""YAML that somebody else wrote: plain values only, and no more of them than the file seems to hold."""

from pathlib import Path

import yaml

from judgec.errors import InputError

MOST_VALUES = 100_000  # of a file, each alias written out: a few lines of aliases can stand for billions


def load_yaml(path: Path | str, text: str) -> object:
    """The value that a YAML text stands for.

    Args:
        path: Of the file, for the message.
        text: Its content.

    Raises:
        yaml.YAMLError: Not YAML, a date that is none, or nested too deeply; the caller says which file was wanted.
        InputError: When aliases stand for more than ``MOST_VALUES`` values, or for themselves.
    """
    try:
        content: object = yaml.safe_load(text)
    except ValueError as error:
        raise yaml.YAMLError(str(error)) from error
    except RecursionError as error:
        raise yaml.YAMLError("it is nested too deeply") from error
    rest, n = [content], 0
    while rest:
        value, n = rest.pop(), n + 1
        rest += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        if n > MOST_VALUES:
            raise InputError([f"{path}:1: aliases stand for more than {MOST_VALUES} values; write them out."])
    return content
