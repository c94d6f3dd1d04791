const chartNames = ["calls", "failures", "retries", "durations"];

function showPolicies(s) {
  const troubles = new Map(s.policies.map((p) => [p, policyTrouble(p, s)]));
  const sorted = troubledFirst(s.policies, (p) => troubles.get(p) !== "", (p) => p.name);
  keyed(byId("policies"), sorted, (p) => p.name, createPolicy, (card, p) => updatePolicy(card, p, s, troubles.get(p)));
}

function policyTrouble(p, s) {
  const broken = breakersOf(p, s).find((b) => b.state !== "closed");
  if (broken) return `${shapes[broken.state]} circuit ${broken.state}`;
  return failingSince(p, s) ? "⚠ failing" : "";
}

function createPolicy(p) {
  const card = make("article", { "data-name": p.name, class: "card policy" });
  card.parts = { title: make("h3"), state: make("p", { class: "state" }) };
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
  const outages = breakersOf(p, s).flatMap((b) => outagesIn(b, s.history));
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
