// Nodes are kept from one snapshot to the next and only what differs is changed, so that focus, selection and screen
// readers keep their place. All text goes in as text: no name can become markup.

const byId = (id) => document.getElementById(id);

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function makeSVG(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function setAttribute(node, key, value) {
  if (node.getAttribute(key) !== String(value)) node.setAttribute(key, value);
}

function setHidden(node, hidden) {
  if (node.hidden !== hidden) node.hidden = hidden;
}

// say makes a sentence of strings, names and times the content of a node. What stays in its place stays the same node.
function say(node, ...parts) {
  parts = parts.flat().filter((part) => part !== "");
  parts.forEach((part, i) => {
    const tag = part.tag ?? "#text";
    let child = node.childNodes[i];
    if (child?.nodeName.toLowerCase() !== tag) {
      const made = part.tag ? document.createElement(tag) : document.createTextNode("");
      if (child) child.replaceWith(made);
      else node.append(made);
      child = made;
    }
    const text = part.text ?? String(part);
    if (child.textContent !== text) child.textContent = text;
    for (const [key, value] of Object.entries(part.attributes ?? {})) setAttribute(child, key, value);
  });
  while (node.childNodes.length > parts.length) node.lastChild.remove();
}

// plain is a sentence where there can be no nodes: in the title and in labels. Marks isolate names whose letters may
// run from right to left.
function plain(...parts) {
  const isolated = (name) => (/^[ -~]*$/.test(name) ? name : `\u2068${name}\u2069`);
  return parts.flat().map((part) => (part.tag === "bdi" ? isolated(part.text) : part.text ?? String(part))).join("");
}
