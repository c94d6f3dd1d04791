const eventWords = {
  retry: "↻ retry", timeout: "! timeout", "circuit-open": "✕ circuit opened", "circuit-half-open": "◐ circuit half-open",
  "circuit-closed": "✓ circuit closed", "circuit-rejected": "⊘ rejected: circuit open", "bulkhead-rejected": "⊘ rejected: bulkhead full",
  "rate-limited": "⊘ rejected: rate limited", fallback: "↪ fallback", abandoned: "⚠ abandoned",
};

function showEvents(s) {
  const section = byId("events");
  // The attempt is the last one's of those that are told together, and changes.
  const keyOfEvent = (e) => [e.time, e.kind, e.policy, e.field, e.gate, e.from, e.to, e.reason, e.error].join("\n");
  const create = (e) => make("tr", { "data-kind": e.kind }, make("td"), make("th", { scope: "row" }), make("td"), make("td"));
  const waiting = keyed(section, s.events, keyOfEvent, create, (row, e) => {
    const [time, kind, where, why] = row.children;
    say(time, at(e.time), ...(clock(e.last) === clock(e.time) ? [] : [" – ", at(e.last)]));
    say(kind, eventWords[e.kind] ?? e.kind, e.count > 1 ? ` × ${e.count}` : "");
    say(where, ...(e.field ? [named(e.field), " "] : []), ...(e.policy && e.policy !== e.field ? [e.field ? "by " : "", named(e.policy)] : []), ...(e.gate && e.gate !== e.policy ? [e.policy || e.field ? " at " : "", named(e.gate)] : []));
    const told = [e.attempt ? `attempt ${e.attempt}` : "", e.from && e.to ? `${e.from} → ${e.to}` : "", e.reason].filter(Boolean).join("; ");
    say(why, told, told && e.error ? "; " : "", e.error ? quoted(e.error) : "");
  });
  const note = section.querySelector(".waiting");
  setHidden(note, waiting === 0);
  say(note, `Held still while the pointer or the focus is here: ${plural(waiting, "newer event waits", "newer events wait")}.`);
}
