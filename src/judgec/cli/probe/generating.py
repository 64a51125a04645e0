"""What ``judgec generate-queries`` does: read, write queries, pool, sample, report."""

import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from judgec.cli.output import judgec_here, print_table, say
from judgec.cli.probe.generate_queries import Request
from judgec.compiler.queries.saved import CompiledGenerator, load_generator
from judgec.errors import InputError, UserError
from judgec.judges.judge import load_judge
from judgec.lm.executor import Ask
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.queries.corpus import open_corpus
from judgec.queries.generation.diversity import diversity
from judgec.queries.generation.generate import Pool, generate, long_passages, rows
from judgec.queries.generation.generator import Generator, PromptedGenerator, RuleGenerator
from judgec.queries.reliability import Reliability, ReliabilityJudge, Rules
from judgec.records.label import FloatArray
from judgec.report.progress import Bar
from judgec.retrieval.embed import fit_latent
from judgec.store import programs
from judgec.store.rows.cells import as_text, is_missing
from judgec.store.splits import write_whole
from judgec.store.tables import read_table


def run(request: Request) -> dict[str, object]:
    """Generate and write; returns the report of ``--json``.

    Raises:
        UserError: Bad input, or a model that falls short of its share: then nothing is written.
        ServiceError: A model cannot be reached.
    """
    bar = Bar(shown=not request.quiet)
    names = split_names(request.lms)
    sizes = parse_sample(request.sample, names)
    experts = read_experts(request.experts) if request.experts else ()
    if not request.out.parent.is_dir():
        raise UserError(f"--out {request.out}: no such folder {request.out.parent}; create it, or name another.")
    bar.stage("corpus", request.index)
    corpus = open_corpus(request.index)
    passages = list(long_passages(corpus.documents, request.passage_size, request.seed))
    bar.stage("write", f"{len(corpus.documents)} documents, {len(passages)} passages; {', '.join(names)}")
    with ExitStack() as stack:
        specs = [spec_of(name, request.api_base, request.temperature) for name in names]
        session = stack.enter_context(
            Session(specs[0], request.home, budget=request.budget, max_cost=request.max_cost, on_done=bar.progress)
        )
        generators: list[Generator] = [_generator(request, spec, session, experts) for spec in specs]
        reliability = open_reliability(request.reliability, request.home, session)
        pool = generate(
            passages,
            generators,
            per_passage=request.per_passage,
            sizes=sizes,
            experts=experts,
            most_passages=request.passages,
            reliability=reliability,
            seed=request.seed,
        )
        spent = session.spent
    bar.stage("report", f"{len(pool.queries)} queries")
    texts = [passage.text for passage in passages]
    filtered = "none" if reliability is None else reliability.name
    report = _report(request, pool, experts, texts, corpus.notes) | {"reliability": filtered}
    report |= {"lm_calls": spent.calls, "journaled": spent.journaled, "cost_usd": None if spent.unpriced else spent.usd}
    lines = [json.dumps(row, ensure_ascii=False) for row in rows(pool, references=request.references)]
    write_whole(request.out, "".join(line + "\n" for line in lines))
    bar.close()
    if not request.quiet:
        _show(report, request.out, request.references)
    return report


def split_names(text: str) -> tuple[str, ...]:
    """Model names separated by commas.

    Raises:
        UserError: None, or one twice.
    """
    names = tuple(name for part in text.split(",") if (name := part.strip()))
    if not names or len(set(names)) < len(names):
        raise UserError(f"--lm {text!r}: models separated by commas, each once, are needed. For example --lm a,b.")
    return names


def parse_sample(text: str | None, names: Sequence[str]) -> dict[str, int] | None:
    """How many queries of each model; a bare number is for the only model.

    Raises:
        UserError: Not of the form MODEL=COUNT, or a model that is not in ``--lm``.
    """
    if text is None:
        return None
    sizes: dict[str, int] = {}
    for part in (part.strip() for part in text.split(",") if part.strip()):
        name, _, count = part.rpartition("=")
        name = name.strip() or (names[0] if len(names) == 1 else "")
        matching = [known for known in names if name in {known, known.rpartition("/")[2]}]
        if len(matching) != 1 or not count.strip().isdecimal() or int(count) < 1 or matching[0] in sizes:
            raise UserError(
                f"--sample {part}: not MODEL=COUNT of a model in --lm ({', '.join(names)}), each once. "
                f"For example --sample {names[0]}=100."
            )
        sizes[matching[0]] = int(count)
    return sizes


def read_experts(path: str) -> tuple[str, ...]:
    """The experts' queries.

    Raises:
        InputError: No column ``query``, or nothing in it.
    """
    table = read_table(path)
    column = next((name for name in ("query", "question") if name in table.columns), None)
    if column is None:
        raise InputError([f"{path}:1: no column 'query'; the columns are {', '.join(table.columns)}. Rename one."])
    queries = tuple(as_text(row[column]) for row in table.rows if not is_missing(row.get(column)))
    if not queries:
        raise InputError([f"{path}:1: column {column} is empty; at least one query is needed. Fill it in."])
    return queries


def spec_of(name: str, api_base: str | None, temperature: float) -> LMSpec:
    """The spec of a model that writes: it samples, so that one passage gives different questions."""
    plain = LMSpec.parse(name, api_base=None if name == "embedded" else api_base, top_logprobs=0)
    return plain if plain.embedded or plain.reasoning else plain.model_copy(update={"temperature": temperature})


def ask_of(spec: LMSpec, session: Session) -> Ask:
    """The way to a model."""
    return session.ask if spec == session.spec else session.other(spec)


def open_reliability(name: str, home: Path, session: Session) -> Reliability | None:
    """The filter that ``--reliability`` names.

    Raises:
        UserError: When it is a judge of another task.
    """
    if name in {"none", "rules"}:
        return Rules() if name == "rules" else None
    program = programs.load(home, name)
    if program.card.task != "reliability":
        raise UserError(f"--reliability {name}: a judge of {program.card.task}; one of reliability is needed.")
    judge = load_judge(program)
    spec = LMSpec.from_card(program.card.lm)
    said = [*(["constructed labels"] if program.card.labels else []), *([] if program.card.promoted else ["unproven"])]
    shown = f"{program.card.name}@{program.card.version}" + (f" ({', '.join(said)})" if said else "")
    return ReliabilityJudge(shown, judge, ask_of(spec, session))


def _generator(request: Request, spec: LMSpec, session: Session, experts: Sequence[str]) -> Generator:
    found = load_generator(request.home, request.generator) if request.generator else CompiledGenerator()
    if spec.embedded:
        return RuleGenerator(request.seed, found.taste)
    return PromptedGenerator(
        spec.model,
        ask_of(spec, session),
        found.examples or experts,
        seed=request.seed,
        references=request.references,
        module=found.module,
    )


def _report(
    request: Request, pool: Pool, experts: Sequence[str], texts: Sequence[str], notes: Sequence[str]
) -> dict[str, object]:
    queries = [one.query for one in pool.queries]
    latent, _ = fit_latent([*texts, *experts], request.seed)

    def embed(some: Sequence[str]) -> FloatArray:
        return latent.queries(list(some)).astype("float64")

    found = diversity(queries, experts, embed, seed=request.seed) if queries else None
    said = list(notes)
    if "embedded" in pool.passages:
        said.append("embedded: questions by rule, no language model; a baseline")
    said += [f"{name}: no share in --sample, so it was not asked" for name, given in pool.passages.items() if not given]
    return {
        "out": str(request.out),
        "models": {
            name: {
                "passages": pool.passages[name],
                "written": pool.written[name],
                "pooled": pool.pooled[name],
                "sampled": sum(one.lm == name for one in pool.queries),
                "dropped": dict(pool.dropped[name]),
            }
            for name in pool.passages
        },
        "seed": request.seed,
        "queries": len(queries),
        "diversity": found,
        "notes": said,
    }


def _show(report: dict[str, object], out: Path, references: bool) -> None:
    models = report["models"]
    assert isinstance(models, dict)  # as made above
    table = [
        [name, *(str(one[key]) for key in ("passages", "written", "pooled", "sampled")), _counts(one["dropped"])]
        for name, one in models.items()
    ]
    print_table(
        f"{report['queries']} queries in {out}",
        ["model", "passages", "written", "distinct", "sampled", "dropped"],
        table,
    )
    found = report["diversity"]
    near = found["closeness"] if isinstance(found, dict) else None
    if near and near["likeness"] is not None:
        names = ("likeness", "length_ks", "type_jsd", "novelty", "embedding_distance")
        print_table("Beside the experts' queries", list(names), [[f"{near[name]:.2f}" for name in names]])
    notes = report["notes"]
    assert isinstance(notes, list)  # as made above
    probing = f"{judgec_here()} probe --questions {out} --system SYSTEM"
    if not references:
        probing = f"with --references, {judgec_here()} probe"
    say(*notes, f"Next: {probing}; {judgec_here()} answer --queries {out}")


def _counts(dropped: dict[str, int]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in dropped.items()) or "-"
