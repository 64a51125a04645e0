'use strict';
const token = new URLSearchParams(location.search).get('token');
const $ = id => document.getElementById(id);
const make = (tag, text, cls) => { const e = document.createElement(tag); if (text !== undefined) e.textContent = text;
  if (cls) e.className = cls; return e; };
let about, me = '', labels = {}, ids = {}, at = 0, aspect = 0, pending = null, chain = Promise.resolve(), waiting = 0;

async function ask(path, body) {
  const options = {headers: {'X-Judgec-Token': token}};
  if (body) { options.method = 'POST'; options.body = JSON.stringify(body); options.headers['Content-Type'] = 'application/json'; }
  const reply = await fetch(path, options);
  const said = await reply.json().catch(() => ({error: `the server said ${reply.status}`}));
  if (!reply.ok) throw new Error(said.error || `the server said ${reply.status}`);
  return said;
}
const fault = error => { $('fault').textContent = error ? `Not saved: ${error.message}` : ''; };
const mine = number => labels[number] || {grades: {}, rationale: ''};
const graded = number => about.aspects.every(name => name in mine(number).grades);

function save(number) {           // one after the other, so that the last word is the last one saved
  const label = mine(number), body = {number, item_id: ids[number], annotator: me, grades: {...label.grades}, rationale: label.rationale};
  waiting++; $('saved').textContent = 'saving …';
  chain = chain.then(async () => {
    for (let again = 0;; again++) {
      try { const said = await ask('/api/label', body); fault(null); progress(said.progress); break; }
      catch (error) { fault(error); if (!(error instanceof TypeError) || again > 8) break;
        await new Promise(done => setTimeout(done, 1000 * (again + 1))); }
    }
    if (--waiting === 0) $('saved').textContent = $('fault').textContent ? '' : 'saved';
  });
}
function flush() { if (pending !== null) { clearTimeout(pending.timer); const n = pending.number; pending = null; save(n); } }
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
  let item;
  try { item = await ask(`/api/item?number=${number}`); } catch (error) { fault(error); return; }
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
  pending = Object.keys(label.grades).length ? {number, timer: setTimeout(flush, 500)} : null;
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
  if (/^[0-9]$/.test(event.key) && keys().includes(event.key)) { give(aspect, keys().indexOf(event.key)); return; }
  if (event.key === 'Enter' && event.target.tagName === 'BUTTON') return;
  const does = {n: () => go(at + 1), p: () => go(at - 1), u: nextOpen, Enter: nextOpen, x: () => $('clear').click(),
    r: () => $('why').focus()}[event.key];
  if (does && event.target.tagName !== 'SUMMARY') { event.preventDefault(); does(); }
});
window.addEventListener('beforeunload', event => { flush(); if (waiting) event.preventDefault(); });
(async () => {
  try { about = await ask('/api/about'); } catch (error) { fault(error); return; }
  $('title').textContent = `${about.file}: ${about.task}`; document.title = $('title').textContent;
  $('names').replaceChildren(...about.known.map(name => { const o = make('option'); o.value = name; return o; }));
  const name = sessionStorage.getItem('judgec-name') || (about.annotators.length === 1 ? about.annotators[0] : '');
  if (name) begin(name); else { show('enter'); $('name').focus(); }
})();
