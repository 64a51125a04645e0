"""Citations by number: which brackets are some, and that they cite the same documents under other numbers."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.records.citation import Cited, marks, numbers_of, own_numbers, renumbered, without_number

ANEW = {1: Cited(4), 2: Cited(1), 3: Cited(6, shown=False)}


@pytest.mark.parametrize(
    ("answer", "anew"),
    [
        *(("A [1].", "A [4]."), ("A [1, 2]", "A [4, 1]"), ("A [1; 2]", "A [4, 1]"), ("A [1,\n2]", "A [4, 1]")),
        *(("A [1][2]", "A [4][1]"), ("A [1-3]", "A [4, 1][6: not shown]"), ("A [1\u20132]", "A [4, 1]")),
        ("Paris[1], CO2[2], example.org[1], **b**[2]", "Paris[4], CO2[1], example.org[4], **b**[1]"),
        ("vitamin C[1] of person(s)[2] (see above)[1]", "vitamin C[4] of person(s)[1] (see above)[4]"),
        ("as in [1, 2]", "as in [4, 1]"),
        ("[[1]](u) [1](https://x.y) \\[1\\] \u30101\u3011", "[[4]](u) [4](https://x.y) \\[4\\] \u30104\u3011"),
        ("[1] one\n[2] two", "[4] one\n[1] two"),
        ("(doc 2) (Document 1) [doc1] [Doc. 2]", "(doc 1) (Document 4) [doc4] [Doc. 1]"),
        ("(doc 1, doc 2) (see sources 1 and 2)", "(doc 4, 1) (see sources 4, 1)"),
        *(("[Document 2, p. 5] [see 1]", "[Document 1, p. 5] [see 4]"), ("[1, 3, p. 5]", "[4, p. 5][6: not shown]")),
        *(("so[^1] and so[^3]", "so[^4] and so[^6: not shown]"), ("$^{[1]}$", "$^{[4]}$")),
        ("costs $5 [1] and $6 [2]", "costs $5 [4] and $6 [1]"),
        ("[1]-[3] and [1]\u2013[2], not [1] - [2]", "[4, 1][6: not shown] and [4, 1], not [4] - [1]"),
        ("\u30102\u2020source\u3011 [1\u2020L3-L9]", "\u30101\u2020source\u3011 [4\u2020L3-L9]"),
        *(("[9] [1, 9]", "[9: missing] [4][9: missing]"), ("```\n[1]\n``` [1]", "```\n[1]\n``` [4]")),
        ("[1-6] (doc 8)", "[4, 1][6: not shown][4-6: missing] (doc 8: missing)"),
    ],
)
def test_marks_get_the_numbers_of_their_documents(answer: str, anew: str) -> None:
    assert renumbered(answer, ANEW) == anew


NO_MARKS = [
    *("`a[1]`", "``[1] ` [2]``", "~~~\n[1]\n~~~", "```python\nx = y[1]\n[2]", "<pre>[1]</pre>", "a[1] + x1[2]"),
    *("my_list[1]", "m[1][2]", "arr[1] = 2", "rows[1] = 2", "value = rows[1]", "f(x)[1]", "$[1, 2]$", "$$x[1]\n[2]$$"),
    *("\\( [1, 2] \\)", "\\[ x \\in [1] \\]", "\\begin{equation}[1]\\end{equation}", "\\sqrt[3]{x}", "x \\in [1, 2]"),
    *("x \u2208 [1, 2]", "the interval [1, 2]", "[1, 2] \u222a [2, 3]", "[0, 1]", '{"ids": [1, 2]}'),
    *("[2021] and [1999, 2021]", "![1](x.png)", "(1) and (2)", "so[^1]\n\n[^1]: A title", "(document two)"),
    "[x] [ ] [a1] []",
]


@pytest.mark.parametrize("answer", NO_MARKS)
def test_code_formulas_indices_sets_and_years_stay(answer: str) -> None:
    assert renumbered(answer, ANEW) == answer
    assert renumbered(answer, {}) == answer


@pytest.mark.parametrize(
    ("form", "answer", "anew"),
    [
        ("({n})", "x (1) [1] (2, 1)", "x (4) [1] (1, 4)"),
        ("document {n}", "document 1 and Document 9, mydocument 1", "document 4 and Document 9: missing, mydocument 1"),
        ("<sup>{n}</sup>", "a<sup>1,3</sup>", "a<sup>4</sup><sup>6: not shown</sup>"),
    ],
)
def test_declared_form_is_the_only_one(form: str, answer: str, anew: str) -> None:
    assert renumbered(answer, ANEW, form) == anew


def test_nothing_changes_where_the_numbers_are_the_same() -> None:
    answer = "A [1-3], B [ 1,2 ] (docs 1 and 2) [^3]."
    assert renumbered(answer, {n: Cited(n) for n in (1, 2, 3)}) == answer
    assert [mark.numbers for mark in marks(answer)] == [(1, 2, 3), (1, 2), (1, 2), (3,)]
    assert renumbered("[0] [0, 1]", {0: Cited(2), 1: Cited(1)}) == "[2] [2, 1]"  # where a document has that number


def test_documents_that_say_their_numbers_are_cited_by_these() -> None:
    assert numbers_of(["[7] seven", "[3] three"]) == [7, 3]
    assert numbers_of(["[7] seven", "[7] again"]) == numbers_of(["[7] seven", "none"]) == [1, 2]
    assert own_numbers([]) is None
    assert without_number(" [7] seven [8] ") == "seven [8] "


FORMS = ("[{}]", "[ {} ]", "({word} {})", "[{word} {}]", "see [{}]", "(see {word} {})", "[{}, p. 3]", "word[{}]")
numbers = st.lists(st.integers(1, 9), min_size=1, max_size=4, unique=True)
pieces = st.one_of(
    st.builds(
        lambda form, word, some, joint: (form.format(joint.join(map(str, some)), word=word), some),
        st.sampled_from(FORMS),
        st.sampled_from(["doc", "docs", "Document", "source"]),
        numbers,
        st.sampled_from([", ", ",", "; "]),
    ),
    st.builds(
        lambda low, more: (f"[{low}-{low + more}]", [*range(low, low + more + 1)]), st.integers(1, 5), st.integers(1, 4)
    ),
    st.builds(lambda one: (f"[^{one}]", [one]), st.integers(1, 9)),
    st.sampled_from([(text, []) for text in NO_MARKS if "\n" not in text]),
    st.text("abc ,.;!?(){}*", max_size=8).map(lambda text: (text, [])),
)


@given(st.lists(pieces, max_size=8), st.integers(0, 9), st.permutations(range(1, 13)), st.sets(st.integers(1, 12)))
def test_cited_documents_are_the_same_before_and_after(
    parts: list[tuple[str, list[int]]], known: int, order: list[int], hidden: set[int]
) -> None:
    documents = {own: Cited(order[own - 1], order[own - 1] not in hidden) for own in range(1, known + 1)}
    own_number = {one.number: own for own, one in documents.items()}
    joint = "\n\n--\n\n"
    after = renumbered(joint.join(text for text, _ in parts), documents).split(joint)
    assert len(after) == max(len(parts), 1)
    for (text, cited), written in zip(parts, after, strict=False):
        if not cited:
            assert written == text
            continue
        anew = written.replace(", p. 3", "")
        ranges = re.findall(r"(\d+)(?:-(\d+))?: missing", anew)
        missing = [n for low, high in ranges for n in range(int(low), int(high or low) + 1)]
        left_out = [own_number[int(n)] for n in re.findall(r"(\d+): not shown", anew)]
        rest = re.sub(r"\d+(?:-\d+)?: (?:missing|not shown)", "", anew)
        spans = [n for low, high in re.findall(r"(\d+)-(\d+)", rest) for n in range(int(low) + 1, int(high))]
        there = [own_number[n] for n in [*map(int, re.findall(r"\d+", rest)), *spans]]
        assert sorted([*missing, *left_out, *there]) == sorted(cited)
        assert documents.keys().isdisjoint(missing)
        assert [documents[n].shown for n in left_out + there] == [False] * len(left_out) + [True] * len(there)


@given(st.text(max_size=60), st.dictionaries(st.integers(0, 30), st.integers(1, 9).map(Cited), max_size=4))
def test_every_text_is_read_and_what_has_no_bracket_stays(text: str, documents: dict[int, Cited]) -> None:
    said = renumbered(text, documents)
    if not re.search(r"[\[(\u3010]", text):
        assert said == text
