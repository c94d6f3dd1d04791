const breakersPlanned = new Map(); // names, by policy

// showPlan shows the plan: null if the server has none to show, with an error alone if it can not tell.
function showPlan(plan) {
  const { fields = [], budget, error } = plan ?? {};
  breakersPlanned.clear();
  for (const f of fields) breakersPlanned.set(f.policy, (breakersPlanned.get(f.policy) ?? new Set()).add(f.circuitBreaker));
  const section = byId("plan");
  const limits = budget ? [budget.timeout && `at most ${budget.timeout}`, budget.header && `or less by the header ${budget.header}`,
    budget.retries !== undefined && plural(budget.retries, "retry", "retries"), budget.concurrency && `${plural(budget.concurrency, "attempt")} at once`].filter(Boolean) : [];
  const none = error ? ["The server can not tell the plan: ", named(error)] : [plan ? "No field is protected." : "The server shows no plan."];
  say(section.querySelector(".none"), ...none);
  say(section.querySelector(".budget"), limits.length ? `Budget of an operation: ${limits.join(", ")}.` : plan && !error ? "Operations have no budget." : "");
  keyed(section, fields, (f) => f.field, createPlanned, updatePlanned);
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
  const fallback = (one, i) => [i > 0 ? "; then " : "", one.maxAge ? `the last good value, up to ${one.maxAge} old` : quoted(one.func ?? one.origin), one.when?.length ? `, if ${one.when.join(" or ")}` : ""];
  say(fallbacks, ...(f.fallbacks?.flatMap(fallback) ?? [nothing]));
  say(by, quoted(f.origin), "; ", [f.hookedIn, f.takesAlong && `takes along ${f.takesAlong.join(", ")}`, f.looksLikeData && "looks like plain data"].filter(Boolean).join("; "));
}

const valueText = (value) => (value instanceof Object ? Object.entries(value).map(([key, one]) => `${key} ${one}`).join(", ") : String(value));

function showSettings(row) {
  const { details, settings } = row.parts;
  if (!details.open || settings.shown === row.planned) return;
  settings.shown = row.planned;
  settings.replaceChildren(...row.planned.settings.map((one) => make("div", {}, make("dt", {}, one.path), make("dd", {}, make("bdi", {}, valueText(one.value)), " ", make("span", { class: "fine" }, one.origin)))));
}
