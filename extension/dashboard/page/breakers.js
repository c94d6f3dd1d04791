function showBreakers(s) {
  const sorted = troubledFirst(s.circuitBreakers, (b) => b.state !== "closed", (b) => b.name);
  keyed(byId("breakers"), sorted, (b) => b.name, createBreaker, updateBreaker);
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

function updateBreaker(card, b) {
  const { parts } = card;
  card.breaker = b;
  setAttribute(card, "data-state", b.state);
  say(parts.state, `${shapes[b.state]} ${b.state}`);
  say(parts.why, ...breakerStory(b));
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

function breakerStory(b) {
  if (b.state === "closed") {
    const outage = recoveryOf(b);
    if (!outage) return ["Closed since ", at(b.since), ` (${age(b.since)})${reasonText(b.reason)}.`];
    return ["Recovered at ", at(outage.ended), ` (${ago(outage.ended)}) after ${lengthOf(outage)}${reasonText(b.reason)}.`];
  }
  const probe = nextProbe(b);
  const { began, reason } = outageOf(b);
  const begun = [`${probe[0].toUpperCase()}${probe.slice(1)}. Broke at `, at(began), ` (${ago(began)})${reasonText(reason)}.`];
  if (began === b.since) return begun;
  return b.state === "open" ? [...begun, " Opened again at ", at(b.since), `${reasonText(b.reason)}.`] : [...begun, " Half-open since ", at(b.since), "."];
}

const windowText = (b) => (b.windowDuration ? `the last ${duration(b.windowDuration)}` : `the last ${plural(b.windowCalls, "call")}`);

function nextProbe(breaker) {
  if (breaker.state === "half-open") return breaker.probes > 0 ? `${plural(breaker.probes, "probe")} running` : "the next call is a probe";
  return breaker.retryAfter > 0 ? `next probe in ${left(breaker.retryAfter)}` : "the next call is a probe";
}
