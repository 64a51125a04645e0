"""Pieces of items and their digests."""

from collections.abc import Mapping

from judgec.raters.piece import ROWS, inputs_digest, pieces_of
from judgec.records.label import Item, PooledContexts


def test_pieces_hold_all_items_in_order_with_their_digests() -> None:
    items = [Item(f"i{n}", f"q{n}", {"query": f"Où est {n}?", "answer": "ici"}) for n in range(2 * ROWS + 1)]
    pieces = list(pieces_of(items))
    assert [len(piece.items) for piece in pieces] == [ROWS, ROWS, 1]
    assert [item for piece in pieces for item in piece.items] == items
    assert [one for piece in pieces for one in piece.digests] == list(map(inputs_digest, items))
    assert pieces[0].only([3, 1]).item_ids == ("i3", "i1")
    assert [item.item_id for item in pieces[0].only([3, 1]).items] == ["i3", "i1"]
    assert [piece.item_ids for piece in pieces_of(())] == [()]


def test_inputs_digest_depends_on_every_input_and_nothing_else() -> None:
    def digest(inputs: Mapping[str, str | tuple[str, ...]], item_id: str = "i") -> bytes:
        return inputs_digest(Item(item_id, "q", inputs))

    texts: list[dict[str, str | tuple[str, ...]]] = [
        {"query": "a", "answer": "b"},
        {"query": "ab", "answer": ""},
        {"query": "b", "answer": "a"},
        {"query": "a", "document": "b"},
        {"query": "a", "answer": "b", "contexts": ("c", "d")},
        {"query": "a", "answer": "b", "contexts": ("cd",)},
        {"query": "a", "answer": "b", "contexts": "cd"},
        {"query": "a", "answer": "b", "contexts": ()},
        {"query": "a|1|b", "answer": "b"},
    ]
    assert len({digest(inputs) for inputs in texts}) == len(texts)
    assert digest({"query": "a", "answer": "b"}) == digest({"answer": "b", "query": "a"}, "j")
    named = [PooledContexts((), (), answers={"answer": f"[P{n}]\ud800"}) for n in (1, 2)]
    pools = [None, PooledContexts((), ()), *named]
    assert len({inputs_digest(Item("i", "q", texts[0], pool=pool)) for pool in pools}) == len(pools)
