from pathlib import Path

import pytest

from judgec.errors import ArtifactError, UserError
from judgec.rag.retrieval.build import build_index
from judgec.rag.retrieval.index import open_index
from judgec.rag.retrieval.latent import MODEL_FILE, LatentSemantics
from judgec.rag.retrieval.manifest import Manifest
from judgec.rag.retrieval.parsing.chunking import Chunking
from judgec.rag.retrieval.stores.writer import PassageWriter
from tests.rag.retrieval.parsing.files import broken_pdf


def corpus(folder: Path, **texts: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text)
    return folder


def texts(index: Path) -> dict[str, str]:
    return {passage.passage_id: passage.text for passage in open_index(index).passages()}


def test_second_run_reads_only_what_changed(tmp_path: Path) -> None:
    docs, out = corpus(tmp_path / "docs", a="alpha one", b="beta two", c="gamma three"), tmp_path / "index"
    first = build_index([docs], out)
    assert (first.read, first.passages, first.unchanged) == (3, 3, 0)
    (docs / "b.md").write_text("beta changed")
    (docs / "c.md").unlink()
    corpus(docs, d="delta four")
    again = build_index([docs], out)
    assert (again.read, again.unchanged, again.removed, again.passages) == (2, 1, 1, 3)
    assert texts(out) == {"a.md": "alpha one", "b.md": "beta changed", "d.md": "delta four"}
    assert build_index([docs], out).read == 0


def test_incremental_index_ranks_like_a_fresh_one(tmp_path: Path) -> None:
    words = ["apple", "river", "stone", "cloud", "metal", "paper", "glass", "wheel"]
    docs = corpus(tmp_path / "docs", **{f"d{n}": " ".join(words[n % 5 : n % 5 + 3]) + f" item{n}" for n in range(30)})
    build_index([docs], tmp_path / "grown")
    (docs / "d3.md").unlink()
    (docs / "d4.md").write_text("river river stone changed")
    build_index([docs], tmp_path / "grown")
    build_index([docs], tmp_path / "fresh")
    grown, fresh = (open_index(tmp_path / name) for name in ("grown", "fresh"))
    for query in ("river stone", "apple", "changed item7"):
        pairs = []
        for index in (grown, fresh):
            (ranking,) = index.by_text([query], 30)
            found = index.fetch([row for row, _ in ranking])
            pairs.append(sorted((round(score, 4), found[row].passage_id) for row, score in ranking))
        assert pairs[0] == pairs[1]
        assert pairs[0]


def test_duplicate_comes_back_when_its_original_leaves(tmp_path: Path) -> None:
    docs = corpus(tmp_path / "docs", a="the same  text", b="the same text", c="another")
    out = tmp_path / "index"
    report = build_index([docs], out)
    assert (report.duplicates, set(texts(out))) == (1, {"a.md", "c.md"})
    (docs / "a.md").unlink()
    report = build_index([docs], out)
    assert (report.duplicates, set(texts(out))) == (0, {"b.md", "c.md"})


def test_broken_file_is_skipped_and_reported_and_other_kinds_are_counted(tmp_path: Path) -> None:
    docs = corpus(tmp_path / "docs", a="fine")
    broken_pdf(docs / "b.pdf")
    (docs / "logo.png").write_bytes(b"png")
    (docs / ".hidden.md").write_text("hidden")
    report = build_index([docs], tmp_path / "index")
    assert list(report.skipped) == ["b.pdf"]
    assert report.left_out == {".png": 1}
    assert set(texts(tmp_path / "index")) == {"a.md"}


def test_nothing_to_index_is_refused(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "x.png").write_bytes(b"")
    with pytest.raises(UserError, match=r"nothing to index \(1 .png"):
        build_index([tmp_path / "docs"], tmp_path / "index")
    with pytest.raises(UserError, match="no such file"):
        build_index([tmp_path / "none"], tmp_path / "index")
    broken_pdf(tmp_path / "docs" / "b.pdf")
    with pytest.raises(UserError, match=r"no passage[\s\S]*b.pdf"):
        build_index([tmp_path / "docs"], tmp_path / "index")


@pytest.mark.parametrize(
    ("option", "changed"),
    [
        ("--chunk", {"chunking": Chunking(500, 50)}),
        ("--embedder", {"embedder": "openai/text-embedding-3-small"}),
        ("--language", {"language": "German"}),
    ],
)
def test_other_settings_than_the_index_are_refused(tmp_path: Path, option: str, changed: dict[str, object]) -> None:
    docs, out = corpus(tmp_path / "docs", a="alpha"), tmp_path / "index"
    build_index([docs], out)
    with pytest.raises(UserError, match=option):
        build_index([docs], out, **changed)  # type: ignore[arg-type]  # one setting at a time


def test_language_is_known_however_it_is_written_and_others_are_refused_before_anything_is_read(tmp_path: Path) -> None:
    docs, out = corpus(tmp_path / "docs", a="alpha"), tmp_path / "index"
    with pytest.raises(UserError, match=r"--language klingon: .*Arabic, .*, Turkish"):
        build_index([docs], out, language="klingon")
    assert not out.exists()
    assert build_index([docs], out, language="german").manifest.language == "German"
    assert build_index([docs], out, language="GERMAN").unchanged == 1


def test_foreign_folder_is_never_written_to(tmp_path: Path) -> None:
    docs, out = corpus(tmp_path / "docs", a="alpha"), tmp_path / "mine"
    corpus(out, precious="data")
    with pytest.raises(UserError, match="not empty"):
        build_index([docs], out)
    assert [path.name for path in out.iterdir()] == ["precious.md"]


def test_interrupted_build_is_refused_and_finished_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    docs, out = corpus(tmp_path / "docs", a="alpha one", b="beta two"), tmp_path / "index"
    build_index([docs], out)
    corpus(docs, c="gamma three")

    def killed(self: PassageWriter) -> Manifest:
        self._flush(LatentSemantics.load(out / MODEL_FILE))
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(PassageWriter, "finish", killed)
        with pytest.raises(KeyboardInterrupt):
            build_index([docs], out)
    with pytest.raises(ArtifactError, match="interrupted"):
        open_index(out)
    build_index([docs], out)
    assert texts(out) == {"a.md": "alpha one", "b.md": "beta two", "c.md": "gamma three"}


def test_long_documents_have_numbered_passages_with_their_sections(tmp_path: Path) -> None:
    body = "".join(f"\n## Part {n}\n\n{'word ' * 30}{n}\n" for n in range(4))
    docs = corpus(tmp_path / "docs", long=f"# Book\n{body}")
    build_index([docs], tmp_path / "index", chunking=Chunking(200, 20))
    found = list(open_index(tmp_path / "index").passages())
    assert [passage.passage_id for passage in found] == [f"long.md#{n}" for n in range(1, len(found) + 1)]
    assert found[-1].section == "Book > Part 3"
    assert {passage.title for passage in found} == {"Book"}


def test_document_whose_id_was_taken_comes_in_when_its_rival_leaves(tmp_path: Path) -> None:
    docs, out = tmp_path / "docs", tmp_path / "index"
    docs.mkdir()
    first, second = docs / "a.jsonl", docs / "b.jsonl"
    first.write_text('{"doc_id": "d", "text": "alpha one"}\n{"doc_id": "e", "text": "beta two"}\n')
    second.write_text('{"doc_id": "d", "text": "gamma three"}\n')
    report = build_index([docs], out)
    assert (report.duplicates, texts(out)) == (0, {"d": "alpha one", "e": "beta two"})
    assert "'d' is in a.jsonl" in report.faults[0]
    first.write_text('{"doc_id": "e", "text": "beta two"}\n')
    assert build_index([docs], out).faults == ()
    assert texts(out) == {"d": "gamma three", "e": "beta two"}


def test_file_that_breaks_its_parser_is_skipped_and_the_others_are_read(tmp_path: Path) -> None:
    docs = corpus(tmp_path / "docs", a="alpha one")
    (docs / "deep.html").write_text("<div>" * 3000 + "deep")
    report = build_index([docs], tmp_path / "index")
    assert (report.passages, list(report.skipped)) == (1, ["deep.html"])
    assert "(RecursionError" in report.skipped["deep.html"]
