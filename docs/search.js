"use strict";
// Finds sections of the documentation that hold all words of a query; headings count more than text, documents more
// than the API reference.
const sections = JSON.parse(document.getElementById("sections").textContent);
const box = document.getElementById("query"), list = document.getElementById("found"), said = document.getElementById("said");
const lower = sections.map(([, page, head, text]) => [page, head, text].map(part => part.toLowerCase()));

const API = 0.4; // what a find in the API reference counts beside one in a document: most people look for how to do something

function score([page, head, text], words, url) {
  let sum = 0;
  for (const word of words) {
    const here = 8 * head.includes(word) + 3 * page.includes(word) + Math.min(3, text.split(word).length - 1);
    if (!here) return 0;
    sum += here;
  }
  return url.startsWith("reference.html") ? API * sum : sum;
}

function around(text, word) {
  const near = Math.max(0, text.toLowerCase().indexOf(word) - 80), at = near && text.indexOf(" ", near) + 1;
  const long = at + 240 < text.length, end = long ? text.lastIndexOf(" ", at + 240) : text.length;
  const part = text.slice(at, end > at ? end : at + 240).replaceAll("``", "");
  return (at ? "… " : "") + part + (long ? " …" : "");
}

function search() {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  const ranked = lower.map((parts, i) => [words.length ? score(parts, words, sections[i][0]) : 0, i]).filter(([points]) => points);
  ranked.sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  list.replaceChildren(...ranked.slice(0, 40).map(([, i]) => {
    const [url, page, head, text] = sections[i], item = document.createElement("li"), link = document.createElement("a");
    link.href = url;
    link.textContent = head === page ? page : `${page}: ${head}`;
    const part = document.createElement("div");
    part.textContent = around(text, words[0]);
    item.append(link, part);
    return item;
  }));
  const more = ranked.length > 40 ? ", the first 40" : "";
  said.textContent = words.length ? `${ranked.length} sections${more}` : "";
  history.replaceState(null, "", words.length ? `#${encodeURIComponent(box.value)}` : location.pathname);
}

box.addEventListener("input", search);
box.value = decodeURIComponent(location.hash.slice(1));
box.focus();
search();
