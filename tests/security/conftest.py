"""The judge that the command-line tests have compiled."""

from tests.verbs.cli.conftest import shared

__all__ = ["shared"]
