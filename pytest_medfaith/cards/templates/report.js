"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const kinds = [
    ["unsafe", "⚠ unsafe", (one) => one.unsafe],
    ["major", "‼ major", (one) => one.major],
    ["refuted", "✗ refuted", (one) => one.refuted],
    ["unsupported", "? unsupported", (one) => one.unsupported],
    ["unscored", "– unscored", (one) => one.unscored],
    ["conflict", "⇄ conflict", (one) => one.conflicts],
    ["citation", "❞ citation errors", (one) => one.miscited],
    ["omission", "∅ major fact missing", (one) => one.omitted],
    ["outcome", "⚑ wrong outcome", (one) => one.wrong],
    ["refusal", "refusal", (one) => one.abstained],
    ["clean", "✓ all supported", (one) => one.supported > 0 && one.supported === one.claims.length],
  ];

  const heldChunk = (number) => JSON.parse(byId(`chunk-${number}`).textContent);

  // Every text of the report enters the page here, as a text node.
{% include "elements.js" %}
{% include "case.js" %}

  const list = byId("cases");
  const chosen = new Set();

  function tally(one) {
    const node = make("span", "tally");
    if (one.unsafe) {
      const part = make("span", "unsafe", `${one.unsafe} ⚠`);
      part.title = `${one.unsafe} unsafe`;
      node.append(part);
    }
    if (one.major) {
      const part = make("span", "unsafe", `${one.major} ‼`);
      part.title = `${one.major} major`;
      node.append(part);
    }
    for (const label of severity) {
      if (!one[label]) continue;
      const part = make("span", `sign ${label}`, `${one[label]} ${signs[label]}`);
      part.title = `${one[label]} ${label}`;
      node.append(part);
    }
    if (one.conflicts) node.append(make("span", "", "⇄"));
    if (one.abstained) node.append(make("span", "soft", "refusal"));
    if (one.wrong) node.append(make("span", "unsafe", one.outcome));
    if (!node.childNodes.length) node.append(make("span", "soft", "no claims"));
    return node;
  }

  function row(one, place) {
    const button = make("button", "", tally(one), make("span", "id", one.id), make("span", "question", one.question));
    button.type = "button";
    button.setAttribute("aria-expanded", "false");
    button.addEventListener("click", () => toggle(place));
    const body = make("div", "body");
    body.hidden = true;
    const node = make("article", "case", make("h3", "", button), body);
    node.id = `case-${place}`;
    return node;
  }

  function toggle(place, open = rows[place].querySelector(".body").hidden) {
    const node = rows[place], body = node.querySelector(".body");
    if (open && !body.childNodes.length) fill(body, data.cases[place], place);
    body.hidden = !open;
    node.classList.toggle("open", open);
    node.querySelector("button").setAttribute("aria-expanded", String(open));
    history.replaceState(null, "", open ? `#case-${place}` : "#");
  }

  // Filters
  const texts = [];
  function textOf(place) {
    const one = data.cases[place];
    texts[place] ??= [one.id, one.question, one.answer, ...one.claims.map((claim) => claim.text)].join("\n").toLowerCase();
    return texts[place];
  }

  function filter() {
    const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean), run = byId("run").value;
    const active = kinds.filter(([name]) => chosen.has(name));
    let count = 0;
    data.cases.forEach((one, place) => {
      const fits = (run === "" || String(one.run) === run) && (!active.length || active.some(([, , test]) => test(one)))
        && words.every((word) => textOf(place).includes(word));
      rows[place].hidden = !fits;
      count += fits;
    });
    byId("shown").textContent = `${count} of ${data.cases.length} cases shown.`;
  }

  function order() {
    const places = data.cases.map((_, place) => place);
    if (byId("order").value === "worst") {
      const kindsFirst = ["unsafe", "major", "refuted", "unsupported", "unscored"];
      const heavier = (a, b) => kindsFirst.map((kind) => data.cases[b][kind] - data.cases[a][kind]).find((difference) => difference) || a - b;
      places.sort(heavier);
    }
    list.append(...places.map((place) => rows[place]));
  }

  function setUp() {
    const select = byId("run");
    const option = (text, value) => { const node = make("option", "", text); node.value = value; return node; };
    select.append(option("all slices", ""), ...data.runs.map((label, i) => option(label, String(i))));
    select.hidden = data.runs.length < 2;
    for (const [name, label, test] of kinds) {
      const number = data.cases.filter(test).length;
      if (!number) continue;
      const button = make("button", "", `${label} (${number})`);
      button.type = "button";
      button.dataset.kind = name;
      button.setAttribute("aria-pressed", "false");
      button.addEventListener("click", () => {
        if (!chosen.delete(name)) chosen.add(name);
        button.setAttribute("aria-pressed", String(chosen.has(name)));
        filter();
      });
      byId("chips").append(button);
    }
    byId("search").addEventListener("input", filter);
    select.addEventListener("change", filter);
    byId("order").addEventListener("change", order);
    byId("tools").addEventListener("submit", (event) => event.preventDefault());
    document.addEventListener("keydown", onKey);
    // What scrolls sideways can be reached and scrolled by keyboard.
    for (const node of document.querySelectorAll(".wide, pre")) if (node.scrollWidth > node.clientWidth) node.tabIndex = 0;
  }

  // Keyboard
  let current = null;
  const focusedRow = () => document.activeElement.closest?.(".case");

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
    if (event.key === "Escape") return escape(typing);
    const action = { "/": () => byId("search").focus(), j: () => step(1), k: () => step(-1), n: nextClaim }[event.key];
    if (typing || !action) return;
    event.preventDefault();
    action();
  }

  function escape(typing) {
    const node = focusedRow();
    if (typing) { byId("search").value = ""; filter(); document.activeElement.blur(); return; }
    if (!node) return;
    toggle(rows.indexOf(node), false);
    node.querySelector("button").focus();
  }

  function step(by) {
    const shown = [...list.children].filter((node) => !node.hidden), at = shown.indexOf(focusedRow());
    const next = shown[Math.min(shown.length - 1, Math.max(0, at < 0 ? 0 : at + by))];
    if (next) next.querySelector("button").focus();
  }

  function nextClaim() {
    const node = focusedRow(), place = node ? rows.indexOf(node) : -1;
    if (place < 0 || !data.cases[place].claims.length) return;
    toggle(place, true);
    const claims = data.cases[place].claims;
    choose(place, claims[current && current.place === place ? current.number % claims.length : 0]);
  }

  const rows = data.cases.map(row);
  setUp();
  order();
  filter();
  const linked = /^#case-(\d+)$/.exec(location.hash);
  if (linked && rows[linked[1]]) { toggle(Number(linked[1]), true); rows[linked[1]].scrollIntoView(); }
})();
