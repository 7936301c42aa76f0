// This module uses the admin API: it asks for the token, and makes buttons that execute actions.
import { byId, element, showMessage } from "/elements.js";

const kToken = "skua-token";
/** The actions that have no answer yet. */
const running = new Set();

const token = () => sessionStorage.getItem(kToken);
const showSignIn = () => (byId("sign-in").textContent = token() ? "Signed in" : "Sign in");

/** Makes a button that posts a body to a path. A screen reader reads `label`, which names the object of the action. */
export function actionButton(text, label, path, body) {
  const key = JSON.stringify([path, body]);
  const state = running.has(key) ? { disabled: "" } : {};
  return element("button", text, "", { type: "button", "aria-label": label, "data-action": key, ...state });
}

async function signIn(error = "") {
  const dialog = byId("token-dialog");
  byId("token-error").textContent = error;
  byId("token").value = "";
  dialog.returnValue = "";
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  if (dialog.returnValue !== "ok") return false;
  sessionStorage.setItem(kToken, byId("token").value);
  const answer = await fetch("/admin/check", { headers: { Authorization: `Bearer ${token()}` } });
  if (!answer.ok) sessionStorage.removeItem(kToken);
  showSignIn();
  return answer.ok || signIn((await answer.json()).message);
}

async function act(path, body) {
  if (!token() && !(await signIn())) return;
  const answer = await fetch(path, {
    method: "POST", body: JSON.stringify(body),
    headers: { Authorization: `Bearer ${token()}`, "Content-Type": "application/json" },
  });
  const result = await answer.json().catch(() => ({}));
  if (answer.status === 401) {
    sessionStorage.removeItem(kToken);
    showSignIn();
    if (await signIn(result.message)) await act(path, body);
    return;
  }
  showMessage(answer.ok ? `Done: ${path}` : result.message ?? `${path}: ${answer.status}`);
}

/** Enables the buttons. Each action calls `after` at its end. */
export function startActions(after) {
  showSignIn();
  byId("sign-in").addEventListener("click", () => signIn());
  document.addEventListener("click", async ({ target }) => {
    const button = target.closest("button[data-action]");
    if (!button) return;
    const key = button.dataset.action;
    button.disabled = true;
    running.add(key);
    try {
      await act(...JSON.parse(key));
    } catch (error) {
      showMessage(`no answer: ${error.message}`);
    }
    running.delete(key);
    button.disabled = false;
    await after();
  });
}
