// This module reads the pages of the process, and shows in each section how old its values are.
import { element } from "/elements.js";
import { clock, seconds } from "/text.js";

const kAnswerTimeout = 10000;
/** Values are old this long after the last answer. Each section then states the age of its values. */
const kOldAfter = 15000;
/** The limit exceeds a minute, for which an answer of the database is reused at most. */
const kLongestAge = 75000;

/**
 * The state of each page by its path: when its values were read, when the last answer came, and why the last request
 * failed. Times are those of the browser's clock.
 */
const pages = new Map();

async function failureOf(answer) {
  const { error, message } = await answer.json().catch(() => ({}));
  if (!error) return `The answer was ${answer.status}.`;
  // The code of a problem needs no message, because the list of problems has the details.
  return /^[a-z-]+$/.test(error) ? `${error}.` : `${error}: ${message}`;
}

async function ask(url) {
  try {
    return await fetch(url, { signal: AbortSignal.timeout(kAnswerTimeout) });
  } catch (error) {
    const isLate = error.name === "TimeoutError";
    throw new Error(isLate ? `No answer in ${seconds(kAnswerTimeout / 1000)}.` : "The process does not answer.");
  }
}

/** Reads a page, and passes it to the function `show`. A 503 with its own body is a valid answer of /health/ready. */
export async function readPage(path, show, query = "") {
  const page = pages.get(path) ?? { readAt: null, answeredAt: null, failure: "" };
  pages.set(path, page);
  try {
    const answer = await ask(path + query);
    if (!answer.ok && !(path === "/health/ready" && answer.status === 503)) throw new Error(await failureOf(answer));
    const isJson = answer.headers.get("Content-Type").startsWith("application/json");
    const body = isJson ? await answer.json() : await answer.text();
    const readAt = Date.now() - 1000 * Number(answer.headers.get("Age") ?? 0);
    show(body, readAt);
    page.readAt = readAt;
    page.answeredAt = Date.now();
    page.failure = "";
  } catch (error) {
    page.failure = error.message;
    console.warn(path, error);
  }
  markSections();
}

/** Returns since when the values of a page are old, in milliseconds: null if they are current, `never` if unknown. */
export function oldSince(path) {
  const page = pages.get(path);
  if (!page) return null;
  if (page.readAt == null) return page.failure ? "never" : null;
  const isLate = Date.now() - page.answeredAt > kOldAfter || Date.now() - page.readAt > kLongestAge;
  return page.failure || isLate ? page.readAt : null;
}

/** Returns when the values of a page were read; null if they never were. */
export const readAtOf = (path) => pages.get(path)?.readAt ?? null;

/** Returns the text of a section about the age of its values, and whether they are old. */
function noteOf(path) {
  const since = oldSince(path);
  const { readAt, failure } = pages.get(path) ?? { readAt: null };
  if (since === "never") return [`Not known. ${failure}`, true];
  if (readAt == null) return ["", false];
  const age = Date.now() - readAt;
  const text = `as of ${clock(readAt)}, ${seconds(Math.max(0, Math.round(age / 1000)))} ago.`;
  if (since != null) return [`Old: ${text}${failure ? ` ${failure}` : ""}`, true];
  return [age > kOldAfter ? `Values ${text}` : "", false];
}

/** Writes into each section how old its values are, and marks sections with old values. */
export function markSections() {
  for (const section of document.querySelectorAll("[data-page]")) {
    const [note, isOld] = noteOf(section.dataset.page);
    section.classList.toggle("old", isOld);
    const present = section.querySelector(".age");
    if (!note) {
      present?.remove();
    } else if (present) {
      present.textContent = note;
    } else {
      section.querySelector("h2").after(element("p", note, "age"));
    }
  }
}
