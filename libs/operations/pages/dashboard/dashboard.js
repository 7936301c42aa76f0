// The dashboard reads the pages of the process and shows them.
import { startActions } from "/admin.js";
import { showLatest, showStatus } from "/database.js";
import { hasRole } from "/elements.js";
import { markSections, readPage } from "/freshness.js";
import { historyQuery, makeCharts, showHistory } from "/history.js";
import { showNodes } from "/nodes.js";
import { showMetrics } from "/process.js";
import { showHealth, showState } from "/state.js";

const kProcessEvery = 2000;
const kDatabaseEvery = 4000;
const kHistoryEvery = 5000;

/** Reads the health even while the page is hidden, because the tab shows the state. */
async function readHealth() {
  await readPage("/health/ready", showHealth);
  showState();
}

const readDatabase = () => hasRole("nodes") ? readPage("/status", showNodes) : Promise.all([readPage("/status", showStatus), readPage("/latest", showLatest)]);

/** Calls a function now, after each interval, and when the page becomes visible, one call at a time. */
function repeat(every, read) {
  let timer = 0;
  let isReading = false;
  const round = async () => {
    if (isReading) return;
    isReading = true;
    clearTimeout(timer);
    await read();
    isReading = false;
    timer = setTimeout(round, every);
  };
  document.addEventListener("visibilitychange", () => document.hidden || round());
  round();
}

const ifVisible = (read) => async () => document.hidden || read();

// Parts of other commands are removed.
document.querySelectorAll("[data-only]").forEach((part) => part.dataset.only.split(" ").some(hasRole) || part.remove());
document.querySelectorAll("[data-without]").forEach((part) => hasRole(part.dataset.without) && part.remove());
document.querySelector("h1").textContent = `skua ${document.body.dataset.command}`;
// The icon is loaded now, because it is needed when the process has ended.
new Image().src = "/icon-problem.svg";

makeCharts();
if (!hasRole("nodes")) startActions(readDatabase);
repeat(kProcessEvery, readHealth);
repeat(kProcessEvery, ifVisible(() => readPage("/metrics", showMetrics)));
repeat(kDatabaseEvery, ifVisible(readDatabase));
repeat(kHistoryEvery, ifVisible(() => readPage("/history", showHistory, historyQuery())));
setInterval(() => {
  markSections();
  showState();
}, 1000);
