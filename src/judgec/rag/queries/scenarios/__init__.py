"""Scenarios: how their questions are built, and the ones that ship, a YAML file each."""

from pathlib import Path

SHIPPED = Path(__file__).parent
"""The folder of the scenarios that ship."""

PLAIN = "plain"
"""The one that ships and is no scenario: one prompt for any question, to compare scenarios with."""
