"""What servers send back, without the secrets of this process."""

import json
import os
import secrets
import string
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.lm.redaction import clean, clean_error, clean_json, is_secret, keep_secret
from judgec.rag.agents.external import SystemFailedError
from judgec.rag.agents.http import HttpSystem
from judgec.verbs.cli.app import main
from tests.service.fake_openai import FakeOpenAI
from tests.service.policies import good
from tests.service.replies import Call, Outcome, Raw, Status, Text
from tests.verbs.cli.judging import save_judge, write_items


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("OPENAI_API_KEY", "zx81-spectrum-48k", True),
        ("my_token", "eyJh.eyJz.Abc_1-9", True),
        ("DB_PASSWORD", "tr0ub4dor&3", True),
        ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCY", True),
        ("X_AUTH", "aBcDeFgHiJkL", True),
        ("TOKENIZERS_PARALLELISM", "zx81-spectrum-48k", False),
        ("GIT_AUTHOR_NAME", "zx81-spectrum-48k", False),
        ("MONKEY", "zx81-spectrum-48k", False),
        ("OPENAI_API_KEY", "EMPTY", False),
        ("OPENAI_API_KEY", "placeholder", False),
        ("SESSION_KEY", "12345678901", False),
        ("SSH_AUTH_SOCK", "/tmp/ssh-XXXXX/agent.12", False),
        ("AUTH_URL", "https://login.example.com/v1", False),
        ("TOKEN_HOST", "login.example.com:8080", False),
        ("KEY_OWNER", "ann.lee@example.com", False),
    ],
)
def test_secret_is_called_one_and_looks_like_one(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, secret: bool
) -> None:
    monkeypatch.setenv(name, value)
    assert clean(f"you sent {value}.") == ("you sent ***." if secret else f"you sent {value}.")


@given(st.text(string.ascii_letters + string.digits + "-_.+/=", min_size=8, max_size=60).filter(is_secret))
def test_secret_that_was_given_is_gone_from_texts_json_and_urls(value: str) -> None:
    keep_secret([f"Bearer {value}"])
    echoed = {"error": [f"header Authorization: Bearer {value}", {value: "x"}]}
    assert value not in json.dumps(clean_json(echoed))
    assert value not in clean(json.dumps(echoed))
    assert value not in clean_error(f"https://x/?key={value}")


def test_fifty_secrets_that_a_server_echoes_stand_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    draw, words = Random(1), ("KEY", "TOKEN", "SECRET", "PASSWORD", "AUTH")
    made = [f"{secrets.token_urlsafe(draw.randint(9, 40))}1" for _ in range(50)]
    for number, value in enumerate(made):
        monkeypatch.setenv(f"SERVICE_{number}_{words[number % 5]}", value)
    monkeypatch.setenv("OPENAI_API_KEY", made[0])
    echo, file = " ".join(made), write_items(tmp_path / "items.jsonl", 12)
    save_judge(tmp_path)

    def echoing(call: Call) -> Outcome:
        said = good(call)
        if call.number % 4 == 2:
            return Status(400, f"no: {echo}", kind=made[3], headers={"X-Echo": made[4]})
        if call.number % 4 == 3:
            return Raw(b"", {"Location": f"http://{made[5]}.example/"}, code=302)
        assert isinstance(said, Text)
        return Text(said.text.replace("\n\n[[ ## grade", f" {echo}\n\n[[ ## grade"), said.chances)

    with FakeOpenAI(echoing) as server:
        typed = ["judge", file, "--judge", "mine", "--home", tmp_path, "--api-base", server.base_url]
        monkeypatch.setattr("sys.argv", ["judgec", *map(str, typed), "--out", str(tmp_path / "out.jsonl")])
        with pytest.raises(SystemExit) as ended:
            main()
        assert (ended.value.code, made[0] in "".join(server.keys)) == (0, True)
    printed = capsys.readouterr()
    places = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    places[Path("printed")] = (printed.out + printed.err).encode()
    leaked = [(path.name, value) for path, held in places.items() for value in made if value.encode() in held]
    assert leaked == []
    assert b"***" in places[tmp_path / "out.jsonl"]


def test_system_under_test_that_echoes_the_value_of_a_header_is_cleaned(tmp_path: Path) -> None:
    outcomes: list[Outcome] = [Raw(b'{"answer": "you are hdr-9Zq-value"}'), Status(500, "X: Basic hdr-9Zq-value")]
    file = tmp_path / "system.toml"
    with FakeOpenAI(lambda call: outcomes[call.number > 1]) as server:
        file.write_text(f'url = "{server.base_url}/chat"\nbody = {{}}\n[headers]\nX = "Basic hdr-9Zq-value"\n')
        assert HttpSystem(file, os.environ).ask("who?").text == "you are ***"
        with pytest.raises(SystemFailedError) as caught:
            HttpSystem(file, os.environ).ask("who?")
    assert "hdr-9Zq" not in str(caught.value)
