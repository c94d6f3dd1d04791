const silence = 5000; // after which a connection is taken to be dead; a proxy may hold one open that nothing comes through

let source = null;
let heardAt = 0;
let tries = 0;
let retryTimer = 0;
let connected = false;
let last = null; // snapshot

function connect() {
  retryTimer = 0;
  heardAt = performance.now();
  source = new EventSource("stream");
  source.addEventListener("plan", (message) => showPlan(JSON.parse(message.data)));
  source.addEventListener("snapshot", (message) => {
    last = JSON.parse(message.data);
    heardAt = performance.now();
    tries = 0;
    connected = true;
    show(last);
  });
  source.addEventListener("error", () => {
    showLost();
    // The browser tries again by itself unless the answer was no stream, as a proxy's 502 is: that ends it for good.
    if (source.readyState === EventSource.CLOSED) reconnect();
  });
}

function reconnect() {
  source.close();
  if (retryTimer) return;
  const delay = Math.min(10000, 1000 * 2 ** tries++);
  retryTimer = setTimeout(connect, delay * (0.75 + Math.random() / 4)); // at most ten seconds, and not all pages at once
}

function watch() {
  if (retryTimer || performance.now() - heardAt < silence) return;
  showLost();
  reconnect();
}

function show(s) {
  now = s.time;
  setAttribute(document.body, "data-connected", "true");
  setHidden(byId("known"), false);
  setHidden(byId("contents"), false);
  say(byId("connection"), "");
  for (const section of [showStatus, showFallbacks, showBreakers, showFields, showBulkheads, showLimiters, showPolicies, showEvents]) {
    try {
      section(s);
    } catch (error) { // which must not pass for a section that is up to date, nor keep the others from being so
      console.error(error);
      say(byId("connection"), `⚠ A part of this page does not work (${section.name}): what it shows may be old.`);
    }
  }
}

function showLost() {
  if (!connected && last) return;
  connected = false;
  setAttribute(document.body, "data-connected", "false");
  if (!last) {
    say(byId("headline"), "Connecting… The server does not answer yet.");
    return;
  }
  say(byId("connection"), "⚠ Not connected since ", at(last.time), ": what is below is as of then. Trying again.");
  showStatus(last);
}

setInterval(watch, 1000);
document.addEventListener("visibilitychange", () => document.hidden || watch()); // timers are late in the background
connect();
