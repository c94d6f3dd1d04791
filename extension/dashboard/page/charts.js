function drawChart({ caption, svg }, p, history, outages, text, layers) {
  const columns = p.calls.length;
  say(caption, ...text);
  setAttribute(svg, "viewBox", `0 0 ${2 * columns} 30`);
  const dark = outages.map(([from, to]) => `M${(2 * from).toFixed(1)} 0H${(2 * to).toFixed(1)}V29H${(2 * from).toFixed(1)}z`).join("");
  [dark, `M0 29.5H${2 * columns}`, ...layers].forEach((path, i) => setAttribute(svg.children[i], "d", path));
  const [from, to] = svg.nextSibling.children;
  say(from, at(history.from));
  say(to, at(now));
  setAttribute(svg, "aria-label", `${plain(named(p.name), ", last five minutes: ", ...text).replace(/ [■□]/g, "")}.${outages.length ? " The circuit was not closed for a part of it." : ""}`);
}

const scaled = (n, most) => (n > 0 ? Math.max(1.5, (28 * n) / most) : 0);

function bars(counts) {
  const most = Math.max(...counts);
  return [counts.map((n, i) => (n > 0 ? bar(2 * i + 0.2, 1.6, scaled(n, most), 0) : "")).join(""), ""];
}

// stackedBars has failures below and fallbacks, drawn hollow, above.
function stackedBars(failures, fallbacks, most) {
  const height = failures.map((n) => (25 / 28) * scaled(n, most));
  return [
    failures.map((n, i) => (n > 0 ? bar(2 * i + 0.2, 1.6, height[i], 0) : "")).join(""),
    fallbacks.map((n, i) => (n > 0 ? bar(2 * i + 0.4, 1.2, (25 / 28) * scaled(n, most), height[i] + 1.5) : "")).join(""),
  ];
}

// steps is a line that is broken where there were no calls.
function steps(values, peak) {
  return values.map((v, i) => {
    if (v === null) return "";
    const y = (28 - (26 * v) / (peak || 1)).toFixed(1);
    return `${i > 0 && values[i - 1] !== null ? "L" : "M"}${2 * i} ${y}h2`;
  }).join("");
}

// bar is one of a strip or chart that is 30 high, so far above its axis.
const bar = (x, width, height, above) => `M${x} ${(29 - above).toFixed(1)}v${(-height).toFixed(1)}h${width}v${height.toFixed(1)}z`;
