"""Lists in cells, as pandas, numpy, JSON and LangChain print them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.table.rows.cells import as_texts, is_unread_list


@pytest.mark.parametrize(
    ("cell", "texts"),
    [
        ("""['passage 0', "it's 0"]""", ("passage 0", "it's 0")),
        *(('["a", "b"]', ("a", "b")), ("['a' 'b']", ("a", "b")), ("['a'\n \"it's\"]", ("a", "it's")), ("[]", ())),
        ("array(['a', 'b'], dtype=object)", ("a", "b")),
        ("[Document(page_content='x', metadata={'p': 1}), Document(page_content='y')]", ("x", "y")),
        *(("[{'text': 'a', 'score': nan}]", ("a",)), ('{"chunks": [{"text": "p"}]}', ("p",))),
        *(({"chunks": [{"text": "p", "score": 0.5}]}, ("p",)), ([({"page_content": "p"}, 0.4)], ("p",))),
        ([{"page_content": "p"}, {"type": "image_url", "image_url": {"url": "data:"}}], ("p", "[image_url]")),
        *((text, (text,)) for text in ("[1] as the paper says, it leaks", "(see a, b)")),
    ],
)
def test_lists_of_every_dialect_give_their_texts(cell: object, texts: tuple[str, ...]) -> None:
    assert as_texts(cell)[0] == texts
    assert not is_unread_list(cell)


@pytest.mark.parametrize(
    "cell", ["['a', 'b", "['a' 'b' ... 'c']", "[passage one, passage two]", "[Document(page_content="]
)
def test_lists_that_cannot_be_read_are_known(cell: str) -> None:
    assert as_texts(cell)[0] == (cell,)
    assert is_unread_list(cell)


@given(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1).filter(str.strip),
        min_size=2,
        max_size=4,
    )
)
def test_what_python_and_numpy_print_is_read_back(texts: list[str]) -> None:
    assert as_texts(repr(texts))[0] == tuple(texts)
    assert as_texts(repr(np.array(texts, dtype=object)))[0] == tuple(texts)
    with np.printoptions(threshold=100):
        assert as_texts(str(np.array(texts, dtype=object)))[0] == tuple(texts)
