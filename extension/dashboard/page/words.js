// What say and plain take in place of a string.
const named = (text) => ({ tag: "bdi", text, attributes: { class: "name" } });
const quoted = (text) => ({ tag: "bdi", text, attributes: { class: "quoted" } }); // may run from right to left, as a name may
const faint = (text) => ({ tag: "span", text, attributes: { class: "fine" } });
const nothing = faint("none");
const never = faint("never");
const strong = (text) => ({ tag: "b", text: String(text) });
const at = (iso) => ({ tag: "time", text: clock(iso), attributes: { datetime: iso, title: new Date(iso).toISOString().replace("T", " ") } });

const secondsBetween = (from, to) => Math.max(0, (new Date(to) - new Date(from)) / 1000);
const percent = (part, whole) => (part > 0 && part * 200 < whole ? "< 1 %" : `${whole > 0 ? Math.round((100 * part) / whole) : 0} %`);
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

const shapes = { closed: "✓", open: "✕", "half-open": "◐" };

// callerOf is a field, or the policy of a job that has no name.
const callerOf = (item) => named(item.field || item.policy);

const keyOfField = (f) => `${f.policy}\n${f.field}`;
