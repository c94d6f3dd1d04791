// keyed gives each item a node of its own, found again by its key, in the items' order. While the pointer, the focus or
// a selection is in the section, nothing is moved, added or taken away there; it returns how many new items wait.
function keyed(section, items, keyOf, create, update) {
  const list = section.querySelector(".items");
  const known = (list.known ??= new Map());
  const held = known.size > 0 && isHeld(section);
  const seen = new Set();
  let waiting = 0;
  let place = list.firstChild;
  for (const item of items) {
    let key = keyOf(item);
    while (seen.has(key)) key += "'";
    seen.add(key);
    let node = known.get(key);
    if (!node && held) {
      waiting++;
      continue;
    }
    if (!node) known.set(key, (node = create(item)));
    node.classList.remove("gone");
    if (!held && node !== place) list.insertBefore(node, place);
    place = node.nextSibling;
    update(node, item);
  }
  for (const [key, node] of known) {
    if (seen.has(key)) continue;
    node.classList.add("gone");
    if (held) continue;
    node.remove();
    known.delete(key);
  }
  const none = section.querySelector(".none");
  setHidden(none, items.length > 0 || known.size > 0);
  for (const other of section.querySelectorAll(".legend, .scroll")) setHidden(other, !none.hidden);
  return waiting;
}

let pointed = false; // by what can point without pressing: what a finger has tapped counts as hovered until it taps elsewhere
for (const type of ["pointermove", "pointerdown"]) {
  addEventListener(type, (move) => (pointed = move.pointerType !== "touch"), { passive: true });
}

function isHeld(section) {
  const selection = getSelection();
  return (pointed && section.matches(":hover")) || section.contains(document.activeElement) || byId("confirm").open ||
    (!selection.isCollapsed && section.contains(selection.anchorNode));
}

// troubledFirst sorts by name, those in trouble first.
function troubledFirst(items, isTroubled, nameOf) {
  const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  return items.toSorted((a, b) => isTroubled(b) - isTroubled(a) || compare(nameOf(a), nameOf(b)));
}
