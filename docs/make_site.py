"""The documentation as a folder of web pages: the documents, the API reference from the docstrings, a search of both.

    python docs/make_site.py [OUT]

Modules are read, not imported. OUT is ``build/docs`` by default.
"""

import argparse
import ast
import base64
import hashlib
import json
import re
import shutil
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from judgec.report.kit import page as filled

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "judgec"
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/*.md", "docs/howto/*.md", "docs/design/*.md")
DOCUMENTS += ("benchmarks/*.md", "trainsets/sensors/README.md", "programs/README.md", "LICENSE")
MORE = """
pre{background:var(--soft);border:1px solid var(--line);border-radius:4px;padding:.6rem .8rem;overflow-x:auto}
code,pre{font-family:ui-monospace,monospace;font-size:.88rem}td,th{white-space:normal;text-align:left}
table{display:block;overflow-x:auto}img{max-width:100%}h4{margin:1.2rem 0 .2rem;font-family:ui-monospace,monospace}
h4{font-size:.9rem;overflow-wrap:anywhere}.doc{white-space:pre-wrap;margin:.2rem 0 .6rem 1rem;font-size:.92rem}
"""
LAYERS = (
    *("mlflow_align", "api", "verbs", "trust", "compile", "tournament", "rag", "connect", "report"),
    *("raters", "lm", "evidence", "labels", "table", "stats", "tasks", "records", "private", "errors"),
)
SEARCH = Path(__file__).with_name("search.js")
Section = tuple[str, str, str, str]  # address, title of its page, heading, text
Node = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def main(out: Path) -> int:
    """Write the pages; returns how many."""
    pages = {path.relative_to(ROOT): path for pattern in DOCUMENTS for path in sorted(ROOT.glob(pattern))}
    markdown = MarkdownIt("commonmark", {"html": True}).enable("table")
    sections = list(_named_things())
    for relative, path in pages.items():
        text = path.read_text(encoding="utf-8")
        tokens = markdown.parse(text) if path.suffix == ".md" else []
        title = next((line.lstrip("# ") for line in text.splitlines() if line.startswith("# ")), relative.name)
        sections += _sections(tokens, relative.with_suffix(".html").as_posix(), title)
        body = markdown.renderer.render(tokens, markdown.options, {}) if tokens else f"<pre>{escape(text)}</pre>"
        depth = "../" * (len(relative.parts) - 1)
        links = f"<a href='{depth}README.html'>judgec</a> <a href='{depth}reference.html'>API reference</a>"
        links += f" <a href='{depth}search.html'>Search</a>"
        _write(out / relative.with_suffix(".html"), title, f"<nav>{links}</nav>{_linked(body)}")
    _write(out / "reference.html", "judgec: API reference", reference())
    _write(out / "search.html", "judgec: search", search_page(sections), script=SEARCH.read_text(encoding="utf-8"))
    for folder in ("images", "notebooks"):
        shutil.copytree(ROOT / "docs" / folder, out / "docs" / folder, dirs_exist_ok=True)
    return len(pages) + 2


def search_page(sections: Sequence[Section]) -> str:
    """A box, and the text of all sections for the script that looks through them."""
    data = json.dumps(sections, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return (
        "<nav><a href='README.html'>judgec</a> <a href='reference.html'>API reference</a></nav><h1>Search</h1>"
        "<p><input id=query type=search size=40 aria-label='Words to look for'> <span id=said role=status></span></p>"
        f"<ol id=found></ol><noscript>The search needs JavaScript.</noscript>"
        f"<script type='application/json' id=sections>{data}</script>"
    )


def _sections(tokens: list[Token], url: str, page: str) -> list[Section]:
    """The document's sections; their headings get anchors."""
    found: list[tuple[str, str, list[str]]] = [(url, page, [])]
    taken: set[str] = set()
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            head = _plain(tokens[at + 1].content)
            anchor = re.sub(r"[^a-z0-9 -]", "", head.lower()).strip().replace(" ", "-")
            while anchor in taken:
                anchor += "-"
            taken.add(anchor)
            token.attrSet("id", anchor)
            found.append((f"{url}#{anchor}", head, []))
        elif token.type in {"inline", "fence"} and (not at or tokens[at - 1].type != "heading_open"):
            found[-1][2].append(_plain(token.content))
    return [(place, page, head, " ".join(texts)) for place, head, texts in found if texts]


def _plain(text: str) -> str:
    """Markdown as words."""
    return " ".join(re.sub(r"[`*]|<[^>]*>|\]\([^)]*\)|\[", " ", text).split())


def _named_things() -> Iterator[Section]:
    """Every public class and function of the reference."""
    for path in sorted(SOURCE.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
        for node in public(ast.parse(path.read_text(encoding="utf-8")).body):
            said = " ".join((ast.get_docstring(node) or "").split())
            yield f"reference.html#{name}.{node.name}", "API reference", f"{name}.{node.name}", said


def reference() -> str:
    """Every public class and function of every module, with its docstring."""
    parts = ["<h1>API reference</h1>", "<p>Modules import only modules further down this page.</p>"]
    modules = sorted(SOURCE.rglob("*.py"), key=lambda path: (_depth(path), path))
    for path in modules:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        name = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
        entries = "".join(_entry(node, name) for node in public(tree.body))
        if entries:
            said = escape(ast.get_docstring(tree) or "")
            parts.append(f"<h2 id='{name}'>{name}</h2><div class=doc>{said}</div>{entries}")
    return "".join(parts)


def public(body: Sequence[ast.stmt]) -> Iterator[Node]:
    """The classes and functions that are not private."""
    for node in body:
        if isinstance(node, Node) and not node.name.startswith("_"):
            yield node


def _entry(node: Node, where: str) -> str:
    said = f"<div class=doc>{escape(ast.get_docstring(node) or '')}</div>"
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(map(ast.unparse, node.bases))
        methods = "".join(_entry(each, f"{where}.{node.name}") for each in public(node.body))
        return f"<h4 id='{where}.{node.name}'>class {node.name}({escape(bases)})</h4>{said}{methods}"
    owner = where.rpartition(".")[2]
    name = f"{owner}.{node.name}" if owner[:1].isupper() else node.name
    returns = "" if node.returns is None else f" -> {ast.unparse(node.returns)}"
    return f"<h4 id='{where}.{node.name}'>{name}({escape(ast.unparse(node.args))}){escape(returns)}</h4>{said}"


def _depth(path: Path) -> int:
    top = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    return LAYERS.index(top) if top in LAYERS else -1


def _linked(body: str) -> str:
    """Links between documents lead to their pages."""
    return body.replace('.md"', '.html"').replace(".md#", ".html#").replace('LICENSE"', 'LICENSE.html"')


def _write(path: Path, title: str, body: str, *, script: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    body, style = Markup(body), Markup(MORE)  # noqa: S704 -- our own documents and style
    page = filled("document.html", {"title": title, "body": body, "style": style})
    page = page.replace("default-src 'none'", "default-src 'none'; img-src 'self'")
    if script:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        page = page.replace("img-src 'self'", f"img-src 'self'; script-src 'sha256-{digest}'")
        page = page.replace("</body>", f"<script>{script}</script></body>")
    path.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    about = argparse.ArgumentParser(description="Write the documents and the API reference as web pages.")
    about.add_argument("OUT", nargs="?", type=Path, default=ROOT / "build" / "docs", help="The folder to write to.")
    target: Path = about.parse_args().OUT
    print(f"{main(target)} pages in {target}; open {target / 'README.html'}")
