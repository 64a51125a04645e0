'use strict';
const token = new URLSearchParams(location.search).get('token');
const $ = id => document.getElementById(id);
const make = (tag, text, cls) => { const e = document.createElement(tag); if (text !== undefined) e.textContent = text;
  if (cls) e.className = cls; return e; };
let about, me = '', labels = {}, ids = [], at = 0, aspect = 0, pending = null, chain = Promise.resolve(), waiting = 0;
let heard = 0;                              // replies to what was saved
let turn = 0, loading = false, early = [];  // keys that were pressed before the item came that they are meant for
const unsaved = new Map();                  // by item: the label that is not in the file yet, and why
let before = [];                            // what u takes back, the last one last: an item and its grades until then
const known = {};                           // by item_id: what the file may say of it, if only this tab has written it
const slots = {};                           // by item_id: under which name this tab keeps what is not in the file
const clashes = new Map();                  // by item: what was typed, while the file says something else

async function ask(path, body) {
  const options = {headers: {'X-Judgec-Token': token}};
  if (body) {
    options.method = 'POST'; options.body = JSON.stringify(body); options.headers['Content-Type'] = 'application/json';
    // It arrives though the tab closes; a browser takes 64 KB of these at a time, and refuses more.
    options.keepalive = new Blob([options.body]).size < 30000;
  }
  const reply = await fetch(path, options);
  const said = await reply.json().catch(() => ({error: `the server said ${reply.status}`}));
  if (!reply.ok) throw new Error(said.error || `the server said ${reply.status}`);
  return said;
}
const fault = error => { $('fault').textContent = error.message; };
function told() {
  const numbers = [...unsaved.keys()].map(number => number + 1).join(', ');
  const open = [...clashes.keys()].map(number => number + 1).join(', ');
  $('fault').textContent = unsaved.size ? `Not saved: item ${numbers}: ${[...unsaved.values()][0].why}`
    : open && `Item ${open}: the file says something else than you. Open the item and choose one.`;
}
// What u takes back outlives a reload of this tab, by item_id, since the file's order may be another one then.
const undoSlot = () => `judgec-undo ${JSON.stringify([about.place, me])}`;
function rememberUndo() {
  try { sessionStorage.setItem(undoSlot(), JSON.stringify(before.slice(-200).map(({number, grades}) => ({id: ids[number], grades})))); }
  catch { /* a browser that keeps nothing */ }
}
function recallUndo() {
  try { before = (JSON.parse(sessionStorage.getItem(undoSlot())) || []).map(({id, grades}) => ({number: ids.indexOf(id), grades}))
    .filter(({number}) => number >= 0); } catch { before = []; }
}
function willUndo(number) { before.push({number, grades: {...mine(number).grades}}); rememberUndo(); }
const mine = number => labels[number] || {grades: {}, rationale: ''};
const copy = label => ({grades: {...label.grades}, rationale: label.rationale});
const given = label => Object.keys(label.grades).length > 0;
const graded = number => about.aspects.every(name => name in mine(number).grades);
const homeless = number => !given(mine(number)) && !!mine(number).rationale;  // a reason without a grade

// What is not in the file yet stays in the browser, though tab and server go away: one entry an item and tab, so that tabs
// leave each other's alone; the file's place is in its name, because files of one name may share a port.
function keep(number, draft) {
  const id = ids[number], slot = slots[id] ??= JSON.stringify([about.place, me, id, Math.random()]);
  const what = JSON.stringify({label: copy(mine(number)), known: known[id] || [], draft, when: Date.now()});
  try { localStorage.setItem(`judgec ${slot}`, what); } catch { /* a browser that keeps nothing */ }
}
function forget(slot) { try { localStorage.removeItem(`judgec ${slot}`); } catch { /* the same */ } }
function letGo(number) { const id = ids[number]; if (slots[id]) forget(slots[id]); delete slots[id]; }
function recall() {               // what this tab or others kept, the newest first
  let found = [];
  try { found = Object.keys(localStorage).filter(name => name.startsWith('judgec [')).map(name => name.slice(7)).map(slot =>
    ({slot, name: JSON.parse(slot), ...JSON.parse(localStorage.getItem(`judgec ${slot}`))})); } catch { /* nothing to be read */ }
  const fresh = new Set();
  for (const {slot, name, label, known: was, draft} of found.sort((a, b) => b.when - a.when)) {
    const [place, who, id] = name, number = ids.indexOf(id);
    if (place !== about.place || who !== me || number < 0 || slots[id] === slot) continue;
    const there = mine(number), same = JSON.stringify(there) === JSON.stringify(label);
    if (same || (draft && there.rationale.includes(label.rationale))) forget(slot);
    else if (fresh.has(number) || homeless(number) || (draft && given(there))) clash(number, label, slot);
    else { labels[number] = copy(label); fresh.add(number);
      if (draft) keep(number, true); else { known[id] = was; save(number); }
      forget(slot); }
  }
}
function clash(number, label, slot) { clashes.set(number, [...clashes.get(number) || [], {label, slot}]); told(); shown(); }
function decide(number, one, mineToo) {  // the file's, or what was typed where the file's has none of it
  const was = mine(number), rest = clashes.get(number).filter(other => other !== one);
  if (mineToo) { willUndo(number);
    labels[number] = {grades: {...given(one.label) ? one.label.grades : was.grades}, rationale: one.label.rationale || was.rationale};
    save(number); }
  forget(one.slot); if (rest.length) clashes.set(number, rest); else clashes.delete(number);
  told(); fill(); progressOwn();
}
const words = ({grades, rationale}) => [about.aspects.filter(name => name in grades).map(name =>
  (about.aspects.length > 1 ? `${name} ` : '') + about.grades[grades[name]]).join(', ') || 'no grade',
  ...rationale ? [`“${rationale}”`] : []].join(': ');
function shown() {                // of this item, beside its form
  const here = clashes.get(at) || []; $('clash').hidden = !here.length;
  $('clash').replaceChildren(...here.map(one => {
    const part = make('div'), row = make('div', undefined, 'row');
    part.append(make('p', 'You gave this, but the file now says something else:'), make('p', words(one.label), 'text'));
    for (const [text, mineToo] of [['Put it into the file', true], ['Keep what the file says', false]]) {
      const button = make('button', text); button.type = 'button'; row.append(button);
      button.addEventListener('click', () => decide(at, one, mineToo)); }
    part.append(row); return part; }));
}
function save(number) {
  post({number, item_id: ids[number], annotator: me, ...copy(mine(number))});
}
function post(body) {             // one after the other, so that the last word is the last one saved
  waiting++; $('saved').textContent = 'saving …';
  const one = {body, why: '', sent: false}; unsaved.set(body.number, one);
  keep(body.number, false);
  chain = chain.then(async () => {
    let reached = false;
    for (let again = 0; unsaved.get(body.number) === one && !one.sent; again++) {  // else a later word, or leave()
      try { await send(one); reached = true; break; }
      catch (error) {
        one.why = error.message; one.sent = false; told();
        if (!(error instanceof TypeError) || again > 8) break;
        await new Promise(done => setTimeout(done, 1000 * (again + 1)));
      }
    }
    waiting--;
    if (reached && !waiting) [...unsaved.values()].forEach(other => post(other.body));  // what had failed before
    const failed = [...unsaved.values()].some(other => other.why); if (failed || !unsaved.size) told(); else $('fault').textContent = '';
    if (!waiting) $('saved').textContent = failed ? '' : 'saved';
  });
}
async function send(one) {
  one.sent = true;
  const {number, item_id, grades, rationale} = one.body, label = {grades, rationale}, was = known[item_id] || [];
  known[item_id] = [...was.slice(0, 1), ...was.slice(1).slice(-2), label];  // it may be there, though no reply comes
  if (unsaved.get(number) === one) keep(number, false);
  const said = await ask('/api/label', {...one.body, known: was});
  heard++; known[item_id] = [said.instead || label];
  const last = unsaved.get(number) === one; if (last) unsaved.delete(number);
  if (last && said.instead) { const slot = slots[item_id]; delete slots[item_id];
    labels[number] = said.instead; clash(number, label, slot); fill(); }
  else if (last && homeless(number)) keep(number, true); else if (last) letGo(number);
  progress(said.progress);
}
function flush() { if (pending !== null) { clearTimeout(pending.timer); const n = pending.number; pending = null; save(n); } }
function leave() {                // the tab may be closing: nothing waits for its turn any more
  flush();
  for (const one of unsaved.values()) if (!one.sent)
    send(one).then(told, () => { one.sent = false; if (unsaved.get(one.body.number) === one) post(one.body); });
}
function progress(all) {
  const done = [...Array(about.items).keys()].filter(graded).length;
  $('bar').max = about.items; $('bar').value = done; $('done').textContent = `${done} of ${about.items} graded`;
  $('others').replaceChildren(...Object.entries(all || {}).flatMap(([name, n]) => [make('dt', name), make('dd', String(n))]));
}
function show(name) { for (const id of ['enter', 'work']) $(id).hidden = id !== name; }

const keys = () => about.grades.every(grade => /^[0-9]$/.test(grade)) ? about.grades : about.grades.map((_, k) => String(k + 1));
function form() {
  $('form').replaceChildren(...about.aspects.map((name, j) => {
    const set = make('fieldset'); set.append(make('legend', about.aspects.length > 1 ? name : about.scale));
    about.grades.forEach((grade, k) => {
      const row = make('label', undefined, 'grade'), radio = make('input');
      radio.type = 'radio'; radio.name = `a${j}`; radio.value = k;
      radio.addEventListener('change', () => give(j, k));
      row.append(radio, ...(keys()[k] === grade ? [] : [make('kbd', keys()[k])]), make('b', grade), make('span', about.meanings[name][k] || ''));
      set.append(row);
    });
    set.addEventListener('focusin', () => mark(j));
    return set;
  }));
}
function mark(j) { aspect = j; [...$('form').children].forEach((set, i) => set.classList.toggle('now', i === j)); }
function give(j, k, typed = false) {
  const label = mine(at); willUndo(at);
  label.grades[about.aspects[j]] = k; labels[at] = label;
  $('form').children[j].querySelectorAll('input')[k].checked = true;
  if (pending && pending.number === at) { clearTimeout(pending.timer); pending = null; }
  save(at); progressOwn();
  if (j + 1 < about.aspects.length) mark(j + 1); else if (typed && graded(at)) nextOpen();
}
async function undo() {
  const last = before.pop(); if (!last) { $('saved').textContent = 'nothing to take back'; return; }
  rememberUndo();
  flush(); labels[last.number] = {grades: last.grades, rationale: mine(last.number).rationale};  // what was typed stays
  save(last.number); progressOwn(); await go(last.number);
}
function progressOwn() { const n = [...Array(about.items).keys()].filter(graded).length;
  $('bar').value = n; $('done').textContent = `${n} of ${about.items} graded`; }
async function go(number) {
  flush();
  if (number < 0 || number >= about.items) return;
  const own = ++turn; loading = true;
  let item;
  try { item = await fresh(number); }
  catch (error) { if (own === turn) { loading = false; early = []; fault(error); } return; }
  if (own !== turn) return;       // another item was asked for meanwhile
  at = number;
  $('item').replaceChildren(...item.texts.map(({name, texts}) => {
    const part = make('section', undefined, name.replace(/[^a-z_]/g, '')); part.append(make('h2', name.replace('_', ' ')));
    texts.forEach(text => part.append(make('div', text || '(empty)', 'text')));
    return part;
  }));
  $('place').textContent = `item ${number + 1} of ${about.items}`;
  form(); mark(0); fill(); window.scrollTo(0, 0); $('item').focus({preventScroll: true});
  loading = false; const keys = early; early = [];
  for (const key of keys) { act(key); if (key === 'r') break; }
}
function fill() {                 // the form of this item with what was said of it
  about.aspects.forEach((name, j) => { const k = mine(at).grades[name];
    $('form').children[j].querySelectorAll('input').forEach((radio, i) => { radio.checked = i === k; }); });
  if ($('why').value !== mine(at).rationale) $('why').value = mine(at).rationale;
  shown();
}
const busy = number => unsaved.has(number) || homeless(number) || (pending !== null && pending.number === number);
async function fresh(number) {    // an item; what the file says of it now, another tab's word perhaps, where nothing waits
  const until = heard, waits = busy(number);
  const item = await ask(`/api/item?number=${number}&annotator=${encodeURIComponent(me)}`);
  if (item.item_id !== ids[number]) throw new Error('The file was changed: load the page again.');
  if (!waits && !busy(number) && until === heard) { labels[number] = copy(item.label); known[item.item_id] = [item.label]; }
  return item;
}
async function look() {           // back in this tab
  const number = at; if ($('work').hidden || loading) return;
  try { await fresh(number); } catch { return; /* the next save tells */ }
  if (number === at && !loading) { fill(); progressOwn(); }
}
function nextOpen() {             // this one, as long as it has no grade
  for (let step = 0; step <= about.items; step++) { const n = (at + step) % about.items; if (!graded(n)) { if (step) go(n); return; } }
  $('saved').textContent = 'all items are graded';
}
async function begin(name) {
  try { const said = await ask(`/api/labels?annotator=${encodeURIComponent(name)}`); me = name; labels = said.labels; ids = said.items;
    ids.forEach((id, number) => { known[id] = [copy(mine(number))]; });
    sessionStorage.setItem(`judgec-name ${about.place}`, name); recallUndo(); recall(); show('work'); progress(said.progress);
    at = about.items - 1; const first = [...Array(about.items).keys()].find(n => !graded(n)); go(first === undefined ? 0 : first);
  } catch (error) { fault(error); show('enter'); }
}
$('why').addEventListener('input', () => {
  const number = at, label = mine(number); label.rationale = $('why').value; labels[number] = label;
  if (pending) clearTimeout(pending.timer);
  const draft = !given(label) && !unsaved.has(number);
  if (draft && !label.rationale) letGo(number); else keep(number, draft);
  $('saved').textContent = given(label) ? '…' : 'kept in this browser; give a grade to save it in the file';
  pending = given(label) ? {number, timer: setTimeout(flush, 250)} : null;
});
$('why').addEventListener('blur', flush);
$('next').addEventListener('click', () => go(at + 1)); $('back').addEventListener('click', () => go(at - 1));
$('open').addEventListener('click', nextOpen);
$('clear').addEventListener('click', () => { const was = mine(at);
  willUndo(at); labels[at] = {grades: {}, rationale: was.rationale};
  save(at); go(at); progressOwn(); });
$('who').addEventListener('submit', event => { event.preventDefault(); const name = $('name').value.trim(); if (name) begin(name); });
$('form').addEventListener('submit', event => event.preventDefault());
document.addEventListener('keydown', event => {
  if ($('work').hidden) return;
  const typing = event.target === $('why');
  if (typing && event.key === 'Escape') { $('why').blur(); return; }
  if (typing && event.key === 'Enter' && (event.ctrlKey || event.metaKey)) { event.preventDefault(); nextOpen(); return; }
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'Enter' && event.target.tagName === 'BUTTON') return;
  if (event.target.tagName === 'SUMMARY' && !/^[0-9]$/.test(event.key)) return;
  if (act(event.key)) event.preventDefault();
});
function act(key) {               // true when it was a key of ours
  const grade = /^[0-9]$/.test(key) ? keys().indexOf(key) : -1;
  const does = grade >= 0 ? () => give(aspect, grade, true) : {n: () => go(at + 1), p: () => go(at - 1), u: undo,
    Enter: nextOpen, x: () => $('clear').click(), r: () => $('why').focus()}[key];
  if (does && loading) early.push(key); else if (does) does();
  return !!does;
}
window.addEventListener('beforeunload', event => {
  leave(); if ([...unsaved.values()].some(one => one.why) || ids.some((_, n) => homeless(n))) event.preventDefault();
});
window.addEventListener('pagehide', leave);
document.addEventListener('visibilitychange', () => { if (document.visibilityState === 'hidden') leave(); else look(); });
window.addEventListener('focus', look);
(async () => {
  try { about = await ask('/api/about'); } catch (error) { fault(error); return; }
  $('title').textContent = `${about.file}: ${about.task}`; document.title = $('title').textContent; $('note').textContent = about.note;
  $('known').replaceChildren(...about.known.map(name => {
    const one = make('button', name); one.type = 'button'; one.addEventListener('click', () => begin(name)); return one; }));
  $('other').hidden = about.annotators.length > 0;
  const name = sessionStorage.getItem(`judgec-name ${about.place}`) || (about.annotators.length === 1 ? about.annotators[0] : '');
  if (name) begin(name); else { show('enter'); ($('known').firstChild || $('name')).focus(); }
})();
