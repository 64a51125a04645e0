'use strict';
const token = new URLSearchParams(location.search).get('token');
const $ = id => document.getElementById(id);
const make = (tag, text, cls) => { const e = document.createElement(tag); if (text !== undefined) e.textContent = text;
  if (cls) e.className = cls; return e; };
let about, me = '', labels = {}, ids = {}, at = 0, aspect = 0, pending = null, chain = Promise.resolve(), waiting = 0;
let turn = 0, loading = false, early = [];  // keys that were pressed before the item came that they are meant for
const unsaved = new Map();                  // by item: the label that is not in the file yet, and why

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
  $('fault').textContent = unsaved.size ? `Not saved: item ${numbers}: ${[...unsaved.values()][0].why}` : '';
}
const mine = number => labels[number] || {grades: {}, rationale: ''};
const graded = number => about.aspects.every(name => name in mine(number).grades);

function save(number) {
  const label = mine(number);
  post({number, item_id: ids[number], annotator: me, grades: {...label.grades}, rationale: label.rationale});
}
function post(body) {             // one after the other, so that the last word is the last one saved
  waiting++; $('saved').textContent = 'saving …';
  const given = {body, why: '', sent: false}; unsaved.set(body.number, given);
  chain = chain.then(async () => {
    let reached = false;
    for (let again = 0; unsaved.get(body.number) === given && !given.sent; again++) {  // else a later word, or leave()
      try {
        given.sent = true;
        const said = await ask('/api/label', body);
        if (unsaved.get(body.number) === given) unsaved.delete(body.number);
        progress(said.progress); reached = true; break;
      } catch (error) {
        given.why = error.message; given.sent = false; told();
        if (!(error instanceof TypeError) || again > 8) break;
        await new Promise(done => setTimeout(done, 1000 * (again + 1)));
      }
    }
    waiting--;
    if (reached && !waiting) [...unsaved.values()].forEach(one => post(one.body));  // what had failed before
    const failed = [...unsaved.values()].some(one => one.why); if (failed) told(); else $('fault').textContent = '';
    if (!waiting) $('saved').textContent = failed ? '' : 'saved';
  });
}
function flush() { if (pending !== null) { clearTimeout(pending.timer); const n = pending.number; pending = null; save(n); } }
function leave() {                // the tab may be closing: nothing waits for its turn any more
  flush();
  for (const given of unsaved.values()) if (!given.sent) {
    given.sent = true;
    ask('/api/label', given.body).then(said => {
      if (unsaved.get(given.body.number) === given) unsaved.delete(given.body.number);
      progress(said.progress); told();
    }, () => { given.sent = false; if (unsaved.get(given.body.number) === given) post(given.body); });
  }
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
      row.append(radio, ...(keys()[k] === grade ? [] : [make('kbd', keys()[k])]), make('b', grade), make('span', about.meanings[k] || ''));
      set.append(row);
    });
    set.addEventListener('focusin', () => mark(j));
    return set;
  }));
}
function mark(j) { aspect = j; [...$('form').children].forEach((set, i) => set.classList.toggle('now', i === j)); }
function give(j, k) {
  const label = mine(at); label.grades[about.aspects[j]] = k; labels[at] = label;
  $('form').children[j].querySelectorAll('input')[k].checked = true;
  if (pending && pending.number === at) { clearTimeout(pending.timer); pending = null; }
  save(at); progressOwn(); if (j + 1 < about.aspects.length) mark(j + 1);
}
function progressOwn() { const n = [...Array(about.items).keys()].filter(graded).length;
  $('bar').value = n; $('done').textContent = `${n} of ${about.items} graded`; }
async function go(number) {
  flush();
  if (number < 0 || number >= about.items) return;
  const own = ++turn; loading = true;
  let item;
  try { item = await ask(`/api/item?number=${number}`); }
  catch (error) { if (own === turn) { loading = false; early = []; fault(error); } return; }
  if (own !== turn) return;       // another item was asked for meanwhile
  at = number; ids[number] = item.item_id;
  $('item').replaceChildren(...item.texts.map(({name, texts}) => {
    const part = make('section', undefined, name.replace(/[^a-z_]/g, '')); part.append(make('h2', name.replace('_', ' ')));
    texts.forEach(text => part.append(make('div', text || '(empty)', 'text')));
    return part;
  }));
  $('place').textContent = `item ${number + 1} of ${about.items}`;
  form(); mark(0);
  about.aspects.forEach((name, j) => { const k = mine(at).grades[name];
    if (k !== undefined) $('form').children[j].querySelectorAll('input')[k].checked = true; });
  $('why').value = mine(at).rationale; window.scrollTo(0, 0); $('item').focus({preventScroll: true});
  loading = false; const keys = early; early = [];
  for (const key of keys) { act(key); if (key === 'r') break; }
}
function nextOpen() {
  for (let step = 1; step <= about.items; step++) { const n = (at + step) % about.items; if (!graded(n)) { go(n); return; } }
  $('saved').textContent = 'all items are graded';
}
async function begin(name) {
  try { const said = await ask(`/api/labels?annotator=${encodeURIComponent(name)}`); me = name; labels = said.labels;
    sessionStorage.setItem('judgec-name', name); show('work'); progress(said.progress);
    at = about.items - 1; const first = [...Array(about.items).keys()].find(n => !graded(n)); go(first === undefined ? 0 : first);
  } catch (error) { fault(error); show('enter'); }
}
$('why').addEventListener('input', () => {
  const number = at, label = mine(number); label.rationale = $('why').value; labels[number] = label;
  if (pending) clearTimeout(pending.timer);
  $('saved').textContent = Object.keys(label.grades).length ? '…' : 'a reason is saved with a grade';
  pending = Object.keys(label.grades).length ? {number, timer: setTimeout(flush, 250)} : null;
});
$('why').addEventListener('blur', flush);
$('next').addEventListener('click', () => go(at + 1)); $('back').addEventListener('click', () => go(at - 1));
$('open').addEventListener('click', nextOpen);
$('clear').addEventListener('click', () => { labels[at] = {grades: {}, rationale: ''}; save(at); go(at); progressOwn(); });
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
  const does = grade >= 0 ? () => give(aspect, grade) : {n: () => go(at + 1), p: () => go(at - 1), u: nextOpen,
    Enter: nextOpen, x: () => $('clear').click(), r: () => $('why').focus()}[key];
  if (does && loading) early.push(key); else if (does) does();
  return !!does;
}
const homeless = () => Object.values(labels).some(label => label.rationale && !Object.keys(label.grades).length);
window.addEventListener('beforeunload', event => {
  leave(); if ([...unsaved.values()].some(one => one.why) || homeless()) event.preventDefault();  // a reason without a grade
});
window.addEventListener('pagehide', leave);
document.addEventListener('visibilitychange', () => { if (document.visibilityState === 'hidden') leave(); });
(async () => {
  try { about = await ask('/api/about'); } catch (error) { fault(error); return; }
  $('title').textContent = `${about.file}: ${about.task}`; document.title = $('title').textContent;
  $('names').replaceChildren(...about.known.map(name => { const o = make('option'); o.value = name; return o; }));
  const name = sessionStorage.getItem('judgec-name') || (about.annotators.length === 1 ? about.annotators[0] : '');
  if (name) begin(name); else { show('enter'); $('name').focus(); }
})();
