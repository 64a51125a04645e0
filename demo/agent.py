"""``make demo-agent``: an agent that reads one passage is compiled for the demo's judge, without a model."""

import json
import time
from pathlib import Path

from demo.tournament import SENSORS, demo_judge, demo_queries
from judgec.verbs.cli.output import exit_with_code, print_report, say

OUT = Path("demo-out")
AGENT, NAME = "rag-knn", "agent-demo"
K = 1  # passages that the agent begins with: what there is to gain


def demo_agent(home: Path, out: Path) -> None:
    """Index the catalogue and compile an agent that searches by meaning alone and reads one passage.

    Each run compiles a family of its own, so that a second run is not held against the champion of the first.

    Args:
        home: Folder that holds ``programs/``.
        out: Where index and questions go.
    """
    from judgec.labels.split.family import write_whole
    from judgec.raters.programs import load, names
    from judgec.report.progress import Bar
    from judgec.tournament.report.evaluation import why_unproven
    from judgec.verbs.compile_agent import agent_report, compile_agent
    from judgec.verbs.index import index
    from judgec.verbs.options.compile_agent import CompileAgentOptions

    began = time.monotonic()
    judge = demo_judge(home)
    index(SENSORS / "catalogue", out=out / "index")
    queries = out / "queries.jsonl"
    write_whole(queries, "".join(json.dumps(query, ensure_ascii=False) + "\n" for query in demo_queries()))
    taken = set(names(home))
    options = CompileAgentOptions(
        agent=AGENT,
        index=str(out / "index"),
        queries=queries,
        judge=judge,
        unproven=bool(why_unproven(load(home, judge).card)),
        name=next(name for k in range(1, len(taken) + 2) if (name := f"{NAME}-{k}") not in taken),
        k=K,
        home=home,
    )
    bar = Bar(shown=True)
    found = compile_agent.run(options, bar)
    bar.close()
    print_report(agent_report(found, options))
    say(
        f"It began as {AGENT} with {K} passage an answer. The labels of its judge are constructed and rules "
        "quote passages: this shows the machinery, not which agent is better on your documents.",
        f"{time.monotonic() - began:.0f} s.",
    )


if __name__ == "__main__":
    exit_with_code(lambda: demo_agent(Path(), OUT))
