"use strict";
(() => {
  // What is shown: a case as the report has it, which grows while verdicts arrive.
  let shown = null, current = null, asking = null;
  const heldChunk = (number) => shown.chunks[number];

{% include "elements.js" %}
{% include "case.js" %}

  const rows = [document.querySelector("#result .case")];
  const body = rows[0].querySelector(".body");
  const waiting = "waiting";
  signs[waiting] = "…";

  // Offsets of the server count characters; a script counts UTF-16 units.
  const units = (text) => {
    const ends = [0];
    for (const sign of text) ends.push(ends[ends.length - 1] + sign.length);
    return (span) => (span && span[1] < ends.length ? [ends[span[0]], ends[span[1]]] : null);
  };

  const passages = () => byId("contexts").value.split(/\n\s*\n/).map((text) => text.trim()).filter(Boolean);

  async function check() {
    if (asking) return;
    const answer = byId("answer").value, given = passages(), token = byId("token").value;
    const asked = { answer, question: byId("question").value };
    if (given.length || !{{ "true" if slice else "false" }}) asked.contexts = given;
    begin(answer, given);
    asking = new AbortController();
    try {
      const response = await fetch("check/stream", {
        method: "POST", signal: asking.signal, body: JSON.stringify(asked),
        headers: { "Content-Type": "application/json", ...(token ? { Authorization: `Bearer ${token}` } : {}) },
      });
      if (!response.ok) throw new Error((await response.json()).error);
      await readEvents(response.body.getReader());
      if (!shown.done) throw new Error("the server ended before its report");
    } catch (error) {
      if (error.name === "AbortError") say("Stopped.");
      else fail(error.message || String(error));
    } finally {
      asking = null;
      byId("check").disabled = false;
      byId("stop").disabled = true;
    }
  }

  function begin(answer, given) {
    shown = { answer, claims: [], cited: [], dropped: [], gold: [], contexts: given.map((_, i) => i), abstained: false, done: false,
      chunks: given.map((text, i) => ({ id: String(i + 1), title: "", facts: "", url: "", text })) };
    byId("problem").hidden = true;
    byId("result").hidden = true;
    byId("check").disabled = true;
    byId("stop").disabled = false;
    say("Waiting.");
  }

  async function readEvents(reader) {
    const decoder = new TextDecoder();
    let kept = "";
    for (;;) {
      const { done, value } = await reader.read();
      kept += decoder.decode(value, { stream: !done });
      let end;
      while ((end = kept.indexOf("\n\n")) >= 0) {
        const lines = kept.slice(0, end).split("\n");
        kept = kept.slice(end + 2);
        take(lines[0].slice("event: ".length), JSON.parse(lines[1].slice("data: ".length)));
      }
      if (done) return;
    }
  }

  function take(name, data) {
    if (name === "claims") {
      const place = units(shown.answer);
      shown.claims = data.map((claim) => ({ id: claim.id, text: claim.text, span: place([claim.start || 0, claim.end || 0]), label: waiting, score: "", threshold: "",
        reason: "", chunk: -1, evidence: null, unsafe: false, conflict: false, supporting: [], rules: [] }));
    } else if (name === "verdict") {
      const claim = shown.claims.find((one) => one.id === data.claim.id);
      claim.label = data.label;
      claim.reason = data.reason || "";
    } else if (name === "report") {
      shown = { ...data.view, done: true };
    } else if (name === "error") {
      throw new Error(data.error);
    }
    draw();
  }

  function draw() {
    const judged = shown.claims.filter((claim) => claim.label !== waiting).length;
    const counts = severity.map((label) => [label, shown.claims.filter((claim) => claim.label === label).length]).filter(([, count]) => count);
    byId("sums").replaceChildren(...counts.flatMap(([label, count]) => [make("span", `sign ${label}`, `${count} ${signs[label]} ${label}`), "  "]));
    say(shown.done ? `Done: ${counts.map(([label, count]) => `${count} ${label}`).join(", ") || (shown.abstained ? "the answer is a refusal" : "no claims")}.`
      : `${judged} of ${shown.claims.length} claims judged.`);
    body.replaceChildren();
    fill(body, shown, 0);
    byId("result").hidden = false;
    for (const node of body.querySelectorAll(".answer .span")) {
      node.tabIndex = 0;
      node.setAttribute("aria-describedby", "near");
      for (const name of ["mouseenter", "focus"]) node.addEventListener(name, () => showNear(node));
      for (const name of ["mouseleave", "blur"]) node.addEventListener(name, hideNear);
    }
  }

  // The sentence of the evidence that is nearest to a sentence of the answer.
  function showNear(node) {
    const claim = shown.claims[Number(node.dataset.claims.split(" ")[0]) - 1];
    if (!claim || claim.chunk < 0 || !claim.evidence) return;
    const text = heldChunk(shown.contexts[claim.chunk]).text.slice(...claim.evidence);
    const near = byId("near"), box = node.getBoundingClientRect();
    near.replaceChildren(make("b", "", `${claim.label}: [${claim.chunk + 1}] `), text);
    near.hidden = false;
    near.style.left = `${Math.max(8, Math.min(box.left + scrollX, scrollX + innerWidth - near.offsetWidth - 8))}px`;
    near.style.top = `${box.bottom + scrollY + 6}px`;
  }

  const hideNear = () => { byId("near").hidden = true; };
  const say = (text) => { byId("status").textContent = text; };
  const stop = () => { if (asking) asking.abort(); };

  function fail(text) {
    say("");
    byId("problem").textContent = text;
    byId("problem").hidden = false;
  }

  function nextClaim() {
    if (!shown || !shown.claims.length) return;
    choose(0, shown.claims[current ? current.number % shown.claims.length : 0]);
  }

  byId("ask").addEventListener("submit", (event) => { event.preventDefault(); check(); });
  byId("stop").addEventListener("click", stop);
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName);
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); byId("ask").requestSubmit(); return; }
    if (event.key === "Escape") { hideNear(); stop(); return; }
    if (event.key === "n" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) { event.preventDefault(); nextClaim(); }
  });
})();
