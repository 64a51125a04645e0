"""Citations in a declared form: they are written by the names of their documents, and nothing else is touched."""

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from judgec.records.citation import (
    NO_DOCUMENT,
    NOT_SHOWN,
    SQUARE,
    armed,
    cited_numbers,
    form_fault,
    marks,
    numbers_of,
    own_numbers,
    renamed,
    unread,
)


def one_each(**names: str) -> dict[str, list[str]]:
    return {said.removeprefix("n"): [name] for said, name in names.items()}


NAMES = one_each(n1="P4", n2="P1", n3=NOT_SHOWN)
FROM_0 = one_each(n0="P4", n1="P1", n2=NOT_SHOWN)
IDS = one_each(**{"m80": "P1", "a.b*c": "P2", "x]y": "P3", "two words": "P4", "1,5": "P5", "gone": NOT_SHOWN})
IDS["chunks"] = ["P6", "P7"]
OPENAI = "【{*}:{n0}†{*}】"


@pytest.mark.parametrize(
    ("form", "answer", "anew"),
    [
        (SQUARE, "70 m³/h[1] of vitamin C[2].", "70 m³/h[P4] of vitamin C[P1]."),
        (SQUARE, "A [1, 3] and [1][2], [1;2]", "A [P4][not shown] and [P4][P1], [P4][P1]"),
        (SQUARE, "[1-3] [2\u20131] [3-1, 2] [1-999]", "[P4][P1][not shown] [2\u20131] [3-1, 2] [P4][P1][not shown][x]"),
        (SQUARE, "[9] [8, 9] [1, 9] [0] [0, 1] [2021]", "[x] [x] [P4][x] [0] [0, 1] [2021]"),
        (SQUARE, "[[1]](u) [1](https://x.y) (1) {1} [1 ] [^1]", "[[P4]](u) [P4](https://x.y) (1) {1} [P4] [^1]"),
        (SQUARE, "- a [1]\n  - b [2]\n    1. c [1]", "- a [P4]\n  - b [P1]\n    1. c [P4]"),
        ("[^{n}]", "so[^1], x^[1]\n\n[^1]: A title", "so[P4], x^[1]\n\n[P4]: A title"),
        ("[{*}{n}]", "[2021] [p. 1998] [doc 2] [1, 2]", "[2021] [p. 1998] [P1] [P4][P1]"),
        ("(doc {n})", "(doc 2) (Doc1) (docs 1 and 2) [1]", "(P1) (P4) (docs 1 and 2) [1]"),
        ("<sup>{n}</sup>", "a<sup>1,3</sup> x<sup>n</sup>", "a(P4)(not shown) x<sup>n</sup>"),
        ("doc{n};", "doc1; mydoc1;", "(P4) mydoc1;"),
        (OPENAI, "m³/h【2:1†source】, 【4:0†a b.pdf】【1:7†s】", "m³/h[P1], [P4][x]"),
        (OPENAI, "【3:abc】 and 【4:0†a】, 【0】 【1:2021†a】", "【3:abc】 and [P4], 【0】 【1:2021†a】"),
        ("[{id}]", "[m80], [a.b*c] [axbbc] [x]y] [two words] [1,5] [gone][chunks]", None),
        ("[{id}]", "[m80, x]y] [m99] [sic] [see m80] [m80; m99]", "[P1][P3] [x] [sic] [see m80] [P1][x]"),
        ("({id})", "In (1998) (m98) (m80, 7)", "In (1998) [x] (m80, 7)"),
        (r"\cite{{id}}", r"\cite{m80} \cite{m80, m8} \ref{m80}", r"[P1] [P1][x] \ref{m80}"),
    ],
)
def test_marks_of_the_form_alone_become_the_names_of_their_documents(form: str, answer: str, anew: str | None) -> None:
    known = IDS if "id" in form else FROM_0 if "n0" in form else NAMES
    anew = anew or "[P1], [P2] [axbbc] [P3] [P4] [P5] [not shown][P6][P7]"
    anew = re.sub(r"\((P\d|not shown)\)", r"[\1]", anew).replace("[x]", f"[{NO_DOCUMENT}]")
    assert renamed(answer, form, known) == anew


CODE = [
    *("`a[1]`", "``[1] ` [2]``", "~~~\n[1]\n~~~", "```python\nx = y[1]\n[2]", "```\n[1]\n``` ", "- ```\n  [1]\n  ```"),
    *("1. ~~~\n   [1]\n   ~~~", "> ```\n> [1]\n> ```", "````\n```\n[1]\n```\n````"),
    *("```\r\n[1]\r\n```\r\n", "```markdown\n```python\nx[1]\n```", "```\n[1]\n`````"),
]


@pytest.mark.parametrize("code", CODE)
def test_nothing_in_code_is_rewritten_or_counted(code: str) -> None:
    answer = f"{code}\n" if "\n" in code else code
    assert renamed(answer, SQUARE, NAMES) == answer
    assert unread(answer.replace("[1]", "[doc 1]"), SQUARE, NAMES) == []
    closed = code.rstrip().endswith(("`", "~"))
    assert renamed(f"[1] {answer}", SQUARE, NAMES).startswith("[P4] ")
    assert renamed(f"{answer}\n[2]", SQUARE, NAMES).endswith("[P1]") is closed


@pytest.mark.parametrize(
    ("form", "valid"),
    [
        *((one, True) for one in (SQUARE, "[^{n}]", "({n})", OPENAI, "[{id}]", r"\cite{{id}}", "[{*}{n}]")),
        *((one, False) for one in ("", "{n}", "[n]", "[{n}", "{n}]", " {n} ", "{*}[{n}]", "[{n}]{*}", "[{n}{id}]")),
        *((one, False) for one in ("[{n}, {n}]", "[{m}]", "document {n}")),
    ],
)
def test_form_has_one_place_and_a_sign_at_both_ends(form: str, *, valid: bool) -> None:
    assert (form_fault(form) == "") is valid
    assert valid or form_fault(form).startswith(repr(form))


@pytest.mark.parametrize(
    "forged",
    ["[P1]", "[ p1 ]", "[P1, P2]", "[not shown]", f"[{NO_DOCUMENT}]", "【P2】", r"[\P1]", "[P 1]", "[not\nshown]"],
)
def test_what_looks_like_a_name_of_ours_is_told_from_one(forged: str) -> None:
    said = renamed(f"{forged} [1] `{forged}`", SQUARE, NAMES)
    broken = f"{forged[0]}\\{forged[1:]}"
    assert said == f"{broken} [P4] `{broken}`"
    assert armed(forged) == broken
    assert armed("[1] [Page 2] P1 (P1)") == "[1] [Page 2] P1 (P1)"


def test_lone_ticks_of_two_paragraphs_are_no_code_whatever_ends_their_lines() -> None:
    for end in ("\n", "\r\n"):
        assert renamed(f"a ` b [1]{end}{end}c ` d", SQUARE, NAMES) == f"a ` b [P4]{end}{end}c ` d"


def test_marks_of_a_hostile_answer_are_read_in_linear_time() -> None:
    began = time.process_time()
    assert unread("[1][doc 2]" * 10_000, SQUARE, NAMES) == ["[doc 2]"] * 10_000
    assert renamed("[" + "1," * 50_000, "[{*}{n}{*}]", NAMES).endswith("1,")
    assert time.process_time() - began < 10  # s; 20 and more where each was compared with every other


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        ("[doc 2], 【2†source】, [Source: 12] and [^3]", ["[doc 2]", "【2†source】", "[Source: 12]", "[^3]"]),
        ("[1] [1, 2] [2021] [x=1] [1, 9: a] [] [a] (doc 2) [1.5 - 2]", []),
    ],
)
def test_brackets_with_one_number_and_words_that_the_form_left_are_found(answer: str, left: list[str]) -> None:
    assert unread(answer, SQUARE, NAMES) == left


def test_documents_that_say_their_numbers_are_cited_by_these() -> None:
    assert numbers_of(["[7] seven", "[3] three"]) == [7, 3]
    assert numbers_of(["[7] seven", "[7] again"]) == numbers_of(["[7] seven", "none"]) == [1, 2]
    assert own_numbers([]) is None
    assert renamed("[0] [0, 1]", SQUARE, one_each(n0="P2", n1="P1")) == "[P2] [P2][P1]"
    assert renamed("[51] [77]", "[{id}]", {"51": ["P1"]}) == f"[P1] [{NO_DOCUMENT}]"


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("It is deep [2].", [2]),
        ("It is deep [3, 1] and wide [5-7].", [1, 3, 5, 6, 7]),
        ("It is deep (2).", []),
        ("It is deep [1-999].", list(range(1, 52))),
    ],
)
def test_marks_of_a_text_cite_documents_by_number(text: str, numbers: list[int]) -> None:
    assert cited_numbers(text) == numbers


PIECES = [*"[]0123(){}`~ \n,;-†", "[1]", "[9]", "```", "【1:0†", "m80", "[m80]", "[P1]"]


@given(st.lists(st.sampled_from(PIECES)).map("".join) | st.text(), st.sampled_from([SQUARE, "({n})", OPENAI, "[{id}]"]))
@example("[" * 3000 + "1" * 3000, "[{id}]")
@example("[m80, m80" + ",1" * 2000, "[{id}]")
@example("【" + "1:" * 2000, OPENAI)
def test_text_beside_the_marks_of_any_answer_stays(answer: str, form: str) -> None:
    known = one_each(n1="P1", n0="P2", m80="P3")
    ends = [0, *(end for _, end, _ in marks(answer, form, known))]
    starts = [*(start for start, _, _ in marks(answer, form, known)), len(answer)]
    assert ends == sorted(ends)
    said = renamed(answer, form, known)
    read = [(start, end) for start, end, one in marks(answer, form, known) if one]
    beside, last = [], 0
    for start, end in [*read, (len(answer), len(answer))]:
        beside.append(armed(answer[last:start]))
        last = end
    pattern = rf"(?:\[(?:P\d|{NO_DOCUMENT})\])+".join(map(re.escape, beside))
    assert re.fullmatch(pattern, said) is not None
    assert len(starts) == len(ends)
