// This module makes elements of the page. All texts become text nodes, because they may come from the network.

export const byId = (id) => document.getElementById(id);

/** Whether the process does the work of this command: run, serve or consumers. */
export const hasRole = (role) => document.body.dataset.command.split(/\W+/).includes(role);

/** Makes an element with a text, or with other nodes. */
export function element(name, content, className = "", attributes = {}) {
  const made = document.createElement(name);
  if (content != null) made.append(...(Array.isArray(content) ? content : [content]));
  if (className) made.className = className;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/**
 * Makes an element equal to a new one and changes only the parts that differ, so that the focus, a selection and the
 * place of a screen reader stay.
 */
export function update(present, wanted) {
  if (present.isEqualNode(wanted)) return;
  if (present.nodeType !== Node.ELEMENT_NODE || present.nodeName !== wanted.nodeName) return present.replaceWith(wanted);
  for (const name of present.getAttributeNames()) if (!wanted.hasAttribute(name)) present.removeAttribute(name);
  for (const name of wanted.getAttributeNames()) present.setAttribute(name, wanted.getAttribute(name));
  updateChildren(present, [...wanted.childNodes]);
}

/** Makes nodes the children of an element, and changes only the parts that differ. */
export function updateChildren(parent, wanted) {
  const present = [...parent.childNodes];
  present.slice(wanted.length).forEach((node) => node.remove());
  wanted.forEach((node, i) => (i < present.length ? update(present[i], node) : parent.append(node)));
}

/**
 * Shows the rows of a table. The column of a head that begins with # has numbers. A cell is a text or an element. On a
 * narrow screen each row is a card (dashboard.css), and each cell has the text of its head as a label. The roles say that
 * the cards are a table too.
 */
export function showTable(id, heads, rows, empty) {
  const table = byId(id);
  const columns = heads.map((text) => ({ label: text.replace("#", ""), className: text.startsWith("#") ? "number" : "text" }));
  const row = (cells) => element("tr", cells, "", { role: "row" });
  const head = row(columns.map(({ label, className }) => element("th", label, className, { scope: "col", role: "columnheader" })));
  const body = rows.map((cells) => row(cells.map((cell, i) =>
    element("td", cell, columns[i].className, { role: "cell", "data-label": columns[i].label }))));
  const none = row([element("td", empty, "", { role: "cell", colspan: heads.length })]);
  table.setAttribute("role", "table");
  table.setAttribute("aria-label", table.closest("section").querySelector("h2").textContent);
  updateChildren(table, rows.length === 0 ? [element("tbody", none, "", { role: "rowgroup" })] : [
    element("thead", head, "", { role: "rowgroup" }), element("tbody", body, "", { role: "rowgroup" })]);
}

/** Shows values with their names. */
export function showTiles(id, tiles) {
  updateChildren(byId(id), tiles.map(([name, value]) =>
    element("div", [element("dt", name), element("dd", value)], "tile", { "data-name": name })));
}

/** Shows a text for some seconds. */
export function showMessage(text) {
  const box = byId("message");
  box.textContent = text;
  box.hidden = false;
  clearTimeout(showMessage.timer);
  showMessage.timer = setTimeout(() => (box.hidden = true), 6000);
}
