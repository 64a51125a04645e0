"""The tree of a judge says who is asked, of every kind that was ever saved."""

import json
from collections.abc import Iterator

import pytest

from judgec.raters import programs
from judgec.raters.judge import load_judge
from judgec.raters.tree import RaterNode, tree_of
from judgec.records.card import EVIDENCE_ALONE
from tests.saved.test_saved import FOLDERS


def leaves(tree: RaterNode) -> Iterator[RaterNode]:
    """Those that grade items themselves, in the order in which they are asked."""
    if not tree.of:
        yield tree
    for each in tree.of:
        yield from leaves(each)


@pytest.mark.parametrize("name", FOLDERS)
def test_the_leaves_of_a_tree_are_those_who_are_asked(name: str) -> None:
    program = programs.read_folder(FOLDERS[name])
    judge = load_judge(program)
    tree = tree_of(judge, program.card)
    asked = [leaf for leaf in leaves(tree) if leaf.kind != "evidence"]
    assert bool(asked) == judge.asks_lm
    if judge.joint is not None:
        assert [leaf.name for leaf in asked] == list(judge.joint.members)
    else:
        assert len(asked) == judge.asks_lm
    fitted = [*judge.calibrators.values(), *(judge.cascade.calibrators.values() if judge.cascade else ())]
    reads = [one.source != "lm" for one in fitted]
    assert any(leaf.kind == "evidence" for leaf in leaves(tree)) == any(reads)
    assert all(leaf.model or leaf.kind in {"recorded", "evidence"} for leaf in leaves(tree))
    assert json.loads(json.dumps(tree.to_json()))["kind"] == tree.kind
    assert tree.judge_kind == program.card.judge_kind  # also of cards that were written before they had one
    assert all(leaf.name in tree.sentence for leaf in asked)
    assert (tree.sentence == EVIDENCE_ALONE) == (tree.judge_kind == "evidence")


def test_a_cascade_is_two_calibrated_raters_one_after_the_other() -> None:
    program = programs.read_folder(FOLDERS["cascade"])
    tree = tree_of(load_judge(program), program.card)
    assert tree.kind == "cascade"
    first, then = tree.of
    assert isinstance(first, RaterNode)
    assert [leaf.kind for leaf in leaves(then)] == ["prompt"]
