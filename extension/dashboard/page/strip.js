// A failed call is a tall bar with a gap in it and a good one a low bar, so that the shape tells without the colour.
function makeStrip() {
  return makeSVG("svg", { class: "strip", role: "img", preserveAspectRatio: "none" },
    makeSVG("path", { class: "axis" }), makeSVG("path", { class: "good" }), makeSVG("path", { class: "bad" }));
}

const stripColumns = 60; // more would be too thin to tell from each other

function drawStrip(svg, b) {
  const slots = Math.max(b.windowDuration ? b.window.length : b.windowCalls, 1);
  const group = Math.ceil(slots / stripColumns);
  const columns = [];
  for (let end = b.window.length; end > 0; end -= group) {
    const parts = b.window.slice(Math.max(0, end - group), end);
    columns.unshift({ calls: sum(parts.map((p) => p.calls)), failures: sum(parts.map((p) => p.failures)) });
  }
  const count = Math.ceil(slots / group);
  const most = Math.max(1, ...columns.map((c) => c.calls));
  const single = !b.windowDuration && group === 1;
  let good = "";
  let bad = "";
  columns.forEach((column, i) => {
    const x = 10 * (count - columns.length + i) + 1;
    const fine = column.calls - column.failures;
    if (single) {
      if (column.failures) bad += bar(x, 8, 11, 1) + bar(x, 8, 11, 16);
      else good += bar(x, 8, 11, 1);
      return;
    }
    const height = (22 * fine) / most;
    if (fine) good += bar(x, 8, height, 1);
    if (column.failures) bad += bar(x, 8, Math.max(3, (22 * column.failures) / most), height + 3);
  });
  setAttribute(svg, "viewBox", `0 0 ${10 * count} 30`);
  setAttribute(svg.children[0], "d", `M0 29.5H${10 * count}`);
  setAttribute(svg.children[1], "d", good);
  setAttribute(svg.children[2], "d", bad);
  const latest = columns.length && single ? `, the latest ${columns.at(-1).failures ? "failed" : "did not fail"}` : "";
  setAttribute(svg, "aria-label", `Window of ${plain(named(b.name))}: ${b.failures} of ${plural(b.calls, "call")} failed${latest}.`);
}
