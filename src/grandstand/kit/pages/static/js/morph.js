// Makes one piece of a page like another with as few changes as possible, so that focus,
// selection and what a person is typing stay.
function key(node) {
  return node.nodeType === Node.ELEMENT_NODE ? node.id || node.dataset.key || "" : "";
}

function alike(one, other) {
  return one.nodeType === other.nodeType && one.nodeName === other.nodeName && key(one) === key(other);
}

function attributes(old, wanted) {
  for (const { name } of [...old.attributes]) {
    if (!wanted.hasAttribute(name) && !(old.dataset.own ?? "").split(" ").includes(name)) old.removeAttribute(name);
  }
  for (const { name, value } of wanted.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
}

function one(old, wanted) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.nodeValue !== wanted.nodeValue) old.nodeValue = wanted.nodeValue;
    return;
  }
  if (old.morph) return old.morph(wanted);
  if (old.matches("input, select, textarea")) return;
  attributes(old, wanted);
  morph(old, wanted);
}

export function morph(old, wanted) {
  const keyed = new Map([...old.children].filter(key).map((child) => [key(child), child]));
  let at = old.firstChild;
  for (const next of [...wanted.childNodes]) {
    const same = keyed.get(key(next));
    if (same && same !== at && alike(same, next)) {
      old.insertBefore(same, at);
      one(same, next);
    } else if (at && alike(at, next)) {
      one(at, next);
      at = at.nextSibling;
    } else {
      old.insertBefore(document.importNode(next, true), at);
    }
  }
  while (at) {
    const after = at.nextSibling;
    at.remove();
    at = after;
  }
}
