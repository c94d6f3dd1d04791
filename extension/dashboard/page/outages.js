// outageOf is what a breaker that is not closed is in. One that opened before anybody listened is known since its last change.
const outageOf = (breaker) => (breaker.outage?.ended === null ? breaker.outage : { began: breaker.since, reason: breaker.reason });

// recoveryOf is the outage that a breaker recovered from within the last hour, null without one.
function recoveryOf(breaker) {
  const { state, outage } = breaker;
  return state === "closed" && outage?.ended && secondsBetween(outage.ended, now) < 3600 ? outage : null;
}

const lengthOf = (outage) => duration(Math.round(secondsBetween(outage.began, outage.ended)));

// outagesIn are the times in which a breaker was not closed, in columns of the charts. The last outage may have begun
// before the oldest change, and others are among the changes; some tell of the same time.
function outagesIn(breaker, history) {
  const column = (iso) => Math.max(0, (Date.parse(iso) - Date.parse(history.from)) / 1000 / history.step);
  const { changes, state } = breaker;
  const last = state === "closed" ? breaker.outage : outageOf(breaker);
  const spans = changes.map((change, i) => [change.time, changes[i - 1]?.time]).filter((_, i) => changes[i].to !== "closed");
  if (last) spans.push([last.began, last.ended]);
  return spans.map(([from, to]) => [column(from), column(to ?? now)]).filter(([from, to]) => to > from);
}

// breakersOf are those that a policy's calls go through: its preset's and its fields'.
function breakersOf(policy, s) {
  return s.circuitBreakers.filter((b) => b.name === policy.circuitBreaker || breakersPlanned.get(policy.name)?.has(b.name));
}

// failingSince tells since when a policy's calls fail, null if they do not: of the last minute's, one in ten or more
// and three at least, and not only before its circuit recovered or longer than half a minute ago. Failures less than half
// a minute apart belong together.
function failingSince(policy, s) {
  const { step, from } = s.history;
  const near = 30 / step;
  const columns = policy.failures.length;
  const recovered = breakersOf(policy, s).map((b) => (b.outage?.ended ? Date.parse(b.outage.ended) : 0));
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
