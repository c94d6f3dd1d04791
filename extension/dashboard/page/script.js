"use strict";

// The server sends all that is known each second. This script keeps the nodes of the document from one snapshot
// to the next and changes only what differs, so that focus, selection and screen readers keep their place.
// All text goes in as text: no name can become markup.

// ---- Nodes ----

const byId = (id) => document.getElementById(id);

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function makeSVG(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function setAttribute(node, key, value) {
  if (node.getAttribute(key) !== String(value)) node.setAttribute(key, value);
}

function setHidden(node, hidden) {
  if (node.hidden !== hidden) node.hidden = hidden;
}

// say makes a sentence of strings, names and times the content of a node. What stays in its place stays the same node.
function say(node, ...parts) {
  parts = parts.flat().filter((part) => part !== "");
  parts.forEach((part, i) => {
    const tag = part.tag ?? "#text";
    let child = node.childNodes[i];
    if (child?.nodeName.toLowerCase() !== tag) {
      const made = part.tag ? document.createElement(tag) : document.createTextNode("");
      if (child) child.replaceWith(made);
      else node.append(made);
      child = made;
    }
    const text = part.text ?? String(part);
    if (child.textContent !== text) child.textContent = text;
    for (const [key, value] of Object.entries(part.attributes ?? {})) setAttribute(child, key, value);
  });
  while (node.childNodes.length > parts.length) node.lastChild.remove();
}

// plain is a sentence where there can be no nodes: in the title and in labels. Marks isolate names whose letters may
// run from right to left.
function plain(...parts) {
  const isolated = (name) => (/^[ -~]*$/.test(name) ? name : `\u2068${name}\u2069`);
  return parts.flat().map((part) => (part.tag === "bdi" ? isolated(part.text) : part.text ?? String(part))).join("");
}

// keyed gives each item a node of its own, found again by its key, in the items' order. While the pointer, the focus or
// a selection is in the section, nothing is moved, added or taken away there; it returns how many new items wait.
function keyed(section, items, keyOf, create, update) {
  const list = section.querySelector(".items");
  const known = (list.known ??= new Map());
  const held = known.size > 0 && isHeld(section);
  const seen = new Set();
  let waiting = 0;
  let place = list.firstChild;
  for (const item of items) {
    let key = keyOf(item);
    while (seen.has(key)) key += "'";
    seen.add(key);
    let node = known.get(key);
    if (!node && held) {
      waiting++;
      continue;
    }
    if (!node) known.set(key, (node = create(item)));
    node.classList.remove("gone");
    if (!held && node !== place) list.insertBefore(node, place);
    place = node.nextSibling;
    update(node, item);
  }
  for (const [key, node] of known) {
    if (seen.has(key)) continue;
    node.classList.add("gone");
    if (held) continue;
    node.remove();
    known.delete(key);
  }
  const none = section.querySelector(".none");
  setHidden(none, items.length > 0 || known.size > 0);
  for (const other of section.querySelectorAll(".legend, .scroll")) setHidden(other, !none.hidden);
  return waiting;
}

let pointed = false; // by what can point without pressing: what a finger has tapped counts as hovered until it taps elsewhere
for (const type of ["pointermove", "pointerdown"]) {
  addEventListener(type, (move) => (pointed = move.pointerType !== "touch"), { passive: true });
}

function isHeld(section) {
  const selection = getSelection();
  return (pointed && section.matches(":hover")) || section.contains(document.activeElement) || byId("confirm").open ||
    (!selection.isCollapsed && section.contains(selection.anchorNode));
}

// troubledFirst sorts by name, those in trouble first.
function troubledFirst(items, isTroubled, nameOf) {
  const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  return items.toSorted((a, b) => isTroubled(b) - isTroubled(a) || compare(nameOf(a), nameOf(b)));
}

// ---- Words ----

const named = (text) => ({ tag: "bdi", text });
const faint = (text) => ({ tag: "span", text, attributes: { class: "fine" } });
const nothing = faint("none");
const never = faint("never");
const strong = (text) => ({ tag: "b", text: String(text) });
const at = (iso) => ({ tag: "time", text: clock(iso), attributes: { datetime: iso, title: new Date(iso).toISOString().replace("T", " ") } });
const secondsBetween = (from, to) => Math.max(0, (new Date(to) - new Date(from)) / 1000);
const percent = (part, whole) => `${whole > 0 ? Math.round((100 * part) / whole) : 0} %`;
const plural = (n, one, many = one + "s") => `${n} ${n === 1 ? one : many}`;
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

let now = ""; // by the server's clock, which all durations go by

function clock(iso) {
  const date = new Date(iso);
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map((n) => String(n).padStart(2, "0")).join(":");
  const sameDay = date.toDateString() === new Date(now || iso).toDateString();
  return sameDay ? time : `${date.toLocaleDateString(undefined, { day: "numeric", month: "short" })} ${time}`;
}

function duration(seconds) {
  if (seconds === 0) return "0 s";
  if (seconds < 0.001) return "< 1 ms";
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 9.95 && seconds % 1 !== 0) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const two = (n, big, small, size) => `${n} ${big}` + (size ? ` ${size} ${small}` : "");
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return two(Math.floor(whole / 60), "min", "s", whole % 60);
  if (whole < 86400) return two(Math.floor(whole / 3600), "h", "min", Math.floor((whole % 3600) / 60));
  return two(Math.floor(whole / 86400), "d", "h", Math.floor((whole % 86400) / 3600));
}

// age and left are of whole seconds: tenths would flicker.
const age = (iso) => duration(Math.floor(secondsBetween(iso, now)));
const ago = (iso) => (secondsBetween(iso, now) < 1 ? "just now" : `${age(iso)} ago`);
const left = (seconds) => duration(Math.ceil(seconds));
const reasonText = (reason) => (reason ? `: ${reason}` : "");

// ---- What it means ----

const shapes = { closed: "✓", open: "✕", "half-open": "◐" };

// outageOf tells when a breaker broke. One that opens again after a probe is still in the same outage.
function outageOf(breaker, events) {
  const opened = [...breaker.changes, ...events.filter((e) => e.kind === "circuit-open" && e.gate === breaker.name)];
  const first = opened.find((change) => change.from === "closed");
  if (first) return { since: first.time, reason: first.reason ?? "", known: true };
  return { since: breaker.changes.at(-1)?.time ?? breaker.since, reason: breaker.reason, known: breaker.changes.length === 0 };
}

// recoveryOf tells of a breaker that closed within the last hour when it did, and after how long.
function recoveryOf(breaker, events) {
  const closed = breaker.changes[0];
  if (breaker.state !== "closed" || closed?.to !== "closed" || secondsBetween(closed.time, now) > 3600) return null;
  const outage = outageOf(breaker, events);
  return { name: breaker.name, time: closed.time, after: secondsBetween(outage.since, closed.time), atLeast: outage.known ? "" : "at least " };
}

// failingSince tells since when a policy's calls fail, null if they do not: of the last minute's, one in ten or more
// and three at least, and not only before its circuit recovered. Failures less than half a minute apart belong together.
function failingSince(policy, s) {
  const { step, from } = s.history;
  const near = 30 / step;
  const columns = policy.failures.length;
  const recovered = breakersOf(policy.name, s).map((b) => (b.state === "closed" && b.changes.length > 0 ? Date.parse(b.changes[0].time) : 0));
  const since = Math.max(columns - 2 * near, Math.floor((Math.max(0, ...recovered) - Date.parse(from)) / 1000 / step) + 1);
  const failed = sum(policy.failures.slice(since));
  let first = policy.failures.findLastIndex((n) => n > 0);
  if (since >= columns || failed < 3 || failed * 10 < sum(policy.calls.slice(since)) || columns - first > near) return null;
  for (let i = first; i >= 0 && first - i < near; i--) {
    if (policy.failures[i] > 0) first = i;
  }
  return { time: columnTime(s.history, first), longer: first < near };
}

const columnTime = (history, column) => new Date(Date.parse(history.from) + column * history.step * 1000).toISOString();

// summarize says in sentences how things are. Nothing in them counts on, so that they change only when something happens.
function summarize(s) {
  const broken = troubledFirst(s.circuitBreakers.filter((b) => b.state !== "closed"), (b) => b.state === "open", (b) => b.name);
  const failing = s.policies.filter((p) => !breakersOf(p.name, s).some((b) => b.state !== "closed") && failingSince(p, s));
  const recovered = s.circuitBreakers.map((b) => recoveryOf(b, s.events)).filter(Boolean).sort((a, b) => Date.parse(b.time) - Date.parse(a.time));
  const sentences = [...breakerSentences(broken, s), ...failing.slice(0, 3).map((p) => failingSentence(p, s))];
  if (failing.length > 3) sentences.push([`Calls of ${failing.length - 3} more policies fail.`]);
  if (s.fallbacks.length > 2) sentences.push([`${s.fallbacks.length} fields are answered by their fallbacks.`]);
  else sentences.push(...s.fallbacks.map((f) => [callerOf(f), " is answered by its fallback."]));
  sentences.push(...recovered.slice(0, 2).map((r) => [named(r.name), " recovered at ", at(r.time), ` after ${r.atLeast}${duration(Math.round(r.after))}.`]));
  if (recovered.length > 2) sentences.push([`${recovered.length - 2} more recovered within the last hour.`]);
  let level = "good";
  if (failing.length > 0 || s.fallbacks.length > 0 || broken.length > 0) level = "warning";
  if (broken.some((b) => b.state === "open")) level = "bad";
  return { level, broken, sentence: sentences.flatMap((one, i) => (i > 0 ? [" ", ...one] : one)) };
}

function breakerSentences(broken, s) {
  const count = s.circuitBreakers.length;
  if (broken.length === 0) {
    if (count === 0) return [["No circuit breaker is in use."]];
    return count === 1 ? [["Circuit breaker ", named(s.circuitBreakers[0].name), " is closed."]] : [[`All ${count} circuit breakers are closed.`]];
  }
  const sentences = broken.slice(0, 3).map((b) => {
    const outage = outageOf(b, s.events);
    const since = outage.known ? ["since ", at(outage.since)] : ["since before ", at(outage.since)];
    if (b.state === "open") return [named(b.name), ": open ", ...since, `${reasonText(outage.reason)}.`];
    return [named(b.name), ": half-open, a probe decides; not closed ", ...since, `${reasonText(outage.reason)}.`];
  });
  if (broken.length > 3) sentences.push([`${broken.length - 3} more of ${count} circuit breakers are not closed.`]);
  return sentences;
}

function failingSentence(policy, s) {
  const { time, longer } = failingSince(policy, s);
  return ["Calls of ", named(policy.name), " fail, ", ...(longer ? ["for about five minutes or longer."] : ["since about ", at(time), "."])];
}

// callerOf is a field, or the policy of a job that has no name.
const callerOf = (item) => named(item.field || item.policy);

// breakersOf are those of a policy's fields. A policy of jobs alone is not in the plan; its breaker usually has its name.
function breakersOf(policy, s) {
  const names = breakersPlanned.get(policy) ?? new Set([policy]);
  return s.circuitBreakers.filter((b) => names.has(b.name));
}

// ---- Head ----

function showStatus(s) {
  const { level, broken, sentence } = summarize(s);
  const shape = { good: "✓", warning: "!", bad: "✕" }[level];
  setAttribute(byId("status"), "data-level", level);
  say(byId("headline"), ...(connected ? [] : ["Not connected; last known: "]), ...sentence);
  say(byId("shape"), shape);
  say(byId("countdown"), ...broken.slice(0, 3).flatMap((b) => countdown(b, s)));
  const title = `${connected ? shape : "? Not connected;"} ${plain(sentence)}`;
  const short = title.length > 150 ? `${title.slice(0, 150)}…` : title;
  if (document.title !== short) document.title = short;
  showIcon(connected ? level : "unknown");
  showNotes(s);
}

function countdown(breaker, s) {
  const outage = outageOf(breaker, s.events);
  return [named(breaker.name), `: ${outage.known ? "" : "more than "}${age(outage.since)} so far, ${nextProbe(breaker)}. `];
}

function nextProbe(breaker) {
  if (breaker.state === "half-open") return breaker.probes > 0 ? `${plural(breaker.probes, "probe")} running` : "the next call is a probe";
  return breaker.retryAfter > 0 ? `next probe in ${left(breaker.retryAfter)}` : "the next call is a probe";
}

// showIcon tells the state in the browser's tab by shape and colour.
function showIcon(level) {
  const [colour, path] = {
    good: ["1c6b3a", "M4 8l3 3 5-6"],
    warning: ["8a5a00", "M8 3v6M8 11v2"],
    bad: ["b3261e", "M5 5l6 6M11 5l-6 6"],
    unknown: ["565d66", "M4 8h8"],
  }[level];
  setAttribute(byId("icon"), "href", "data:image/svg+xml," + encodeURIComponent(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#${colour}"/>` +
    `<path d="${path}" fill="none" stroke="#fff" stroke-width="2"/></svg>`));
}

let firstServer = null;

function showNotes(s) {
  firstServer ??= s.server;
  const notes = [];
  if (s.server.name !== firstServer.name) notes.push(["Another server answers now, ", named(s.server.name), ", started at ", at(s.server.started), "; what is known begins there."]);
  else if (s.server.started !== firstServer.started) notes.push(["The server restarted at ", at(s.server.started), "; what is known begins there."]);
  if (s.abandoned > 0) notes.push([`${plural(s.abandoned, "attempt")} ignored the end of their time and still run${s.abandoned === 1 ? "s" : ""}.`]);
  const older = s.server.page !== document.body.dataset.page;
  const list = byId("notes");
  while (list.children.length > notes.length + older) list.firstChild.remove();
  while (list.children.length < notes.length + older) list.prepend(make("li"));
  notes.forEach((note, i) => say(list.children[i], ...note));
  if (older && !list.querySelector("button")) {
    const reload = make("button", { type: "button" }, "Reload");
    reload.addEventListener("click", () => location.reload());
    list.lastChild.replaceChildren("This page is older than the server. ", reload);
  }
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  say(byId("server"), named(s.server.name), ", started at ", at(s.server.started), `. Times are of ${zone}${zone === "UTC" ? "" : "; point at one for UTC"}. As of `, at(s.time), ".");
}

// ---- Sections ----

function showFallbacks(s) {
  const create = (f) => make("li", { "data-field": f.field, "data-policy": f.policy });
  keyed(byId("fallbacks"), s.fallbacks.toSorted((a, b) => Date.parse(a.since) - Date.parse(b.since)), keyOfField, create, (node, f) => {
    const policy = f.field ? [" (", named(f.policy), ")"] : [];
    say(node, "↪ ", callerOf(f), ...policy, ` is answered by its fallback, for ${f.for}, since `, at(f.since), ` (${age(f.since)}): ${plural(f.count, "time")}, last ${ago(f.last)}.`);
  });
}

const keyOfField = (f) => `${f.policy}\n${f.field}`;

function showBreakers(s) {
  const sorted = troubledFirst(s.circuitBreakers, (b) => b.state !== "closed", (b) => b.name);
  keyed(byId("breakers"), sorted, (b) => b.name, createBreaker, (card, b) => updateBreaker(card, b, s.events));
}

function createBreaker(b) {
  const card = make("article", { "data-name": b.name, class: "card" });
  const parts = {
    title: make("h3"), state: make("p", { class: "state" }), why: make("p"), strip: makeStrip(), rate: make("p", { class: "fine" }),
    changes: make("ol"), summary: make("summary"), result: make("p", { class: "result", tabindex: "-1", hidden: "" }),
  };
  card.parts = parts;
  parts.details = make("details", {}, parts.summary, parts.changes);
  say(parts.title, named(b.name));
  card.append(make("div", { class: "top" }, parts.title, parts.state), parts.why, parts.strip, parts.rate, parts.details);
  if (document.body.dataset.control === "true") card.append(makeControls(card), parts.result);
  return card;
}

function updateBreaker(card, b, events) {
  const { parts } = card;
  card.breaker = b;
  setAttribute(card, "data-state", b.state);
  say(parts.state, `${shapes[b.state]} ${b.state}`);
  say(parts.why, ...breakerStory(b, events));
  drawStrip(parts.strip, b);
  say(parts.rate, `${b.failures} of ${plural(b.calls, "call")} failed (${percent(b.failures, b.calls)}) in ${windowText(b)}. Opens at ${b.failureRate} % from ${plural(b.minimumCalls, "call")} on.`);
  setHidden(parts.details, b.changes.length === 0);
  say(parts.summary, b.changes.length >= 10 ? "The last 10 changes" : plural(b.changes.length, "change"));
  while (parts.changes.children.length > b.changes.length) parts.changes.lastChild.remove();
  b.changes.forEach((change, i) => {
    const item = parts.changes.children[i] ?? parts.changes.appendChild(make("li"));
    say(item, at(change.time), ` ${shapes[change.to]} ${change.from} → ${change.to}${reasonText(change.reason)}`);
  });
}

function breakerStory(b, events) {
  if (b.state === "closed") {
    const recovery = recoveryOf(b, events);
    if (!recovery) return ["Closed since ", at(b.since), ` (${age(b.since)})${reasonText(b.reason)}.`];
    return ["Recovered at ", at(recovery.time), ` (${ago(recovery.time)}) after ${recovery.atLeast}${duration(Math.round(recovery.after))}${reasonText(b.reason)}.`];
  }
  const probe = nextProbe(b);
  const outage = outageOf(b, events);
  const begun = [`${probe[0].toUpperCase()}${probe.slice(1)}. Broke ${outage.known ? "at" : "before"} `, at(outage.since), ` (${ago(outage.since)})${reasonText(outage.reason)}.`];
  if (outage.since === b.since) return begun;
  return b.state === "open" ? [...begun, " Opened again at ", at(b.since), `${reasonText(b.reason)}.`] : [...begun, " Half-open since ", at(b.since), "."];
}

const windowText = (b) => (b.windowDuration ? `the last ${duration(b.windowDuration)}` : `the last ${plural(b.windowCalls, "call")}`);

// A failed call is a tall bar with a gap in it and a good one a low bar, so that the shape tells without the colour.
function makeStrip() {
  return makeSVG("svg", { class: "strip", role: "img", preserveAspectRatio: "none" },
    makeSVG("path", { class: "axis" }), makeSVG("path", { class: "good" }), makeSVG("path", { class: "bad" }));
}

const stripColumns = 60; // more would be too thin to tell from each other

function drawStrip(svg, b) {
  const slots = Math.max(b.windowDuration ? b.window.length : b.windowCalls, 1);
  const group = Math.ceil(slots / stripColumns);
  const columns = [];
  for (let end = b.window.length; end > 0; end -= group) {
    const parts = b.window.slice(Math.max(0, end - group), end);
    columns.unshift({ calls: sum(parts.map((p) => p.calls)), failures: sum(parts.map((p) => p.failures)) });
  }
  const count = Math.ceil(slots / group);
  const most = Math.max(1, ...columns.map((c) => c.calls));
  const single = !b.windowDuration && group === 1;
  let good = "";
  let bad = "";
  columns.forEach((column, i) => {
    const x = 10 * (count - columns.length + i) + 1;
    const fine = column.calls - column.failures;
    if (single) {
      if (column.failures) bad += bar(x, 8, 11, 1) + bar(x, 8, 11, 16);
      else good += bar(x, 8, 11, 1);
      return;
    }
    const height = (22 * fine) / most;
    if (fine) good += bar(x, 8, height, 1);
    if (column.failures) bad += bar(x, 8, Math.max(3, (22 * column.failures) / most), height + 3);
  });
  setAttribute(svg, "viewBox", `0 0 ${10 * count} 30`);
  setAttribute(svg.children[0], "d", `M0 29.5H${10 * count}`);
  setAttribute(svg.children[1], "d", good);
  setAttribute(svg.children[2], "d", bad);
  const latest = columns.length && single ? `, the latest ${columns.at(-1).failures ? "failed" : "did not fail"}` : "";
  setAttribute(svg, "aria-label", `Window of ${plain(named(b.name))}: ${b.failures} of ${plural(b.calls, "call")} failed${latest}.`);
}

// bar is one of a strip or chart that is 30 high, so far above its axis.
const bar = (x, width, height, above) => `M${x} ${(29 - above).toFixed(1)}v${(-height).toFixed(1)}h${width}v${height.toFixed(1)}z`;

const errorsOf = (got) => Object.entries(got).filter(([sort]) => !["answer", "fallback", "clientError", "cancelled"].includes(sort));
const isTroubledField = (f) => f.lastProblem !== null && secondsBetween(f.lastProblem, now) < 60;

function showFields(s) {
  keyed(byId("fields"), troubledFirst(s.fields, isTroubledField, (f) => f.field || f.policy), keyOfField, createField, updateField);
}

function createField(f) {
  const cells = [make("th", { scope: "row" }), ...Array.from({ length: 7 }, () => make("td"))];
  cells[1].className = cells[2].className = "number";
  return make("tr", { "data-field": f.field, "data-policy": f.policy }, ...cells);
}

function updateField(row, f) {
  const [field, answers, fallbacks, errors, lastProblem, lastAnswer, others, policy] = row.children;
  const sorts = errorsOf(f.got);
  const failed = sum(sorts.map(([, n]) => n));
  const uncounted = [f.got.clientError && plural(f.got.clientError, "client error"), f.got.cancelled && `${f.got.cancelled} cancelled`].filter(Boolean);
  setAttribute(row, "data-troubled", isTroubledField(f));
  say(field, isTroubledField(f) ? "⚠ " : "", callerOf(f));
  say(answers, String(f.got.answer ?? 0));
  say(fallbacks, String(f.got.fallback ?? 0));
  say(errors, failed ? `${percent(failed, sum(Object.values(f.got)))} failed: ${sorts.map(([sort, n]) => `${n} ${sort}`).join(", ")}` : nothing);
  say(lastProblem, ...(f.lastProblem ? [at(f.lastProblem), ` (${ago(f.lastProblem)}): ${f.problem}`] : [never]));
  say(lastAnswer, ...(f.lastAnswer ? [at(f.lastAnswer), ` (${ago(f.lastAnswer)})`] : [never]));
  say(others, uncounted.join(", ") || nothing);
  say(policy, named(f.policy));
}

function showBulkheads(s) {
  const isFull = (b) => b.running >= b.maxConcurrent;
  keyed(byId("bulkheads"), troubledFirst(s.bulkheads, (b) => isFull(b) || b.rejected > 0, (b) => b.name), (b) => b.name, createLoad, (card, b) => {
    const queueFull = isFull(b) && b.queued >= b.maxQueue;
    const queue = b.maxQueue ? `${b.queued} of ${b.maxQueue} queued` : "no queue";
    updateLoad(card, b.name, queueFull ? "✕ full, rejects" : isFull(b) ? "◐ full, queues" : "✓ free", queueFull ? "open" : isFull(b) ? "half-open" : "closed", b.running / b.maxConcurrent,
      `${b.running} of ${b.maxConcurrent} running, ${queue}. ${b.rejected ? `${b.rejected} rejected` : "None rejected"} in five minutes.`);
  });
}

function showLimiters(s) {
  const isEmpty = (l) => l.available < 1;
  keyed(byId("limiters"), troubledFirst(s.rateLimiters, (l) => isEmpty(l) || l.rejected > 0, (l) => l.name), (l) => l.name, createLoad, (card, l) => {
    const used = Math.max(0, l.burst - Math.floor(l.available));
    updateLoad(card, l.name, isEmpty(l) ? "✕ used up" : "✓ free", isEmpty(l) ? "open" : "closed", used / l.burst,
      `${used} of ${plural(l.burst, "permit")} used; ${l.limit} come back per ${duration(l.interval)}. ${l.rejected ? `${l.rejected} rejected` : "None rejected"} in five minutes.`);
  });
}

function createLoad(item) {
  const card = make("article", { "data-name": item.name, class: "card" });
  card.parts = { title: make("h3"), state: make("p", { class: "state" }), text: make("p", { class: "fine" }), load: makeSVG("path", { class: "load" }) };
  const meter = makeSVG("svg", { class: "meter", "aria-hidden": "true", viewBox: "0 0 100 8", preserveAspectRatio: "none" }, card.parts.load);
  card.append(make("div", { class: "top" }, card.parts.title, card.parts.state), meter, card.parts.text);
  return card;
}

function updateLoad(card, name, word, state, load, text) {
  setAttribute(card, "data-state", state);
  say(card.parts.title, named(name));
  say(card.parts.state, word);
  setAttribute(card.parts.load, "d", `M0 0H${(100 * Math.min(1, load || 0)).toFixed(1)}V8H0z`);
  say(card.parts.text, text);
}

// ---- Charts ----

const chartNames = ["calls", "failures", "retries", "durations"];

function showPolicies(s) {
  const troubles = new Map(s.policies.map((p) => [p, policyTrouble(p, s)]));
  const sorted = troubledFirst(s.policies, (p) => troubles.get(p) !== "", (p) => p.name);
  keyed(byId("policies"), sorted, (p) => p.name, createPolicy, (card, p) => updatePolicy(card, p, s, troubles.get(p)));
}

function policyTrouble(p, s) {
  const broken = breakersOf(p.name, s).find((b) => b.state !== "closed");
  if (broken) return `${shapes[broken.state]} circuit ${broken.state}`;
  return failingSince(p, s) ? "⚠ failing" : "";
}

function createPolicy(p) {
  const card = make("article", { "data-name": p.name, class: "card policy" });
  card.parts = { title: make("h3"), state: make("p", { class: "state" }), from: make("span"), to: make("span") };
  const charts = chartNames.map((chart) => {
    const caption = make("figcaption");
    const svg = makeSVG("svg", { class: "chart", role: "img", preserveAspectRatio: "none" },
      ...["outage", "axis", "first", "second"].map((layer) => makeSVG("path", { class: layer })));
    card.parts[chart] = { caption, svg };
    return make("figure", { class: chart }, caption, svg, make("p", { class: "span" }, make("span"), make("span")));
  });
  card.append(make("div", { class: "top" }, card.parts.title, card.parts.state), make("div", { class: "charts" }, ...charts));
  say(card.parts.title, named(p.name));
  return card;
}

function updatePolicy(card, p, s, trouble) {
  const { parts } = card;
  const { total } = p;
  const outages = breakersOf(p.name, s).flatMap((b) => outagesIn(b, s.history));
  setAttribute(card, "data-troubled", trouble !== "");
  say(parts.state, trouble);
  const most = (counts) => (Math.max(...counts) > 0 ? `, most in ${duration(s.history.step)}: ${Math.max(...counts)}` : "");
  const peak = Math.max(0, ...p.p99.filter((v) => v !== null));
  const percentiles = total.p50 === null ? "no calls" : `p50 ${duration(total.p50)}, p99 ${duration(total.p99)}`;
  drawChart(parts.calls, p, s.history, outages, [strong(total.calls), ` ${total.calls === 1 ? "call" : "calls"}${most(p.calls)}`], bars(p.calls));
  const problems = p.failures.map((n, i) => n + p.fallbacks[i]);
  drawChart(parts.failures, p, s.history, outages, [strong(total.failures), ` ${total.failures === 1 ? "failure" : "failures"} ■, `, strong(total.fallbacks), ` ${total.fallbacks === 1 ? "fallback" : "fallbacks"} □`],
    stackedBars(p.failures, p.fallbacks, Math.max(...problems)));
  drawChart(parts.retries, p, s.history, outages, [strong(total.retries), ` ${total.retries === 1 ? "retry" : "retries"}${most(p.retries)}`], bars(p.retries));
  drawChart(parts.durations, p, s.history, outages, [percentiles, peak > 0 ? `, highest ${duration(peak)}` : ""], [steps(p.p50, peak), steps(p.p99, peak)]);
}

function drawChart({ caption, svg }, p, history, outages, text, layers) {
  const columns = p.calls.length;
  say(caption, ...text);
  setAttribute(svg, "viewBox", `0 0 ${2 * columns} 30`);
  const dark = outages.map(([from, to]) => `M${(2 * from).toFixed(1)} 0H${(2 * to).toFixed(1)}V29H${(2 * from).toFixed(1)}z`).join("");
  [dark, `M0 29.5H${2 * columns}`, ...layers].forEach((path, i) => setAttribute(svg.children[i], "d", path));
  const [from, to] = svg.nextSibling.children;
  say(from, at(history.from));
  say(to, at(now));
  setAttribute(svg, "aria-label", `${plain(named(p.name), ", last five minutes: ", ...text).replace(/ [■□]/g, "")}.${outages.length ? " The circuit was not closed for a part of it." : ""}`);
}

// outagesIn are the times in which a breaker was not closed, in columns from the first one.
function outagesIn(breaker, history) {
  const column = (iso) => Math.max(0, (Date.parse(iso) - Date.parse(history.from)) / 1000 / history.step);
  const spans = [];
  let end = breaker.state === "closed" ? null : column(now);
  for (const change of breaker.changes) {
    if (change.to === "closed") end = column(change.time);
    if (change.from === "closed" && end !== null) {
      spans.push([column(change.time), end]);
      end = null;
    }
  }
  if (end !== null) spans.push([breaker.changes.length >= 10 ? 0 : column(breaker.changes.at(-1)?.time ?? breaker.since), end]);
  return spans.filter(([from, to]) => to > from);
}

const scaled = (n, most) => (n > 0 ? Math.max(1.5, (28 * n) / most) : 0);

function bars(counts) {
  const most = Math.max(...counts);
  return [counts.map((n, i) => (n > 0 ? bar(2 * i + 0.2, 1.6, scaled(n, most), 0) : "")).join(""), ""];
}

// stackedBars has failures below and fallbacks, drawn hollow, above.
function stackedBars(failures, fallbacks, most) {
  const height = failures.map((n) => (25 / 28) * scaled(n, most));
  return [
    failures.map((n, i) => (n > 0 ? bar(2 * i + 0.2, 1.6, height[i], 0) : "")).join(""),
    fallbacks.map((n, i) => (n > 0 ? bar(2 * i + 0.4, 1.2, (25 / 28) * scaled(n, most), height[i] + 1.5) : "")).join(""),
  ];
}

// steps is a line that is broken where there were no calls.
function steps(values, peak) {
  return values.map((v, i) => {
    if (v === null) return "";
    const y = (28 - (26 * v) / (peak || 1)).toFixed(1);
    return `${i > 0 && values[i - 1] !== null ? "L" : "M"}${2 * i} ${y}h2`;
  }).join("");
}

// ---- Events ----

const eventWords = {
  retry: "↻ retry", timeout: "! timeout", "circuit-open": "✕ circuit opened", "circuit-half-open": "◐ circuit half-open",
  "circuit-closed": "✓ circuit closed", "circuit-rejected": "⊘ rejected: circuit open", "bulkhead-rejected": "⊘ rejected: bulkhead full",
  "rate-limited": "⊘ rejected: rate limited", fallback: "↪ fallback", abandoned: "⚠ abandoned",
};

function showEvents(s) {
  const section = byId("events");
  const keyOfEvent = (e) => [e.time, e.kind, e.policy, e.field, e.gate, e.attempt, e.from, e.to, e.reason, e.error].join("\n");
  const create = (e) => make("tr", { "data-kind": e.kind }, make("td"), make("th", { scope: "row" }), make("td"), make("td"));
  const waiting = keyed(section, s.events, keyOfEvent, create, (row, e) => {
    const [time, kind, where, why] = row.children;
    say(time, at(e.time), ...(clock(e.last) === clock(e.time) ? [] : [" – ", at(e.last)]));
    say(kind, eventWords[e.kind] ?? e.kind, e.count > 1 ? ` × ${e.count}` : "");
    say(where, ...(e.field ? [named(e.field), " "] : []), ...(e.policy && e.policy !== e.field ? [e.field ? "by " : "", named(e.policy)] : []), ...(e.gate && e.gate !== e.policy ? [e.policy || e.field ? " at " : "", named(e.gate)] : []));
    const told = [e.attempt ? `attempt ${e.attempt}` : "", e.from && e.to ? `${e.from} → ${e.to}` : "", e.reason ?? "", e.error ?? ""];
    say(why, told.filter(Boolean).join("; "));
  });
  const note = section.querySelector(".waiting");
  setHidden(note, waiting === 0);
  say(note, `Held still while the pointer or the focus is here: ${plural(waiting, "newer event waits", "newer events wait")}.`);
}

// ---- Plan ----

const breakersPlanned = new Map(); // names, by policy

function showPlan(plan) {
  breakersPlanned.clear();
  for (const f of plan.fields) breakersPlanned.set(f.policy, (breakersPlanned.get(f.policy) ?? new Set()).add(f.circuitBreaker));
  const { budget } = plan;
  const section = byId("plan");
  const limits = budget ? [budget.timeout && `at most ${budget.timeout}`, budget.header && `or less by the header ${budget.header}`,
    budget.retries !== undefined && plural(budget.retries, "retry", "retries"), budget.concurrency && `${plural(budget.concurrency, "attempt")} at once`].filter(Boolean) : [];
  say(section.querySelector(".budget"), limits.length ? `Budget of an operation: ${limits.join(", ")}.` : "Operations have no budget.");
  keyed(section, plan.fields, (f) => f.field, createPlanned, updatePlanned);
}

function createPlanned(f) {
  const row = make("tr", { "data-field": f.field }, make("th", { scope: "row" }), ...Array.from({ length: 7 }, () => make("td")));
  row.parts = { field: make("span"), summary: make("summary"), settings: make("dl") };
  row.parts.details = make("details", {}, row.parts.summary, row.parts.settings);
  row.parts.details.addEventListener("toggle", () => showSettings(row)); // hundreds of fields have thousands of settings
  row.firstChild.append(row.parts.field, row.parts.details);
  return row;
}

function updatePlanned(row, f) {
  const [, policy, worst, timeout, attempts, gates, fallbacks, by] = row.children;
  const { worstCase, attempts: a } = f;
  row.planned = f;
  say(row.parts.field, named(f.field));
  say(row.parts.summary, plural(f.settings.length, "setting"), { tag: "span", text: ` of ${f.field}`, attributes: { class: "unseen" } });
  showSettings(row);
  say(policy, named(f.policy));
  const slower = worstCase.duration !== worstCase.withoutRetryAfter && worstCase.withoutRetryAfter;
  say(worst, worstCase.unbounded ? `⚠ no bound: ${worstCase.unbounded}` : slower ? `${worstCase.withoutRetryAfter} (${worstCase.duration} with Retry-After)` : worstCase.duration ?? "not known");
  say(timeout, f.timeout ? [f.timeout.duration, f.timeout.total && `${f.timeout.total} in total`, f.timeout.mode].filter(Boolean).join(", ") : "none");
  say(attempts, String(a.query ?? a.mutation ?? "none"), a.mutation !== undefined && a.query !== undefined && a.mutation !== a.query ? ` (${a.mutation} in mutations and subscriptions)` : "");
  const gate = (word, name) => (name ? [`${word} `, named(name), "; "] : []);
  const all = [...gate("breaker", f.circuitBreaker), ...gate("bulkhead", f.bulkhead), ...gate("rate limiter", f.rateLimit)];
  say(gates, ...(all.length ? all.slice(0, -1) : ["none"]));
  const fallback = (one) => [one.func ?? (one.maxAge ? `the last good value, up to ${one.maxAge} old` : one.origin), one.when?.length ? `if ${one.when.join(" or ")}` : ""].filter(Boolean).join(", ");
  say(fallbacks, f.fallbacks?.map(fallback).join("; then ") || "none");
  say(by, [f.origin, f.hookedIn, f.takesAlong && `takes along ${f.takesAlong.join(", ")}`, f.looksLikeData && "looks like plain data"].filter(Boolean).join("; "));
}

const valueText = (value) => (value instanceof Object ? Object.entries(value).map(([key, one]) => `${key} ${one}`).join(", ") : String(value));

function showSettings(row) {
  const { details, settings } = row.parts;
  if (!details.open || settings.shown === row.planned) return;
  settings.shown = row.planned;
  settings.replaceChildren(...row.planned.settings.map((one) => make("div", {}, make("dt", {}, one.path), make("dd", {}, `${valueText(one.value)} `, make("span", { class: "fine" }, one.origin)))));
}

// ---- Controls ----

const controls = {
  trip: ["Trip", (b) => ["Opens ", named(b.name), ` for ${duration(b.openDuration)}: its calls are rejected, or answered by a fallback where there is one.`]],
  reset: ["Reset", (b) => ["Closes ", named(b.name), " and empties its window: its calls go to the dependency at once."]],
};

function makeControls(card) {
  const buttons = Object.entries(controls).map(([action, [word]]) => {
    const button = make("button", { type: "button", "data-action": action });
    say(button, `${word}…`, { tag: "span", text: ` ${card.dataset.name}`, attributes: { class: "unseen" } });
    button.addEventListener("click", () => ask(card, action));
    return button;
  });
  return make("p", { class: "buttons" }, ...buttons);
}

function ask(card, action) {
  const [word, consequence] = controls[action];
  const dialog = byId("confirm");
  say(byId("confirm-title"), `${word} `, named(card.dataset.name), "?");
  say(byId("confirm-text"), ...consequence(card.breaker));
  say(byId("confirm-yes"), word);
  byId("confirm-no").onclick = () => dialog.close();
  byId("confirm-yes").onclick = () => {
    dialog.close();
    order(card, action);
  };
  dialog.showModal();
}

async function order(card, action) {
  const { result } = card.parts;
  setHidden(result, false);
  say(result, `${controls[action][0]}: asking the server…`);
  try {
    const answer = await fetch(action, {
      method: "POST", credentials: "same-origin", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ circuitBreaker: card.dataset.name }),
      signal: AbortSignal.timeout(10000),
    });
    const refusal = answer.ok ? "" : (await answer.text()).trim().slice(0, 500) || `the server answered ${answer.status}`;
    say(result, ...(refusal ? [`✕ ${controls[action][0]} was refused: ${refusal}`] : [`✓ ${action === "trip" ? "Tripped" : "Reset"} at `, at(now), "."]));
  } catch (failure) {
    say(result, `✕ ${controls[action][0]}: no answer (${failure.message}); it may or may not have happened.`);
  }
  // A screen reader that is still here reads where the focus goes; the only live region is the headline.
  if (card.contains(document.activeElement)) result.focus();
}

// ---- Connection ----

const silence = 5000; // after which a connection is taken to be dead; a proxy may hold one open that nothing comes through

let source = null;
let heardAt = 0;
let tries = 0;
let retryTimer = 0;
let connected = false;
let last = null; // snapshot

function connect() {
  retryTimer = 0;
  heardAt = performance.now();
  source = new EventSource("stream");
  source.addEventListener("plan", (message) => showPlan(JSON.parse(message.data)));
  source.addEventListener("snapshot", (message) => {
    last = JSON.parse(message.data);
    heardAt = performance.now();
    tries = 0;
    connected = true;
    show(last);
  });
  source.addEventListener("error", () => {
    showLost();
    // The browser tries again by itself unless the answer was no stream, as a proxy's 502 is: that ends it for good.
    if (source.readyState === EventSource.CLOSED) reconnect();
  });
}

function reconnect() {
  source.close();
  if (retryTimer) return;
  const delay = Math.min(10000, 1000 * 2 ** tries++);
  retryTimer = setTimeout(connect, delay * (0.75 + Math.random() / 4)); // at most ten seconds, and not all pages at once
}

function watch() {
  if (retryTimer || performance.now() - heardAt < silence) return;
  showLost();
  reconnect();
}

function show(s) {
  now = s.time;
  setAttribute(document.body, "data-connected", "true");
  setHidden(byId("known"), false);
  setHidden(byId("contents"), false);
  say(byId("connection"), "");
  for (const section of [showStatus, showFallbacks, showBreakers, showFields, showBulkheads, showLimiters, showPolicies, showEvents]) section(s);
}

function showLost() {
  if (!connected && last) return;
  connected = false;
  setAttribute(document.body, "data-connected", "false");
  if (!last) {
    say(byId("headline"), "Connecting… The server does not answer yet.");
    return;
  }
  say(byId("connection"), "⚠ Not connected since ", at(last.time), ": what is below is as of then. Trying again.");
  showStatus(last);
}

setInterval(watch, 1000);
document.addEventListener("visibilitychange", () => document.hidden || watch()); // timers are late in the background
connect();
