"""JUnit XML, as build servers read it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from xml.sax.saxutils import escape, quoteattr

_CONTROL = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 65534, 65535), "�")  # not allowed in XML


def attribute(text: str) -> str:
    """The value of an attribute in quotes; white space is one blank."""
    return quoteattr(" ".join(text.translate(_CONTROL).split()))


def content(text: str) -> str:
    """Text between tags."""
    return escape(text.translate(_CONTROL))


LONGEST = 200  # characters of a name or a message; the rest stands in the text


@dataclass(frozen=True, slots=True)
class TestCase:
    """One test case.

    Args:
        suite: What it belongs to; suites come in the order of their first cases.
        classname: What is tested.
        name: The test.
        fault: ``failure``, ``error``, or empty where it passed.
        kind: Of the fault, or empty.
        message: The fault in a line.
        text: The fault at length.
        seconds: How long it took, or None.
    """

    __test__ = False  # pytest takes the name for a class of tests

    suite: str
    classname: str
    name: str
    fault: Literal["", "failure", "error"] = ""
    kind: str = ""
    message: str = ""
    text: str = ""
    seconds: float | None = None


def junit(name: str, cases: Sequence[TestCase]) -> str:
    """The whole file.

    Args:
        name: Of all suites together.
        cases: In order.
    """
    suites: dict[str, list[TestCase]] = {}
    for case in cases:
        suites.setdefault(case.suite, []).append(case)
    parts = ["<?xml version='1.0' encoding='UTF-8'?>", f"<testsuites name={attribute(name)} {_counts(cases)}>"]
    for suite, own in suites.items():
        parts += [f"<testsuite name={attribute(suite)} {_counts(own)}>", *map(_element, own), "</testsuite>"]
    return "\n".join([*parts, "</testsuites>", ""])


def _counts(cases: Sequence[TestCase]) -> str:
    faults, took = [case.fault for case in cases], [case.seconds for case in cases if case.seconds is not None]
    counts = f"tests='{len(cases)}' failures='{faults.count('failure')}' errors='{faults.count('error')}'"
    return f"{counts} time='{sum(took):.3f}'" if took else counts


def _element(case: TestCase) -> str:
    time = "" if case.seconds is None else f" time='{case.seconds:.3f}'"
    head = f"<testcase classname={attribute(case.classname)} name={attribute(case.name[:LONGEST])}{time}>"
    if not case.fault:
        return f"{head}</testcase>"
    kind = f" type={attribute(case.kind)}" if case.kind else ""
    fault = f"<{case.fault}{kind} message={attribute(case.message[:LONGEST])}>{content(case.text)}</{case.fault}>"
    return f"{head}{fault}</testcase>"
