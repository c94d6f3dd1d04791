// summarize says in sentences how things are. Nothing in them counts on, so that they change only when something happens.
function summarize(s) {
  const broken = troubledFirst(s.circuitBreakers.filter((b) => b.state !== "closed"), (b) => b.state === "open", (b) => b.name);
  const failing = s.policies.filter((p) => !breakersOf(p, s).some((b) => b.state !== "closed") && failingSince(p, s));
  const recovered = s.circuitBreakers.filter(recoveryOf).sort((a, b) => Date.parse(b.outage.ended) - Date.parse(a.outage.ended));
  const sentences = [...breakerSentences(broken, s), ...failing.slice(0, 3).map((p) => failingSentence(p, s))];
  if (failing.length > 3) sentences.push([`Calls of ${failing.length - 3} more policies fail.`]);
  const [one, other] = s.fallbacks;
  if (s.fallbacks.length > 2) sentences.push([`${s.fallbacks.length} fields are answered by their fallbacks.`]);
  else if (other) sentences.push([callerOf(one), " and ", callerOf(other), " are answered by their fallbacks."]);
  else if (one) sentences.push([callerOf(one), " is answered by its fallback."]);
  sentences.push(...recovered.slice(0, 2).map((b) => [named(b.name), " recovered at ", at(b.outage.ended), ` after ${lengthOf(b.outage)}.`]));
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
    const { began, reason } = outageOf(b);
    return [named(b.name), b.state === "open" ? ": open since " : ": half-open, a probe decides; not closed since ", at(began), `${reasonText(reason)}.`];
  });
  if (broken.length > 3) sentences.push([`${broken.length - 3} more of ${count} circuit breakers are not closed.`]);
  return sentences;
}

function failingSentence(policy, s) {
  const { time, longer } = failingSince(policy, s);
  return ["Calls of ", named(policy.name), " fail, ", ...(longer ? ["for about five minutes or longer."] : ["since about ", at(time), "."])];
}

function showStatus(s) {
  const { level, broken, sentence } = summarize(s);
  const shape = { good: "✓", warning: "!", bad: "✕" }[level];
  setAttribute(byId("status"), "data-level", level);
  say(byId("headline"), ...(connected ? [] : ["Not connected; last known: "]), ...sentence);
  say(byId("shape"), shape);
  say(byId("countdown"), ...broken.slice(0, 3).flatMap((b) => [named(b.name), `: ${age(outageOf(b).began)} so far, ${nextProbe(b)}. `]));
  const title = `${connected ? shape : "? Not connected;"} ${plain(sentence)}`;
  const short = title.length > 150 ? `${title.slice(0, 150)}…` : title;
  if (document.title !== short) document.title = short;
  showIcon(connected ? level : "unknown");
  showNotes(s);
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
