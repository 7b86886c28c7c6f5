"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const claims = data.claims;
  const labels = { s: "supported", r: "refuted", n: "unsupported", x: "no_claim" };
  const severities = { 1: "none", 2: "low", 3: "moderate", 4: "high" };
  const isError = (label) => label === "refuted" || label === "unsupported";
  const initials = byId("initials");

  // What was labelled: {label, severity} of each claim by its place, kept in local storage, an entry a claim.
  // Two tabs never write over each other's labels, since each writes only the entry of the claim it labels.
  const prefix = `medfaith-review:${data.fingerprint}:`;
  const given = new Map();
  const undone = [];
  let place = 0, keeps = true;

  const kept = (action) => {
    try { return action(window.localStorage); } catch { keeps = false; return null; }
  };

  function read(i) {
    let found = null;
    try { found = JSON.parse(kept((storage) => storage.getItem(prefix + i))); } catch { /* an entry of something else */ }
    const known = found && Object.values(labels).includes(found.label);
    if (!known) return given.delete(i);
    const graded = isError(found.label) && Object.values(severities).includes(found.severity);
    given.set(i, graded ? { label: found.label, severity: found.severity } : { label: found.label });
    return true;
  }

  function write(i, value) {
    if (value) given.set(i, value); else given.delete(i);
    kept((storage) => (value ? storage.setItem(prefix + i, JSON.stringify(value)) : storage.removeItem(prefix + i)));
    if (!keeps) tell("This browser keeps nothing for this page: export before you close it.");
  }

  function readAll() {
    claims.forEach((_, i) => read(i));
    initials.value = kept((storage) => storage.getItem(prefix + "initials")) || "";
  }

  const tell = (text) => { byId("status").textContent = text; };

  // Every text of the run enters the page here, as a text node.
{% include "elements.js" %}

  function marked(text, span) {
    const node = make("div", "answer");
    if (!span) { node.append(text); return node; }
    node.append(text.slice(0, span[0]), make("mark", "", text.slice(span[0], span[1])), text.slice(span[1]));
    return node;
  }

  function evidence(number, i) {
    const chunk = data.chunks[number];
    const node = make("details", "chunk", make("summary", "", `[${i + 1}] ${chunk.title || chunk.id}`),
      make("div", "soft", chunk.facts), link(chunk.url), make("div", "text", chunk.text));
    node.open = true;
    return node;
  }

  function draw() {
    const claim = claims[place], one = data.answers[claim.answer];
    const statement = make("p", "statement", claim.context && make("span", "soft", claim.context), claim.text);
    byId("claim").replaceChildren(
      make("h2", "", "Claim"), statement,
      one.question && make("h2", "", "Question"), one.question && make("div", "question", one.question),
      make("h2", "", "Answer"), marked(one.answer, claim.span),
      make("h2", "", "Evidence"),
      ...(claim.contexts.length ? claim.contexts.map(evidence) : [make("p", "soft", "There is none.")]),
    );
    drawState();
  }

  function drawState() {
    const now = given.get(place);
    for (const button of document.querySelectorAll("[data-label]")) button.setAttribute("aria-pressed", String(now?.label === button.dataset.label));
    for (const button of document.querySelectorAll("[data-severity]")) button.setAttribute("aria-pressed", String(now?.severity === button.dataset.severity));
    byId("severities").hidden = !now || !isError(now.label);
    byId("bar").value = given.size;
    byId("progress").textContent = `claim ${place + 1} of ${claims.length}, ${given.size} labelled`;
    byId("back").disabled = place === 0;
    byId("forward").disabled = place === claims.length - 1;
    byId("undo").disabled = !undone.length;
  }

  function go(to) {
    place = Math.min(claims.length - 1, Math.max(0, to));
    draw();
    window.scrollTo(0, 0);
  }

  // The next claim without a label, at the end from the beginning; the same claim where all have a label.
  function nextOpen() {
    for (let step = 1; step <= claims.length; step += 1) {
      const i = (place + step) % claims.length;
      if (!given.has(i)) return i;
    }
    return place;
  }

  function change(value) {
    undone.push([place, given.get(place)]);
    tell("");
    write(place, value);
  }

  function onward() {
    if (given.size === claims.length) { drawState(); tell("All claims are labelled. Export them."); return; }
    go(nextOpen());
  }

  function label(name) {
    change({ label: name });
    if (isError(name)) drawState(); else onward();
  }

  function grade(name) {
    const now = given.get(place);
    if (!now || !isError(now.label)) return tell("A severity belongs to a refuted claim or to one that is not in the evidence.");
    change({ ...now, severity: name });
    return onward();
  }

  function undo() {
    const last = undone.pop();
    if (!last) return tell("Nothing to undo. To change a label, go back and label again.");
    write(last[0], last[1]);
    go(last[0]);
    return tell("Undone.");
  }

  function exportLabels() {
    if (!given.size) return tell("Nothing is labelled yet.");
    const bytes = Uint8Array.from(atob(byId("rows").textContent.trim()), (letter) => letter.charCodeAt(0));
    const rows = JSON.parse(new TextDecoder().decode(bytes));
    const reviewer = initials.value.replace(/[^\p{L}\p{N}.-]/gu, "");  // "+" joins reviewers in merged labels
    const lines = rows.flatMap((row, i) => (given.has(i) ? [JSON.stringify({ ...row, ...given.get(i), ...(reviewer && { reviewer }) }) + "\n"] : []));
    const node = make("a");
    node.href = URL.createObjectURL(new Blob(lines, { type: "application/x-ndjson" }));
    node.download = "labels.jsonl";
    document.body.append(node);
    node.click();
    node.remove();
    setTimeout(() => URL.revokeObjectURL(node.href), 60000);
    return tell(`${lines.length} of ${claims.length} labels exported to labels.jsonl.`);
  }

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (document.activeElement === initials) { if (event.key === "Escape" || event.key === "Enter") initials.blur(); return; }
    const key = event.key.toLowerCase();
    const moves = { arrowleft: () => go(place - 1), arrowright: () => go(place + 1), u: undo };
    const action = moves[key] || (labels[key] && (() => label(labels[key]))) || (severities[key] && (() => grade(severities[key])));
    if (!action) return;
    event.preventDefault();
    action();
  }

  function onOtherTab(event) {
    if (event.key !== null && !event.key.startsWith(prefix)) return;
    readAll();
    drawState();
    tell("This page is open in another tab, too. Both tabs keep all labels.");
  }

  for (const button of document.querySelectorAll("[data-label]")) button.addEventListener("click", () => label(button.dataset.label));
  for (const button of document.querySelectorAll("[data-severity]")) button.addEventListener("click", () => grade(button.dataset.severity));
  byId("back").addEventListener("click", () => go(place - 1));
  byId("forward").addEventListener("click", () => go(place + 1));
  byId("undo").addEventListener("click", undo);
  byId("export").addEventListener("click", exportLabels);
  initials.addEventListener("input", () => kept((storage) => storage.setItem(prefix + "initials", initials.value)));
  document.addEventListener("keydown", onKey);
  window.addEventListener("storage", onOtherTab);
  window.addEventListener("beforeunload", (event) => { if (!keeps && given.size) event.preventDefault(); });

  readAll();
  place = given.has(0) ? nextOpen() : 0;
  draw();
  if (!keeps) tell("This browser keeps nothing for this page: export before you close it.");
  else if (given.size) tell(`${given.size} labels of this run were kept in this browser.`);
})();
