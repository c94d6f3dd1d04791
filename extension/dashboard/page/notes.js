let firstServer = null; // that answered since the page was loaded

function showNotes(s) {
  firstServer ??= s.server;
  const notes = [];
  if (s.server.name !== firstServer.name) notes.push(["Another server answers now, ", named(s.server.name), ", started at ", at(s.server.started), "; what is known begins there."]);
  else if (s.server.started !== firstServer.started) notes.push(["The server restarted at ", at(s.server.started), "; what is known begins there."]);
  if (s.abandoned > 0) notes.push([`${plural(s.abandoned, "attempt")} ignored the end of their time and still run${s.abandoned === 1 ? "s" : ""}.`]);
  const older = s.server.page !== document.body.dataset.page;
  const list = byId("notes");
  while (list.children.length > notes.length + older) list.firstChild.remove();
  while (list.children.length < notes.length + older) list.prepend(make("li"));
  notes.forEach((note, i) => say(list.children[i], ...note));
  if (older && !list.querySelector("button")) {
    const reload = make("button", { type: "button" }, "Reload");
    reload.addEventListener("click", () => location.reload());
    list.lastChild.replaceChildren("This page is older than the server. ", reload);
  }
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  say(byId("server"), named(s.server.name), ", started at ", at(s.server.started), `. Times are of ${zone}${zone === "UTC" ? "" : "; point at one for UTC"}. As of `, at(s.time), ".");
}
