function showFallbacks(s) {
  const create = (f) => make("li", { "data-field": f.field, "data-policy": f.policy });
  keyed(byId("fallbacks"), s.fallbacks.toSorted((a, b) => Date.parse(a.since) - Date.parse(b.since)), keyOfField, create, (node, f) => {
    const policy = f.field ? [" (", named(f.policy), ")"] : [];
    say(node, "↪ ", callerOf(f), ...policy, " is answered by its fallback, for ", quoted(f.for), ", since ", at(f.since), ` (${age(f.since)}): ${plural(f.count, "time")}, the last one ${ago(f.last)}.`);
  });
}
