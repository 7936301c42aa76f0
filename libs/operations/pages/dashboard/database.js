// This module shows the sections of the pages /status and /latest, which read the database.
import { actionButton } from "/admin.js";
import { byId, element, hasRole, showTable, showTiles, updateChildren } from "/elements.js";
import { bytes, dateText, number, seconds } from "/text.js";

/** Only `skua serve` without `--consumers` leaves out projections. */
const hasProjections = hasRole("run") || hasRole("consumers");
const heading = byId("consumers")?.closest("section").querySelector("h2");
if (heading) heading.textContent = hasProjections ? "Consumers" : "Webhooks and pull consumers";

/** The sizes in the first answer after the page was opened. */
let first = null;

export function showStatus(status, at) {
  showConsumers(status.consumers);
  showChangeLog(status.change_log);
  byId("letter-reasons").textContent = status.dead_letters.length === 0 ? "None by reason."
    : status.dead_letters.map((letter) => `${number(letter.count)} × ${letter.error}`).join("; ");
  if (!hasRole("run")) return;
  showBackfill(status.backfill);
  showSizes(status, at);
}

// ---- Consumers and the change log ----

/** Shows the state as the process judges it (`/status`). A running consumer with a reason has failures that may pass. */
function stateOf(consumer) {
  if (consumer.code === "consumer-stuck") return element("span", consumer.state, "bad");
  if (consumer.state !== "running") return element("span", consumer.state, "warn");
  return consumer.reason ? element("span", "running, with failures", "warn") : element("span", "running", "good");
}

function showConsumers(all) {
  const shown = all.filter((consumer) => hasProjections || consumer.kind !== "projection");
  const rows = shown.map((consumer) => {
    const lanes = consumer.lanes;
    const waits = lanes.map((lane) => lane.retry_seconds).filter((wait) => wait != null);
    const isPaused = consumer.is_paused;
    return [
      consumer.name, consumer.kind, stateOf(consumer), seconds(consumer.lag_seconds), number(consumer.changes_behind),
      lanes.length > 0 ? number(Math.min(...lanes.map((lane) => lane.position))) : "-",
      number(lanes.reduce((sum, lane) => sum + lane.attempts, 0)), waits.length > 0 ? `in ${seconds(Math.ceil(Math.min(...waits)))}` : "-", consumer.reason || "-",
      number(consumer.dead_letters), lanes.some((lane) => lane.lease) ? `${lanes.filter((lane) => lane.lease).length} of ${lanes.length}` : "-",
      actionButton(isPaused ? "Resume" : "Pause", `${isPaused ? "Resume" : "Pause"} ${consumer.name}`,
                   `/admin/consumers/${isPaused ? "resume" : "pause"}`, { name: consumer.name }),
    ];
  });
  showTable("consumers", ["consumer", "kind", "state", "#lag", "#changes behind", "#next position", "#failures of the next change",
                          "next try", "last reason", "#dead letters", "leased lanes", ""],
            rows, hasProjections ? "There are no consumers. `skua consumers add NAME` adds one."
                                 : "There are no webhooks and no pull consumers. `skua consumers add NAME --webhook URL` adds one.");
}

function showChangeLog(log) {
  const isEmpty = log.newest_at == null;
  showTiles("change-log", [
    ["newest change", isEmpty ? "-" : `${log.timeline}-${log.next - 1}`],
    ["newest at", dateText(log.newest_at)],
    ["oldest change", isEmpty ? "-" : `${log.timeline}-${log.oldest}`],
    ["oldest at", dateText(log.oldest_at)],
    ["size", `${bytes(log.bytes)} of ${bytes(log.max_bytes)}`],
    ["kept for", seconds(log.retention_seconds)],
  ]);
}

// ---- Sizes and backfills ----

function showSizes(status, at) {
  first ??= { at, size: status.database_bytes, tables: new Map(status.tables.map((t) => [t.table, t.bytes])) };
  const hours = (at - first.at) / 3600000;
  const growth = hours > 0.002 ? `, ${bytes((status.database_bytes - first.size) / hours)} per hour since this page was opened` : "";
  byId("database").textContent = `${bytes(status.database_bytes)}${growth}`;
  showTable("tables", ["table", "#rows (estimated)", "#size", "#growth"], status.tables.map((table) => [
    table.table, number(table.rows_estimated), bytes(table.bytes), bytes(table.bytes - (first.tables.get(table.table) ?? table.bytes)),
  ]), "No tables.");
}

function showBackfill(backfill) {
  const { jobs, metrics } = backfill;
  const left = jobs.queued + jobs.running;
  const perSecond = backfill.is_running ? metrics?.repositories_per_second ?? 0 : 0;
  const end = left > 0 && perSecond > 0 ? `, about ${seconds(left / perSecond)} left` : "";
  byId("backfill").textContent =
    `${number(jobs.done)} done, ${number(jobs.running)} under way, ${number(jobs.queued)} queued, ${number(jobs.failed)} failed; ` +
    (backfill.is_running ? `${number(perSecond, 1)} repositories/s${end}` : "no process works on it");
  showTable("hosts", ["host", "#queued", "#under way", "#done", "#otherwise"], backfill.hosts.map((host) => [
    host.host, number(host.queued), number(host.running), number(host.done), number(host.ended_otherwise),
  ]), "No jobs.");
}

// ---- Newest rows ----

export function showLatest(latest) {
  showTable("letters", ["#number", "last", "origin", "account", "status", "reason", ""], latest.dead_letters.map((letter) => [
    String(letter.id), dateText(letter.at), letter.origin || "-", letter.did || "-", letter.status, letter.error,
    actionButton("Replay", `Replay the dead letter ${letter.id}`, "/admin/dead-letters/replay", { ids: [letter.id] }),
  ]), "No dead letters.");
  if (!hasRole("run")) return;
  updateChildren(byId("posts"), latest.posts.map((post) =>
    element("li", [element("span", post.name, "by"), element("span", post.text)], "", { title: `${post.at} ${post.uri}` })));
}
