"""Several models side by side: one count over all of them."""

from collections.abc import Iterable, Iterator

from judgec.lm.executor import Reply, Request
from judgec.lm.router import routed


class Model:
    """Answers everything but what its name stands in."""

    def __init__(self, name: str) -> None:
        self.name = name

    def ask(self, requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:
        assert total is None  # nobody knows how many of the requests are put to this one
        for request in requests:
            failed = str(request.key).endswith("7")
            yield Reply(request.key, None, error="no") if failed else Reply(request.key, self.name)


def test_progress_counts_the_replies_of_all_models_up_to_the_total() -> None:
    models = {name: Model(name) for name in "abc"}
    steps: list[tuple[int, int | None, int]] = []
    ask = routed({name: one.ask for name, one in models.items()}, lambda *step: steps.append(step))
    requests = [Request(str(i), (), to="abc"[i % 3]) for i in range(60)]
    replies = {reply.key: reply.text for reply in ask(requests, total=60)}
    assert [done for done, _, _ in steps] == list(range(1, 61))
    assert steps[-1] == (60, 60, 6)
    assert {total for _, total, _ in steps} == {60}
    assert {key: text for key, text in replies.items() if text} == {
        str(i): "abc"[i % 3] for i in range(60) if i % 10 != 7
    }
