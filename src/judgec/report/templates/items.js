"use strict";
// The item browser: sorts, searches and filters the items that a page holds. Texts of users go in by textContent alone.
(() => {
  const holder = document.getElementById("items-data");
  const place = document.getElementById("items-browser");
  if (!holder || !place) return;
  const data = JSON.parse(holder.textContent);
  const STEP = 100; // items shown at once
  const state = { words: "", show: "all", rater: "", group: "", sort: "first" };
  let found = [], most = STEP, current = -1;

  const make = (tag, kind, text) => {
    const made = document.createElement(tag);
    if (kind) made.className = kind;
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const anchor = (id) => "item-" + encodeURIComponent(id);
  const said = (grades) => {
    const names = Object.keys(grades || {});
    const word = (grade) => (grade === null ? "–" : String(grade));
    if (!names.length) return "–";
    return names.length === 1 ? word(grades[names[0]]) : names.map((n) => n + " " + word(grades[n])).join(", ");
  };
  const percent = (share) => (share === null ? "–" : Math.round(100 * share) + " %");
  const plain = (piece) => (typeof piece === "string" ? piece : piece[0]);
  const flat = (parts) => parts.map((part) => part.map(plain).join("")).join(" ");
  const raters = (item) => (item.sides ? item.sides.map((side) => side.who) : item.labels.map((label) => label.rater));
  const searched = data.items.map((item) =>
    [item.item_id, item.query_id, item.agent, item.group, item.reason, item.unscored]
      .concat((item.labels || []).map((label) => label.rater + " " + label.reason))
      .concat((item.notes || []).map((note) => note.who + " " + note.said + " " + note.reason))
      .concat((item.sides || []).flatMap((side) =>
        [side.who, side.grade, side.reason, ...side.texts.map(([, parts]) => flat(parts))]), item.title, item.head)
      .concat(item.texts.map(([, parts]) => flat(parts)))
      .join(" ").toLowerCase());

  const differs = (item, given) =>
    Object.keys(given).some((a) => item.judge[a] !== null && given[a] !== null && item.judge[a] !== given[a]);
  const passes = (item, n) => {
    if (state.words && !state.words.split(/\s+/).every((word) => searched[n].includes(word))) return false;
    if (state.group && item.group !== state.group) return false;
    if (state.rater && !raters(item).includes(state.rater)) return false;
    if (state.show === "unscored") return item.unscored !== null;
    if (state.show !== "differ") return true;
    if (item.sides) return item.differs;
    const mine = item.labels.filter((label) => label.rater === state.rater);
    return state.rater ? mine.some((label) => differs(item, label.grades)) : differs(item, item.expert);
  };
  const sorts = {
    first: () => 0,
    far: (a, b) => b.distance - a.distance,
    unsure: (a, b) => (a.confidence ?? 2) - (b.confidence ?? 2),
    name: (a, b) => a.item_id.localeCompare(b.item_id, undefined, { numeric: true }),
  };

  const kind = (verdict) => verdict.replace(/ /g, "-");
  const marked = (piece) => { // of a claim: its text and its verdict
    if (typeof piece === "string") return make("mark", "", piece);
    const made = make("mark", kind(piece[1]), piece[0]);
    made.title = piece[1];
    return made;
  };
  const checked = (title, found) => { // claims or nuggets, one a line, each with what decides it
    const box = make("div", "claims");
    box.append(make("h3", "", title));
    const meanings = Object.entries(data.verdicts || {}).map(([word, meaning]) => word + ": " + meaning);
    box.append(make("p", "quiet", meanings.join(". ") + "."));
    for (const one of found) {
      const line = make("p");
      line.append(make("mark", kind(one.verdict), one.verdict), " ", make("bdi", "", one.text));
      if (one.importance) line.append(make("span", "quiet", " (" + one.importance + ")"));
      if (one.sentence) {
        const where = one.source ? one.source + " " + one.number + ": " : "";
        line.append(make("br"), make("span", "quiet", where), make("q", "quiet", one.sentence));
      }
      box.append(line);
    }
    return box;
  };
  const text = (parts, speakers) => { // speakers: of turns of a conversation, one each
    const box = make("div", "text");
    parts.forEach((part, p) => {
      if (p && !speakers) box.append(make("hr"));
      const into = speakers ? make("div", "turn") : box;
      if (speakers) { into.append(make("b", "", speakers[p])); box.append(into); }
      part.forEach((piece, n) => into.append(n % 2 ? marked(piece) : piece));
    });
    return box;
  };
  const opinion = (who, grade, reason) => {
    const box = make("article", "answer");
    const head = make("h3");
    head.append(make("bdi", "", who), ": ", make("bdi", "", grade)); // a name that turns the direction of writing
    box.append(head);
    box.append(reason ? make("div", "text", reason) : make("i", "quiet", "no reason given"));
    return box;
  };
  const texts = (box, named) => {
    for (const [name, parts, speakers] of named) {
      box.append(make("h4", "", name));
      const shown = text(parts, speakers);
      shown.tabIndex = 0;
      shown.setAttribute("role", "group");
      shown.setAttribute("aria-label", name);
      box.append(shown);
    }
  };
  const caseBody = (item, box) => { // a case: its sides beside each other, then what was said of it
    texts(box, item.texts);
    const beside = make("div", "answers");
    for (const side of item.sides) {
      const one = make("article", "answer");
      const head = make("h3");
      head.append(make("bdi", "", side.who), side.grade ? ": " : "", make("bdi", "", side.grade));
      one.append(head);
      if (side.reason) one.append(make("div", "reason", side.reason));
      texts(one, side.texts);
      beside.append(one);
    }
    box.append(beside);
    for (const note of item.notes) {
      const line = make("p");
      line.append(make("bdi", "", note.who), ": ", make("b", "", note.said));
      box.append(line);
      if (note.reason) box.append(make("div", "reason", note.reason));
    }
    return box;
  };
  const body = (item) => {
    const box = make("div", "in");
    const facts = [item.item_id, item.agent, item.group, item.sides ? "" : "confidence " + percent(item.confidence)];
    const line = make("p", "quiet");
    facts.filter(Boolean).forEach((fact, n) => line.append(n ? " · " : "", make("bdi", "", fact)));
    box.append(line);
    const link = make("a", "", "Link to this item");
    link.href = "#" + anchor(item.item_id);
    box.append(link);
    if (item.sides) return caseBody(item, box);
    const opinions = make("div", "answers");
    for (const label of item.labels) {
      const accept = label.accept === null ? "" : label.accept ? " accept" : " reject";
      opinions.append(opinion(label.rater, said(label.grades) + accept, label.reason));
    }
    const judge = item.unscored === null ? said(item.judge) : "no grade: " + item.unscored;
    opinions.append(opinion("judge", judge, item.reason));
    box.append(opinions);
    if (item.claims) box.append(checked("Claims", item.claims));
    if (item.nuggets) box.append(checked("Nuggets, looked for in the answer", item.nuggets));
    const beside = make("div", "answers");
    for (const [name, parts, speakers] of item.texts) {
      const pair = name === "answer_a" || name === "answer_b";
      const into = pair ? make("article", "answer") : box;
      into.append(make("h3", "", name));
      const shown = text(parts, speakers);
      shown.tabIndex = 0;
      shown.setAttribute("role", "group");
      shown.setAttribute("aria-label", name);
      into.append(shown);
      if (pair) { beside.append(into); if (!beside.parentNode) box.append(beside); }
    }
    return box;
  };
  const row = (item) => {
    const made = make("details", "item");
    made.id = anchor(item.item_id);
    const head = make("summary");
    if (item.sides) head.append(make("b", "", item.head), make("br"), make("span", "quiet", item.title));
    else head.append("experts ", make("b", "", said(item.expert)), ", judge ",
      make("b", "", item.unscored === null ? said(item.judge) : "none"), make("br"),
      make("span", "quiet", item.title));
    made.append(head);
    made.addEventListener("toggle", () => {
      if (made.open && made.children.length === 1) made.append(body(item));
    });
    return made;
  };

  const choice = (label, name, options) => {
    const box = make("label", "", label + " ");
    const select = make("select");
    select.name = name;
    for (const [value, word] of options) {
      const option = make("option", "", word);
      option.value = value;
      select.append(option);
    }
    select.value = state[name];
    select.addEventListener("change", () => { state[name] = select.value; most = STEP; draw(); });
    box.append(select);
    box.hidden = options.length < 2; // nothing to choose from
    return box;
  };
  const every = (values) => [["", "all"]].concat([...new Set(values)].filter(Boolean).sort().map((v) => [v, v]));
  const bar = make("div", "filters");
  const search = make("input");
  search.type = "search";
  search.setAttribute("aria-label", "Search items");
  search.placeholder = "Search (/)";
  search.addEventListener("input", () => { state.words = search.value.trim().toLowerCase(); most = STEP; draw(); });
  bar.append(search,
    choice("Show", "show", [["all", "all"], ["differ", data.words.differ], ["unscored", data.words.unscored]]),
    choice(data.words.rater, "rater", every(data.items.flatMap(raters))),
    choice(data.words.group, "group", every(data.items.map((item) => item.group))),
    choice("Sort", "sort", [["first", "worth reading"], ["far", data.words.far],
      ["unsure", "least sure"], ["name", "name"]].filter(([sort]) => sort !== "unsure" || data.items.some((item) => item.confidence !== null))));
  const tally = make("p", "quiet");
  tally.setAttribute("role", "status");
  const list = make("div");
  const further = make("button", "", "Show more");
  further.addEventListener("click", () => { most += STEP; draw(); });
  place.replaceChildren(bar, tally, list, further);

  function draw() {
    found = data.items.filter(passes).sort(sorts[state.sort]);
    current = -1;
    list.replaceChildren(...found.slice(0, most).map(row));
    tally.textContent = found.length + " of " + data.items.length + " items on this page" +
      (data.left_out ? "; " + data.left_out + " more are in " + data.file : "") +
      ". Keys: / search, j next, k previous, Enter open.";
    further.hidden = found.length <= most;
  }
  const go = (n) => {
    if (n < 0 || n >= list.children.length) return;
    current = n;
    list.children[n].firstChild.focus();
    list.children[n].scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === search) {
      if (event.key === "Escape" || event.key === "Enter") { search.blur(); go(0); event.preventDefault(); }
      return;
    }
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    if (event.key === "/") { search.focus(); event.preventDefault(); }
    if (event.key === "j") go(current + 1);
    if (event.key === "k") go(current - 1);
  });
  const follow = () => {
    const wanted = location.hash.slice(1);
    if (!wanted.startsWith("item-")) return;
    const at = data.items.findIndex((item) => anchor(item.item_id) === wanted);
    if (at < 0) {
      tally.textContent = "This item is not on the page; look for it in " + data.file + ".";
      return;
    }
    if (!found.slice(0, most).includes(data.items[at])) {
      Object.assign(state, { words: "", show: "all", rater: "", group: "", sort: "first" });
      search.value = "";
      for (const select of bar.querySelectorAll("select")) select.value = state[select.name];
      most = Math.max(most, at + 1);
      draw();
    }
    const n = found.indexOf(data.items[at]);
    list.children[n].open = true;
    list.children[n].scrollIntoView();
    go(n);
  };
  window.addEventListener("hashchange", follow);
  draw();
  follow();
})();
