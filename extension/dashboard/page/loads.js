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
    const used = l.burst - l.available;
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
