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
