// This module shows the state of the process in the header, in the title and the icon of the tab, and the list of problems.
import { byId, element, updateChildren } from "/elements.js";
import { oldSince, readAtOf } from "/freshness.js";
import { clock, counted } from "/text.js";

const kReady = "/health/ready";
const command = document.body.dataset.command;
let health = null;

/** Returns a text for the title, a text for the header, and the class of its colour. */
function stateTexts() {
  const since = oldSince(kReady);
  if (since === "never") return ["no answer", "no answer", "bad"];
  if (since != null) return ["no answer", `no answer since ${clock(since)}`, "bad"];
  if (!health) return ["connecting", "connecting", "quiet"];
  const { status, reasons, warnings } = health;
  const state = reasons.length > 0 ? counted(reasons.length, "problem") : status;
  const text = warnings.length > 0 ? `${state}, ${counted(warnings.length, "warning")}` : state;
  return [text, text, status !== "ready" ? "bad" : warnings.length > 0 ? "warn" : "good"];
}

/** Shows the state. Must be called even without an answer, because the state is old then. */
export function showState() {
  const [title, text, className] = stateTexts();
  document.title = `${title} · skua ${command}`;
  byId("icon").href = className === "bad" ? "/icon-problem.svg" : "/icon-ready.svg";
  const state = byId("state");
  // The text is only set if it differs, because a screen reader reads each change.
  if (state.textContent !== text) state.textContent = text;
  state.className = `pill ${className}`;
  const at = readAtOf(kReady);
  byId("time").textContent = at == null ? "" : `as of ${clock(at)}`;
}

export function showHealth(answer) {
  if (!Array.isArray(answer.reasons)) throw new Error("the answer has another form");
  health = answer;
  const problems = [...health.reasons.map((r) => [r, "bad", "Problem"]), ...health.warnings.map((w) => [w, "warn", "Warning"])];
  byId("problems").hidden = problems.length === 0;
  updateChildren(byId("problem-list"), problems.map(([problem, className, kind]) =>
    element("li", [`${kind} `, element("b", problem.code, className), `: ${problem.detail}. `, element("span", problem.cure)])));
}

/** Returns the collections that `collection-quiet` names. */
export function quietCollections() {
  const found = health?.reasons.filter((problem) => problem.code === "collection-quiet") ?? [];
  return new Set(found.flatMap((problem) => problem.detail.split(/[\s,:]+/)));
}
