"""``judgec.generate_queries``: documents in, test queries out, each with its passage, model and seed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from judgec.compile.queries.saved import CompiledGenerator, load_generator
from judgec.errors import UserError
from judgec.labels.split.family import write_whole
from judgec.lm.session import Session
from judgec.lm.spec import NO_LM, LMSpec
from judgec.lm.watch import Watch
from judgec.rag.queries.corpus import open_corpus
from judgec.rag.queries.generation.diversity import diversity
from judgec.rag.queries.generation.generate import Pool, generate, long_passages, rows
from judgec.rag.queries.generation.generator import Generator, PromptedGenerator, RuleGenerator
from judgec.rag.retrieval.embed import fit_latent
from judgec.records.counts import plural
from judgec.records.label import FloatArray
from judgec.report.cases import BrowsedCase, CaseSide
from judgec.report.items import WORDS
from judgec.report.numbers import number
from judgec.report.page.notebook import notebook
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.table.regular import seen_at
from judgec.verbs.expert_queries import expert_queries
from judgec.verbs.options.generate_queries import GenerateQueriesOptions
from judgec.verbs.query_models import ask_of, checking, open_reliability, writer_spec
from judgec.verbs.spending import session_for
from judgec.verbs.typed import command
from judgec.verbs.verb import verb


@dataclass(frozen=True)
class GeneratedQueries:
    """Test queries with where each came from.

    Args:
        options: What was asked for.
        pool: The queries.
        report: What ``generate-queries --json`` prints.
    """

    options: GenerateQueriesOptions
    pool: Pool
    report: Mapping[str, object]

    @property
    def out(self) -> Path:
        """The file that they were written to."""
        return self.options.out

    @cached_property
    def queries(self) -> pd.DataFrame:
        """A row a query: query_id, query, reference and nuggets if wanted, lm, seed, its documents and passage."""
        return pd.DataFrame(list(rows(self.pool, references=self.options.references, rubrics=self.options.rubrics)))

    @cached_property
    def counts(self) -> pd.DataFrame:
        """Models by passages given, queries written, distinct and reliable ones (pooled), sampled, dropped."""
        pool = self.pool
        found = {
            name: {
                "passages": pool.passages[name],
                "written": pool.written[name],
                "pooled": pool.pooled[name],
                "sampled": sum(one.lm == name for one in pool.queries),
                "dropped": sum(pool.dropped[name].values()),
            }
            for name in pool.passages
        }
        return pd.DataFrame.from_dict(found, orient="index")

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the reader."""
        notes = self.report["notes"]
        assert isinstance(notes, list)  # as made below
        return tuple(notes)

    def __len__(self) -> int:
        return len(self.pool.queries)

    def __repr__(self) -> str:
        return f"<GeneratedQueries {self._verdict}>"

    def _repr_html_(self) -> str:
        return notebook(generated_report(self))

    @property
    def _verdict(self) -> str:
        return f"{plural(len(self), 'query')} by {', '.join(self.pool.passages)}, in {self.out}"


@verb(GenerateQueriesOptions)
def generate_queries(options: GenerateQueriesOptions, watch: Watch) -> GeneratedQueries:
    """Write test queries from documents, in the manner of the experts', with every query's passage, model and seed.

    The queries are written to ``out``. ``sample`` is a count, or counts by model: ``{"openai/gpt-4o-mini": 100}``.

    Raises:
        UserError: Bad input, or a model that falls short of its share: then nothing is written.
        GateError: No query is left: likewise.
        InputError: The experts' table has no column ``query``.
        ServiceError: A model cannot be reached.

    Example:
        >>> found = judgec.generate_queries(
        ...     index="trainsets/sensors/catalogue", experts="trainsets/sensors/expert_queries.csv", sample=20
        ... )
        >>> len(found.queries), found.counts["sampled"].tolist()
        (20, [20])
    """
    names = _models(options.lm)
    sizes = _sizes(options.sample, names)
    experts = () if options.experts is None else expert_queries(options.experts)
    if not options.out.parent.is_dir():
        raise UserError(f"--out {options.out}: no such folder {options.out.parent}; create it, or name another.")
    if options.out.exists() and not options.out.is_file():
        raise UserError(f"--out {options.out}: {seen_at(options.out)}; the path of a file is valid. Name one.")
    watch.stage("corpus", options.index)
    corpus = open_corpus(options.index)
    passages = list(long_passages(corpus.documents, options.passage_size, options.seed))
    specs = [writer_spec(name, options.api_base, options.temperature) for name in names]
    asked = ", ".join(spec.asked_at for spec in specs)
    watch.stage("write", f"{plural(len(corpus.documents), 'document')}, {plural(len(passages), 'passage')}; {asked}")
    with session_for(options, specs[0], options.home, watch) as session:
        generators: list[Generator] = [_generator(options, spec, session, experts) for spec in specs]
        reliability = open_reliability(options.reliability, options.home, session)
        pool = generate(
            passages,
            generators,
            per_passage=options.per_passage,
            sizes=sizes,
            experts=experts,
            most_passages=options.passages,
            reliability=reliability,
            references=options.references,
            rubrics=options.rubrics,
            seed=options.seed,
        )
        spent = session.spent
    watch.stage("report", f"{plural(len(pool.queries), 'query')}")
    texts = [passage.text for passage in passages]
    filtered = "none" if reliability is None else reliability.name
    report = _report(options, pool, experts, texts, corpus.notes) | {"reliability": filtered}
    report |= spent.to_json()
    kept = rows(pool, references=options.references, rubrics=options.rubrics)
    lines = [json.dumps(row, ensure_ascii=False) for row in kept]
    write_whole(options.out, "".join(line + "\n" for line in lines))
    return GeneratedQueries(options, pool, report)


def _models(names: Sequence[str]) -> Sequence[str]:
    """The models that write.

    Raises:
        UserError: None, or one twice.
    """
    if not names or len(set(names)) < len(names):
        raise UserError(
            f"--lm {','.join(names)!r}: models separated by commas, each once, are needed. For example --lm a,b."
        )
    return names


def _sizes(sample: Sequence[str], names: Sequence[str]) -> dict[str, int] | None:
    """Number of queries of each model; a bare number is for the only model; None for all.

    Raises:
        UserError: Not of the form MODEL=COUNT, or a model that is not in ``--lm``.
    """
    if not sample:
        return None
    sizes: dict[str, int] = {}
    for part in sample:
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


def _generator(options: GenerateQueriesOptions, spec: LMSpec, session: Session, experts: Sequence[str]) -> Generator:
    found = load_generator(options.home, options.generator) if options.generator else CompiledGenerator()
    if spec.no_model:
        return RuleGenerator(options.seed, found.style)
    return PromptedGenerator(
        spec.model,
        ask_of(spec, session),
        found.examples or experts,
        reads=ask_of(checking(spec), session),
        seed=options.seed,
        module=found,
    )


def _report(
    options: GenerateQueriesOptions, pool: Pool, experts: Sequence[str], texts: Sequence[str], notes: Sequence[str]
) -> dict[str, object]:
    queries = [one.query for one in pool.queries]
    latent, _ = fit_latent([*texts, *experts], options.seed)

    def embed(some: Sequence[str]) -> FloatArray:
        return latent.queries(list(some)).astype("float64")

    found = diversity(queries, experts, embed, seed=options.seed)
    said = list(notes)
    if NO_LM in pool.passages:
        said.append("no model: questions by rule, a baseline")
    said += [f"{name}: no share in --sample, so it was not asked" for name, given in pool.passages.items() if not given]
    return {
        "out": str(options.out),
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
        "seed": options.seed,
        "queries": len(queries),
        "diversity": found,
        "notes": said,
    }


def generated_report(found: GeneratedQueries, file: Path | None = None) -> Report:
    """Report of the queries: how many, from where, how like the experts', and each with its passage."""
    pool = found.pool
    dropped = sum(sum(reasons.values()) for reasons in pool.dropped.values())
    verdict = f"{len(pool.queries)} test queries of {sum(pool.written.values())} that were written; {dropped} dropped."
    steps = ["Read a few of them below before you trust a number that is made with them."]
    if found.options.references:
        steps.append(f"Probe a system with them: judgec probe --questions {found.out} --system SYSTEM")
    else:
        steps.append("To probe a system with them, write them with --references: answers are held against these.")
    steps.append(f"Let agents answer them: judgec answer --index INDEX --queries {found.out} --agents rag-bm25")
    return Report(
        data=found.report,
        verdict=[verdict],
        tables=_tables(found),
        notes=found.notes,
        file=file,
        next=_next(found),
        title=f"Queries: {found.out.name}",
        facts=", ".join(pool.passages),
        standing="even",
        steps=steps,
        items=_cases(found),
        items_title="The queries",
        words=WORDS | {"intro": "Every query with the passage that it was made from.", "rater": "Model"},
        head=("model and document", "query"),
    )


def _cases(found: GeneratedQueries) -> list[BrowsedCase]:
    cases = []
    for row in found.queries.to_dict("records"):
        reference = str(row.get("reference") or "")
        passage = str(row.get("passage") or "")
        texts = {name: (text,) for name, text in (("answer", reference), ("contexts", passage)) if text}
        cases.append(
            BrowsedCase(
                item_id=str(row["query_id"]),
                head=str(row["query"]),
                title=f"{row['lm']}, {row['doc_id']}",
                group=None,
                differs=False,
                unscored=None,
                distance=0.0,
                sides=[CaseSide(str(row["lm"]), "", texts)],
                texts={"query": (str(row["query"]),)},
            )
        )
    return cases


def _tables(found: GeneratedQueries) -> list[TextTable]:
    """Tables of how many queries each model wrote, and how like the experts' they are."""
    report = found.report
    models = report["models"]
    assert isinstance(models, dict)  # as generate_queries makes it
    table = [
        [name, *(str(one[key]) for key in ("passages", "written", "pooled", "sampled")), _counts(one["dropped"])]
        for name, one in models.items()
    ]
    heads = ("model", "passages", "written", "distinct", "sampled", "dropped")
    tables = [TextTable(f"{report['queries']} queries in {found.out}", heads, table)]
    diversity = report["diversity"]
    near = diversity["closeness"] if isinstance(diversity, dict) else None
    if near and near["likeness"] is not None:
        names = ("likeness", "length_ks", "type_jsd", "novelty", "embedding_distance")
        tables.append(TextTable("Beside the experts' queries", names, [[number(near[name]) for name in names]]))
    return tables


def _next(found: GeneratedQueries) -> list[str]:
    """Next commands, which use the queries."""
    options, out = found.options, str(found.out)
    index = ("--index", str(options.index))
    agents = ("--agents", "rag-bm25,rag-fusion-hybrid", "--out", "answers.jsonl")
    probing = command("probe", "--questions", out, "--system", "rag-bm25", *index, home=options.home)
    answering = command("answer", *index, "--queries", out, *agents, home=options.home)
    return [probing, answering] if options.references else [answering]


def _counts(dropped: dict[str, int]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in dropped.items()) or "-"
