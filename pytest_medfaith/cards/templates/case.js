  // A case as the pages show it: its answer with claims and citations marked, the notes of the claims, the passages.
  // A page that includes this has `make` and `link`, `rows` (the elements of its cases), `current` (the claim that is chosen) and
  // `heldChunk(number)`, which gives the chunk that a case calls by that number.
  const signs = { refuted: "✗", unsupported: "?", uncertain: "≈", unscored: "–", supported: "✓" };
  const severity = Object.keys(signs);
  const byId = (id) => document.getElementById(id);

  // Cuts `text` between `from` and `to` at the ends of `ranges` ({span, ...}) and gives each piece the ranges that cover it.
  function pieces(text, ranges, from = 0, to = text.length) {
    const covering = ranges.filter((range) => range.span && range.span[0] < to && from < range.span[1]);
    const ends = new Set([from, to, ...covering.flatMap((range) => range.span).filter((end) => from < end && end < to)]);
    const cuts = [...ends].sort((a, b) => a - b);
    return cuts.slice(1).map((end, i) => ({
      text: text.slice(cuts[i], end), end, ranges: covering.filter((range) => range.span[0] <= cuts[i] && end <= range.span[1]),
    }));
  }

  const worst = (labels) => severity.find((label) => labels.includes(label)) || "unscored";
  // Claims go by letters, since numbers in an answer are citations: a to z, then aa.
  const letter = (number) => (number > 26 ? letter(Math.floor((number - 1) / 26)) : "") + String.fromCharCode(97 + ((number - 1) % 26));
  const lettered = (claim) => signs[claim.label] + letter(claim.number);

  function fill(body, one, place) {
    one.claims.forEach((claim, i) => { claim.number = i + 1; });
    const left = make("div", "left");
    if (one.turns?.length) left.append(make("h4", "", "Earlier turns"), ...one.turns.map(([role, text]) => make("p", "soft turn", make("b", "", `${role}: `), text)));
    left.append(make("h4", "", "Answer"), answer(one, place), make("h4", "", one.claims.length ? "Claims" : ""));
    if (one.risk) left.append(make("p", "soft", one.risk));
    if (!one.claims.length) left.append(make("p", "soft", one.abstained ? "The answer is a refusal: it makes no claim." : "The answer makes no claim."));
    const order = [...one.claims].sort((a, b) => b.unsafe - a.unsafe || b.major - a.major || severity.indexOf(a.label) - severity.indexOf(b.label));
    left.append(...order.map((claim) => claimNote(claim, place)));
    if (one.dropped.length) left.append(make("h4", "", `Not checked: ${one.unchecked} of the answer's words`), droppedList(one.dropped));
    if (one.gold.length) left.append(make("h4", "", "Gold claims"), goldList(one.gold));
    const right = make("div", "right", make("h4", "", one.contexts.length ? "Evidence, in the order it was given" : "No evidence was given"));
    const cited = new Set(one.cited.flatMap((citation) => citation.contexts));
    right.append(...one.contexts.map((number, i) => chunk(one, place, i, number, cited)));
    body.append(left, right);
  }

  // Markdown of an answer: blocks and styles as ranges of its text, so that claims keep their places. Nothing but text nodes is made of it:
  // a link is shown as its words, an image as its description, HTML as it is written.
  const LINES = [
    ["rule", /^\s*([-*_])(?:\s*\1){2,}\s*$/],
    ["head", /^ {0,3}#{1,6}\s+(?=\S)/],
    ["quote", /^ {0,3}>\s?/],
    ["item", /^(\s*)([-*+•]|\d{1,3}[.)])\s+(?=\S)/],
    ["bar", /^(?=.*\|)\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/],
    ["row", /^\s*\|(?=.*\|\s*$)/],
  ];

  function blocksOf(text) {
    const blocks = [];
    let at = 0, fence = "", goesOn = false;
    for (const line of text.split("\n")) {
      const start = at, end = at + line.length, last = blocks[blocks.length - 1];
      at = Math.min(end + 1, text.length);
      const ticks = /^\s*(```|~~~)/.exec(line);
      if (ticks && (!fence || ticks[1] === fence)) {
        if (!fence) blocks.push({ kind: "code", start: at, end: at });
        fence = fence ? "" : ticks[1];
        goesOn = false;
      } else if (fence) {
        last.end = end;
      } else if (!line.trim()) {
        goesOn = false;
      } else {
        const [kind, found] = LINES.map(([name, pattern]) => [name, pattern.exec(line)]).find(([, match]) => match) || ["text", null];
        if (kind === "text" && goesOn && ["text", "item", "quote"].includes(last.kind)) last.end = end;
        else if (kind === "bar" && last && last.kind === "row") last.header = true;
        else blocks.push({ kind, start: start + (found ? found[0].length : 0), end, mark: kind === "item" ? found[2] : "", depth: kind === "item" ? found[1].length >> 1 : 0 });
        goesOn = true;
      }
    }
    return blocks;
  }

  const STYLES = [
    ["code", /`([^`\n]+)`/g],
    ["linked", /!?\[([^[\]\n]+)\]\(([^()\s]*)\)/g],
    ["strong", /\*\*(?=\S)([^*\n]+?)\*\*/g], ["strong", /(?<!\w)__(?=\S)([^_\n]+?)__(?!\w)/g],
    ["em", /(?<![\w*\\])\*(?=[^\s*])([^*\n]+?)\*(?![\w*])/g], ["em", /(?<![\w\\])_(?=[^\s_])([^_\n]+?)_(?!\w)/g],
    ["", /\\(?=[\\`*_{}[\]()#+.!>|~-])/g],
  ];

  // Gives the styled ranges of a text, and the ranges of the marks that make them, which are not shown.
  function stylesOf(text, blocks) {
    const styled = [], hidden = [], fenced = blocks.filter((block) => block.kind === "code");
    const isCode = (place) => fenced.some((block) => block.start <= place && place < block.end) || styled.some((one) => one.style === "code" && one.span[0] <= place && place < one.span[1]);
    for (const [style, pattern] of STYLES) {
      for (const found of text.matchAll(pattern)) {
        const start = found.index, end = start + found[0].length;
        if (isCode(start)) continue;
        if (!style) { hidden.push({ hide: true, span: [start, end] }); continue; }
        const inner = start + found[0].indexOf(found[1]);
        styled.push({ style, url: style === "linked" ? found[2] : "", span: [inner, inner + found[1].length] });
        hidden.push({ hide: true, span: [start, inner] }, { hide: true, span: [inner + found[1].length, end] });
      }
    }
    return [...styled, ...hidden];
  }

  function answer(one, place) {
    const node = make("div", "answer"), text = one.answer, ends = new Map();
    const blocks = blocksOf(text), ranges = [...one.claims, ...one.cited, ...one.dropped, ...stylesOf(text, blocks)];
    const fill = (holder, from, to) => {
      for (const piece of pieces(text, ranges, from, to)) if (!piece.ranges.some((range) => range.hide)) holder.append(answerPiece(piece, place, ends));
      return holder;
    };
    let table = null;
    for (const block of blocks) {
      if (block.kind !== "row") table = null;
      if (block.kind === "rule" || block.kind === "bar") continue;
      if (block.kind === "row") {
        if (!table) node.append((table = make("table")));
        const row = make("tr");
        for (const [from, to] of cellsOf(text, block)) row.append(fill(make(block.header ? "th" : "td"), from, to));
        table.append(row);
        continue;
      }
      const shown = make("div", block.kind, block.mark ? `${/\d/.test(block.mark) ? block.mark : "•"} ` : "");
      if (block.depth) shown.style.marginLeft = `${Math.min(block.depth, 6) * 1.2}em`;
      node.append(fill(shown, block.start, block.end));
    }
    for (const [claim, last] of [...ends].reverse()) last.after(markButton(claim, place));
    return node;
  }

  function cellsOf(text, block) {
    const cells = [];
    let from = block.start;
    for (let i = block.start; i < block.end; i += 1) {
      if (text[i] !== "|" || text[i - 1] === "\\") continue;
      cells.push([from, i]);
      from = i + 1;
    }
    return cells;
  }

  // Returns a piece of the answer as it is shown; notes in `ends` where each claim is seen last.
  function answerPiece(piece, place, ends) {
    const claims = piece.ranges.filter((range) => range.label), citation = piece.ranges.find((range) => range.contexts);
    let shown = document.createTextNode(piece.text);
    for (const { style, url } of piece.ranges.filter((range) => range.style)) {
      shown = style === "linked" ? make("span", "linked", shown) : make(style, "", shown);
      if (url) shown.title = url;
    }
    if (citation) {
      shown = make("a", "cite", shown);
      shown.href = `#chunk-${place}-${citation.contexts[0]}`;
      shown.addEventListener("click", (event) => { event.preventDefault(); event.stopPropagation(); follow(place, citation.contexts); });
    }
    const dropped = piece.ranges.find((range) => range.dropped);
    if (dropped && !claims.length) {
      shown = make("span", "dropped", shown);
      shown.title = `not checked: ${dropped.reason}`;
    }
    if (claims.length) {
      shown = make("span", `span ${worst(claims.map((claim) => claim.label))}`, shown);
      shown.dataset.claims = claims.map((claim) => claim.number).join(" ");
      shown.addEventListener("click", () => choose(place, claims[0]));
      for (const claim of claims) { ends.delete(claim); ends.set(claim, shown); }
    }
    return shown;
  }

  function markButton(claim, place) {
    const button = make("button", `mark ${claim.label}`, lettered(claim));
    button.type = "button";
    button.setAttribute("aria-label", `claim ${letter(claim.number)}, ${claim.label}`);
    button.addEventListener("click", () => choose(place, claim));
    return button;
  }

  function claimNote(claim, place) {
    const refuted = claim.label === "refuted";
    const score = claim.score && `${refuted ? "contradict" : "entail"} score ${claim.score}, threshold ${claim.threshold}`;
    const at = claim.chunk >= 0 && claim.label !== "unscored" ? `${claim.label === "unsupported" ? "nearest: " : "evidence: "}[${claim.chunk + 1}]` : "";
    const node = make("div", `claim ${claim.label}`,
      make("p", "", make("span", "sign", `${lettered(claim)} ${claim.label}`), claim.unsafe ? make("span", "unsafe", " ⚠ unsafe") : "", claim.major ? make("span", "unsafe", " ‼ major") : "", ` ${claim.text}`),
      make("p", "soft", [claim.severity, score, at, claim.reason].filter(Boolean).join(" · ")));
    for (const rule of claim.rules) {
      const words = rule.claimed && rule.found ? ` (claim “${rule.claimed}”, evidence “${rule.found}”)` : "";
      node.append(make("p", "", make("b", "", `rule ${rule.rule}`), `: ${rule.message}${words}`));
    }
    if (claim.conflict) {
      const others = claim.supporting.map((i) => `[${i + 1}]`).join(" ");
      node.append(make("p", "", make("b", "", "⇄ conflict"), refuted && others ? `: ${others} supports it` : ": another chunk says the opposite"));
    }
    if (claim.citationTold) node.append(make("p", claim.citation === "supported" ? "soft" : "", make("b", "", `citation ${claim.citation}`), `: ${claim.citationTold}`));
    node.dataset.claim = claim.number;
    node.addEventListener("click", () => choose(place, claim));
    return node;
  }

  const droppedList = (pieces) => make("ul", "gold", ...pieces.map((piece) => make("li", "", piece.text + " ", make("span", "soft", piece.reason))));

  function goldList(golds) {
    const told = (value, yes, no) => (value === null ? "" : value ? yes : no);
    return make("ul", "gold", ...golds.map((gold) => make("li", "", gold.text + " ", make("span", "soft",
      [gold.key ? "key" : "optional", gold.major ? "major" : "", gold.contradicted ? "✗ the answer contradicts it" : told(gold.said, "✓ in the answer", "✗ not in the answer"), told(gold.held, "✓ in the evidence", "✗ not in the evidence"), gold.by]
        .filter(Boolean).join(" · ")))));
  }

  function chunk(one, place, i, number, cited) {
    const held = heldChunk(number);
    const claims = one.claims.filter((claim) => claim.chunk === i && claim.label !== "unscored");
    const used = claims.length > 0 || cited.has(i) || one.claims.some((claim) => claim.supporting.includes(i));
    const summary = make("summary", "", make("b", "", `[${i + 1}] ${held.title || held.id}`), " ");
    for (const claim of claims) summary.append(make("span", `sign ${claim.label}`, lettered(claim)), " ");
    const text = make("div", "text");
    const ranges = claims.map((claim) => ({ span: claim.evidence, claim }));
    for (const piece of pieces(held.text, ranges)) {
      const here = piece.ranges.map((range) => range.claim);
      if (!here.length) { text.append(piece.text); continue; }
      const mark = make("mark", `evidence ${worst(here.map((claim) => claim.label))}`, piece.text);
      mark.dataset.claims = here.map((claim) => claim.number).join(" ");
      text.append(mark);
      for (const claim of here) if (claim.evidence[1] === piece.end) text.append(make("span", `mark ${claim.label}`, lettered(claim)));
    }
    const node = make("details", "chunk", summary, make("div", "soft", [held.title ? held.id : "", held.facts].filter(Boolean).join(" · ")), link(held.url), text);
    node.id = `chunk-${place}-${i}`;
    node.open = used;
    return node;
  }

  function clearChosen(place) {
    for (const node of rows[place].querySelectorAll(".chosen")) node.classList.remove("chosen");
  }

  function choose(place, claim) {
    clearChosen(place);
    const has = (node) => (node.dataset.claims || node.dataset.claim || "").split(" ").includes(String(claim.number));
    const nodes = [...rows[place].querySelectorAll("[data-claims], [data-claim]")].filter(has);
    nodes.forEach((node) => node.classList.add("chosen"));
    const target = nodes.find((node) => node.matches("mark")) || (claim.chunk >= 0 && claim.label !== "unscored" && byId(`chunk-${place}-${claim.chunk}`));
    current = { place, number: claim.number };
    if (!target) return;
    const holder = target.closest("details");
    holder.open = true;
    target.scrollIntoView({ block: "nearest" });
  }

  function follow(place, contexts) {
    clearChosen(place);
    for (const i of contexts) {
      const node = byId(`chunk-${place}-${i}`);
      node.open = true;
      node.classList.add("chosen");
    }
    const first = byId(`chunk-${place}-${contexts[0]}`);
    first.scrollIntoView({ block: "nearest" });
    first.querySelector("summary").focus({ preventScroll: true });
  }
