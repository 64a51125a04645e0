"""A workspace: what is compiled in a folder, its journal, its models under shared caps, its tracking store."""

from pathlib import Path

import pytest

import judgec
from judgec.errors import BudgetError, UserError
from judgec.lm.executor import Request
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget
from tests.service.fake_openai import FakeOpenAI
from tests.verbs.cli.judging import save_judge


def asked(count: int, first: int = 0) -> list[Request]:
    return [Request(n, [{"role": "user", "content": f"Grade {n}."}]) for n in range(first, first + count)]


def test_workspace_lists_and_loads_what_is_compiled_there(tmp_path: Path) -> None:
    empty = judgec.Workspace(tmp_path)
    assert (empty.names, repr(empty)) == ((), f"<Workspace {tmp_path}, no programs yet>")
    assert not list(tmp_path.iterdir())  # looking creates nothing
    save_judge(tmp_path)
    save_judge(tmp_path)
    workspace = judgec.Workspace(str(tmp_path))
    assert (workspace.names, workspace.versions("mine")) == (("mine",), (1, 2))
    assert workspace.load("mine@1").card.version == 1
    with pytest.raises(UserError, match="there is no judge 'other'"):
        workspace.load("other")
    judge = judgec.load_judge("mine", home=tmp_path, tracking_uri="http://127.0.0.1:5000")
    assert judge.workspace.store.uri == "http://127.0.0.1:5000"


def test_workspace_finds_its_tracking_store_by_argument_environment_or_home(tmp_path: Path) -> None:
    assert judgec.Workspace(tmp_path, environ={}).store.database == tmp_path / "mlruns" / "mlflow.db"
    environ = {"MLFLOW_TRACKING_URI": "http://there:5000"}
    assert judgec.Workspace(tmp_path, environ=environ).store.uri == "http://there:5000"
    assert judgec.Workspace(tmp_path, "http://here:5000", environ=environ).store.uri == "http://here:5000"


def test_session_of_a_workspace_shares_caps_and_journal_between_models(tmp_path: Path) -> None:
    with FakeOpenAI("good") as server:
        one, other = (LMSpec.parse(f"openai/{name}", api_base=server.base_url) for name in ("one", "other"))
        workspace = judgec.Workspace(tmp_path, environ={"OPENAI_API_KEY": "k"})
        with workspace.session(caps=Budget(calls=3)) as session:
            assert session.executor(one) is session.executor(LMSpec.parse("openai/one", api_base=server.base_url))
            assert len(list(session.other(one)(asked(2)))) == 2
            with pytest.raises(BudgetError):
                list(session.other(other)(asked(2)))
            assert session.spent.calls == 3
            with pytest.raises(TypeError, match="without a model of its own"):
                list(session.ask(asked(1)))
        with workspace.session(one) as session:
            assert len(list(session.ask(asked(2)))) == 2
            assert (session.spent.calls, session.spent.journaled) == (0, 2)
        with workspace.journal() as journal:
            ((kept,),) = journal.select("SELECT COUNT(*) FROM replies")
        assert kept == server.calls == 3
