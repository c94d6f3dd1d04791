// A failed call is a tall bar with a gap in it and a good one a low bar, so that the shape tells without the colour.
function makeStrip() {
  return makeSVG("svg", { class: "strip", role: "img", preserveAspectRatio: "none" },
    makeSVG("path", { class: "axis" }), makeSVG("path", { class: "good" }), makeSVG("path", { class: "bad" }));
}

const mostParts = 60; // that the server sends of a window; in a larger one each is of several calls

function drawStrip(svg, b) {
  const { window } = b;
  const slots = b.windowDuration ? Math.max(window.length, 1) : Math.min(b.windowCalls, mostParts);
  const single = !b.windowDuration && window.every((part) => part.calls === 1);
  const most = Math.max(1, ...window.map((part) => part.calls));
  let good = "";
  let bad = "";
  window.forEach(({ calls, failures }, i) => {
    const x = 10 * (slots - window.length + i) + 1; // the latest stands at the right of a window that is not full
    if (single) {
      if (failures) bad += bar(x, 8, 11, 1) + bar(x, 8, 11, 16);
      else good += bar(x, 8, 11, 1);
      return;
    }
    const height = (22 * (calls - failures)) / most;
    if (calls > failures) good += bar(x, 8, height, 1);
    if (failures) bad += bar(x, 8, Math.max(3, (22 * failures) / most), height + 3);
  });
  setAttribute(svg, "viewBox", `0 0 ${10 * slots} 30`);
  setAttribute(svg.children[0], "d", `M0 29.5H${10 * slots}`);
  setAttribute(svg.children[1], "d", good);
  setAttribute(svg.children[2], "d", bad);
  const latest = single && window.length ? `, the latest ${window.at(-1).failures ? "failed" : "did not fail"}` : "";
  setAttribute(svg, "aria-label", `Window of ${plain(named(b.name))}: ${b.failures} of ${plural(b.calls, "call")} failed${latest}.`);
}
