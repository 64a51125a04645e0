"""Prints a prompt of every kind that judgec sends, and how much of the prompts a provider's cache can serve.

``python -m benchmarks.prompts [judge,evaluate,...]``, in the project's root, runs the commands on ``trainsets/sensors``
against a server in this process; compile-agent needs compile-judge. Two are printed where system messages differ.

*shared*: of the characters of all messages, the share in the longest beginning that a prompt has in common with any
earlier one of the run; the order of the calls makes no difference. *cacheable*: of these beginnings, what OpenAI's
cache serves: 1,024 tokens, then steps of 128, at 4 characters a token.
"""

import json
import os
import re
import sys
import tempfile
from bisect import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

from tests.prompts import unquote
from tests.service.fake_openai import FakeOpenAI
from tests.service.policies import good
from tests.service.replies import Call, Outcome, Text, answer, digest

import judgec
from benchmarks.figures import table
from judgec.records.tasks.registry import TASKS

SENSORS = Path("trainsets/sensors")
CHECKED = {"right": "1", "quote": "NONE", "answered": "no"}
HEADS = ("kind", "calls", "characters", "shared", "cacheable")
LEAST, STEP = 4096, 512  # characters of 1,024 and 128 tokens; source: OpenAI, "Prompt caching"
_FIELD = re.compile(r"^\d+\. `(\w+)` \(", re.MULTILINE)
Row = dict[str, Any]  # of JSON


def world(call: Call) -> Outcome:
    """A text from the passage for what writes, and a grade by the item's digest for what judges."""
    inputs, outputs = call.prompt.inputs, {output.name for output in call.prompt.outputs}
    told = f"Grade what is said, not how. {digest(str(call.body))}"
    if not outputs:  # an optimizer of DSPy's that asks in its own form
        return Text(f"```\n{told}\n```")
    texts = unquote(inputs.get("passages", inputs.get("passage", ""))) or ("",)
    stated = [(re.findall(r"[^.|\n]*\d[^.|\n]*", text) or [text])[0].strip() for text in texts]
    lines = [line for line in texts[0].splitlines() if len(line.split()) > 6]
    several = [f"What is said of {' '.join(one.split()[:7])}?" for one in stated + lines]
    said = {
        "queries": "\n".join(several[len(stated) :]),
        "questions": "\n".join(several[: len(stated)]),
        "question": several[0] + " How many zebras?" * ("draft_question" in inputs),
        "answers": "\n".join(stated),
        "options": f"{stated[0]}\na zebra\nan okapi\na gnu",
        "nuggets": f"vital: {stated[0]}",
        "answer": stated[0] or told,
        **dict.fromkeys(("new_instruction", "proposed_instruction", "better_instructions"), told),
    } | CHECKED
    return answer(call, said) if outputs & said.keys() else good(call)


def labelled(queries: int) -> list[Row]:
    """One expert's labels of four agents' answers, with what any task shows; each agent has its order of contexts."""
    rows = map(json.loads, (SENSORS / "labels.jsonl").read_text(encoding="utf-8").splitlines())
    made = [row for row in rows if row["annotator"] == "ines"][: queries * 4]  # agents
    for number, row in enumerate(made):
        at = number % len(row["contexts"])
        row["contexts"] = row["contexts"][at:] + row["contexts"][:at]
        row["document"] = row["passage"] = row["contexts"][0]
        row["answer"] = row["answer_a"] = f"{row['answer']} [1]"
        row |= {"answer_b": made[number - 1]["answer"], "preference": "aab"[number % 3]}
        row["nuggets"] = ["vital: the range is stated", "okay: so is the accuracy"]
        if number % 3:
            row["rationale"] = "It gives the figure without its condition."
        row["steps"] = [{"type": "tool", "name": "search", "input": {"q": row["query"]}, "output": row["document"]}]
    return made


def stages(home: Path, url: str) -> Iterator[tuple[str, Callable[[], object]]]:
    """The commands, by name."""
    here: Row = {"home": home, "api_base": url, "lm": "openai/fake"}
    labels, file = labelled(10), home / "items.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in labels[:16]), encoding="utf-8")
    for task in TASKS:
        about = here | {"judge": f"zero-shot:{task}", "out": home / f"{task}.jsonl"}
        yield f"judge {task}", partial(judgec.judge_file, file, **about)
    queries = labels[::4]
    index = judgec.index(SENSORS / "catalogue", out=home / "index")
    about = here | {"index": index, "queries": queries[:6], "agents": "rag-bm25,rag-fusion-bm25,crag-bm25"}
    yield "answer", partial(judgec.answer, **about)
    about = here | {"answers": labels[:16], "queries": queries, "relevance_judge": "zero-shot", "unproven": True}
    for task, cites in (("preference", False), ("preference", True), ("grade", False), ("answer", False)):
        about |= {"judge": f"zero-shot:{task}", "out": home / f"{task}{cites}", "has_citations": cites}
        yield f"evaluate {task}{' --has-citations' * cites}", partial(judgec.evaluate, **about)
    about = here | {"task": "preference", "has_citations": True, "folds": 1}
    yield "compile-judge preference", partial(judgec.compile_judge, labels[::2], name="pairs", **about)
    about = here | {"task": "grade", "scale": {"grades": [1, 2, 3, 4, 5]}, "folds": 1}
    for name in ("labeled", "mipro", "gepa"):
        yield f"compile-judge {name}", partial(judgec.compile_judge, labels, name=name, optimizer=name, **about)
    about = here | {"index": index, "queries": queries, "judge": "labeled@latest", "unproven": True}
    yield "compile-agent", partial(judgec.compile_agent, "rag-bm25", **about)
    about = here | {"index": index, "experts": SENSORS / "expert_queries.csv", "per_passage": 4}
    yield "compile-queries", partial(judgec.compile_queries, passages=12, **about)
    about |= {"references": True, "rubrics": True, "out": home / "queries.jsonl", "seed": 1}
    yield "generate-queries", partial(judgec.generate_queries, passages=8, **about)
    about = here | {"index": index, "scenarios": "all", "n": 2, "out": home / "probe", "system": "rag-bm25"}
    yield "probe", partial(judgec.probe, **about)


def shared(prompts: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Characters of each prompt, of its longest beginning that an earlier one has, and of what a cache serves of it."""
    before: list[str] = []
    for prompt in prompts:
        at = bisect(before, prompt)  # the nearest in the alphabet share most
        near = (zip(prompt, one, strict=False) for one in before[max(at - 1, 0) : at + 1])
        same = max((sum(1 for _ in takewhile(lambda two: two[0] == two[1], pairs)) for pairs in near), default=0)
        before.insert(at, prompt)
        yield len(prompt), same, same // STEP * STEP if same >= LEAST else 0


def main(only: Sequence[str]) -> None:
    """Run, log, print."""
    kinds: dict[str, list[int]] = {}
    chats: list[list[Mapping[str, str]]] = []
    with tempfile.TemporaryDirectory() as folder, FakeOpenAI(world) as server:
        for name, run in stages(Path(folder), server.base_url):
            start = len(server.bodies)
            if only == [""] or name.split()[0] in only:
                run()
            for body in server.bodies[start:]:
                chat: Any = body["messages"]
                if len(str(chat)) > 200:  # a shorter one only asks whether a model is there
                    fields = ", ".join(_FIELD.findall(chat[0]["content"])) or chat[-1]["content"].split("\n")[0]
                    shown = ", with demonstrations" * (len(chat) > 3)
                    kinds.setdefault(f"{name}: {fields}{shown}", []).append(len(chats))
                    chats.append(chat)
            print(f"{name}: {len(server.bodies) - start} calls", file=sys.stderr)
    texts = ["".join(f"{one['role']}\n{one['content']}\n" for one in chat) for chat in chats]
    lengths, rows = list(shared(texts)), []
    for kind, places in {**kinds, "all": [*range(len(chats))]}.items():
        whole, *parts = (sum(column) for column in zip(*(lengths[at] for at in places), strict=True))
        rows.append((kind, str(len(places)), str(whole // len(places)), *(f"{part / whole:.0%}" for part in parts)))
        other = next((at for at in places if chats[at][0] != chats[places[0]][0]), places[0])
        for at in dict.fromkeys((places[0], other)) if kind != "all" else ():
            print(f"\n# {kind}", *(f"\n## {one['role']}\n{one['content']}" for one in chats[at]), sep="\n")
    print("", *table(HEADS, rows), sep="\n")


if __name__ == "__main__":
    os.environ.setdefault("OPENAI_API_KEY", "none")
    main("".join(sys.argv[1:2]).split(","))
