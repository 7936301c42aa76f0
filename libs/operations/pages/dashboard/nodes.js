// This module shows the nodes of a query database, from the page /status.
import { byId, element, showTable } from "/elements.js";
import { seconds } from "/text.js";

function stateOf(node) {
  if (node.problem) return element("span", `cannot be read: ${node.problem}`, "bad");
  return element("span", node.read_up_to ? "read" : "no event read", node.read_up_to ? "good" : "warn");
}

/** Returns what the answers of this node lack. */
const lacksOf = (node) => [
  node.references_wait ? "references that are on their way" : "", node.has_filter ? "what its filter leaves out" : "",
  node.kept ? `older records: it keeps ${node.kept}` : ""].filter(Boolean).join("; ");

export function showNodes({ nodes, missing_groups: missing, move }) {
  byId("network").textContent = [missing ? `No node owns the groups ${missing}: answers miss their accounts.` : "", move].filter(Boolean).join(" ");
  showTable("nodes", ["node", "groups", "state", "read up to (UTC)", "#age", "answers lack"], nodes.map((node) => [
    node.name, node.groups, stateOf(node), node.read_up_to ?? "-", seconds(node.age_seconds), lacksOf(node) || "-",
  ]), "There are no nodes. `skua nodes add` adds one.");
}
