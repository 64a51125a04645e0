"""The page's script when its tab closes, run by Node beside a page and a network of a few lines; no browser needed."""

import json
import shutil
import subprocess
from importlib.resources import files
from typing import Any

import pytest

NODE = shutil.which("node")
# A tab that dies takes its timers, and its requests too, but for those that are marked to outlive it.
WORLD = """
const elements = {}, on = {}, arrived = [], stalled = []; let dead = false, stall = false;
const element = () => ({children: [], value: '', textContent: '', hidden: false, listeners: {}, style: {},
  append(...more) { this.children.push(...more); }, replaceChildren(...all) { this.children = all; },
  addEventListener(name, act) { this.listeners[name] = act; }, focus() {}, blur() {}, click() {},
  classList: {toggle() {}}, querySelectorAll() { return Array.from({length: 9}, element); }});
globalThis.document = {getElementById: id => elements[id] ??= element(), createElement: element,
  visibilityState: 'visible', addEventListener(name, act) { on[name] = act; }};
globalThis.window = {addEventListener(name, act) { on[name] = act; }, scrollTo() {}};
globalThis.location = {search: '?token=t'};
globalThis.sessionStorage = {getItem: () => 'ann', setItem() {}};
const made = {file: 'f', task: 'grade', scale: 'grade', grades: ['1', '2'], meanings: {grade: []},
  aspects: ['grade'], items: 2};
const none = {grades: {}, rationale: ''};
const replies = {'/api/about': {...made, annotators: [], known: []},
  '/api/labels': {labels: {}, items: ['i0', 'i1'], progress: {}},
  '/api/item': {item_id: 'i0', texts: [], label: none}, '/api/label': {progress: {}}};
const kept = new Map();
globalThis.localStorage = {setItem(name, text) { kept.set(name, text); }, getItem: name => kept.get(name) ?? null,
  removeItem(name) { kept.delete(name); }};
globalThis.fetch = (path, options) => new Promise(done => {
  const own = stall && options.method === 'POST';
  setImmediate(() => {
    if (dead && !options.keepalive) return;
    if (options.method === 'POST') arrived.push(JSON.parse(options.body));
    const reply = {ok: true, json: async () => replies[path.split('?')[0]]};
    if (own) stalled.push(() => done(reply)); else if (!dead) done(reply);
  });
});
const settle = async () => { for (let i = 0; i < 20; i++) await new Promise(done => setImmediate(done)); };
const type = text => { elements.why.value = text; elements.why.listeners.input(); };
const close = event => { on[event]?.({preventDefault() {}}); };
const die = async () => {
  await null; dead = true; await settle(); console.log(JSON.stringify(arrived)); process.exit(0);
};
"""


def arrived(script: str) -> list[Any]:
    """What the server is told when ``script`` is acted in the page, whose source comes first."""
    source = files("judgec.labels.review").joinpath("page.js").read_text(encoding="utf-8")
    acts = f"{WORLD}\n{source}\n(async () => {{ await settle(); {script}; await die(); }})();"
    assert NODE is not None
    ran = subprocess.run([NODE, "-"], input=acts, capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 0, ran.stderr
    found: list[Any] = json.loads(ran.stdout)
    return found


IN_NODE = pytest.mark.skipif(NODE is None, reason="no Node here: leaving the page is NOT checked")


@IN_NODE
@pytest.mark.parametrize("event", ["pagehide", "visibilitychange", "beforeunload"])
@pytest.mark.parametrize("stall", ["", "stall = true;"], ids=["", "a save is under way"])
def test_reason_that_is_typed_just_before_the_tab_closes_is_saved(event: str, stall: str) -> None:
    hidden = "document.visibilityState = 'hidden'" if event == "visibilitychange" else ""
    found = arrived(f"{stall} give(0, 1); await settle(); type('because'); {hidden}; close('{event}')")
    assert [body["rationale"] for body in found] == ["", "because"]
    assert found[-1]["grades"] == {"grade": 1}


@IN_NODE
def test_page_that_is_hidden_and_shown_again_saves_each_word_once_and_says_so() -> None:
    found = arrived(
        "give(0, 1); await settle(); type('one'); document.visibilityState = 'hidden'; close('visibilitychange');"
        "await settle(); document.visibilityState = 'visible'; close('visibilitychange'); type('two'); flush();"
        "await settle(); arrived.push({rationale: elements.saved.textContent, unsaved: unsaved.size})"
    )
    assert [body["rationale"] for body in found] == ["", "one", "two", "saved"]
    assert found[-1]["unsaved"] == 0


@IN_NODE
def test_reason_without_a_grade_asks_before_the_tab_closes() -> None:
    asked = "on.beforeunload({preventDefault() { arrived.push('asked'); }})"
    assert arrived(f"type('because'); {asked}") == ["asked"]
    assert arrived(f"give(0, 1); type('because'); {asked}; await settle()")[-1] != "asked"


@IN_NODE
def test_every_letter_is_kept_in_the_browser_until_the_file_has_it() -> None:
    asked = "arrived.push([...kept.values()].map(text => JSON.parse(text).label.rationale))"
    found = arrived(f"give(0, 1); await settle(); type('beca'); {asked}; flush(); await settle(); {asked}")
    assert found[1:] == [["beca"], found[2], []]
    assert found[2]["known"] == [{"grades": {"grade": 1}, "rationale": ""}]  # it may replace this and nothing else
