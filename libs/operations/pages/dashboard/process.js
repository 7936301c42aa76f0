// This module shows the sections of the page /metrics: the metrics of the process.
import { byId, element, hasRole, showTable, showTiles } from "/elements.js";
import { parseMetrics, quantile, rate, total, values } from "/samples.js";
import { quietCollections } from "/state.js";
import { number, seconds } from "/text.js";

/** The answers of the last minute. */
const reads = [];

/** Returns the oldest answer of the last `ms` milliseconds. Rates are means over this time. */
function readBefore(ms) {
  const now = reads[reads.length - 1].at;
  return reads.find((read) => now - read.at <= ms && read.at < now) ?? null;
}

const isConnected = (metrics, source) => total(metrics, "skua_connected", { source }) === 1;

/** Returns the lag. Without a connection no event arrives and none waits, so the lag is unknown. */
const lagOf = (metrics, source) =>
  isConnected(metrics, source) ? total(metrics, "skua_lag_seconds", { source }) : null;

function largestLag(metrics) {
  const lags = values(metrics, "skua_connected", "source").map((source) => lagOf(metrics, source));
  const known = lags.filter((lag) => lag != null);
  return known.length > 0 ? Math.max(...known) : null;
}

const countsText = (samples, label) =>
  samples.filter((sample) => sample.value > 0).map((sample) => `${sample.labels[label]} ${number(sample.value)}`).join(", ");

/** Shows the text of /metrics. */
export function showMetrics(text, at) {
  const metrics = parseMetrics(text);
  if (metrics.size === 0) throw new Error("the answer has no metrics");
  reads.push({ at, metrics });
  while (at - reads[0].at > 61000) reads.shift();
  const [now, before] = [reads[reads.length - 1], readBefore(10500)];
  showTiles("tiles", [
    ...hasRole("run") ? indexerTiles(before, now) : [],
    ...hasRole("serve") ? feedTiles(before, now) : [],
    ...hasRole("consumers") ? consumerTiles(before, now) : [],
  ]);
  if (hasRole("serve")) showStreams(before, now);
  if (hasRole("run")) {
    showSources(before, now);
    showWorkers(now);
    showCollections(now);
  }
}

// ---- skua run ----

function indexerTiles(before, now) {
  const latency = (share) => seconds(quantile(before, now, "skua_commit_latency_seconds", share));
  return [
    ["events/s", number(rate(before, now, "skua_events_total"), 1)],
    ["rows/s", number(rate(before, now, "skua_rows_total"), 1)],
    ["lag", seconds(largestLag(now.metrics))],
    ["p50 to commit", latency(0.5)],
    ["p99 to commit", latency(0.99)],
    ["in flight", number(total(now.metrics, "skua_in_flight_messages"))],
    ["dead letters since start", number(total(now.metrics, "skua_dead_letters_total"))],
  ];
}

function showSources(before, now) {
  const rows = values(now.metrics, "skua_connected", "source").map((source) => {
    const wanted = { source };
    const ofSource = (name) => (now.metrics.get(name) ?? []).filter((sample) => sample.labels.source === source);
    const connected = isConnected(now.metrics, source);
    return [
      source, element("span", connected ? ofSource("skua_role")[0]?.labels.role ?? "connected" : "not connected", connected ? "good" : "bad"),
      number(total(now.metrics, "skua_cursor", wanted)), seconds(lagOf(now.metrics, source)),
      number(rate(before, now, "skua_messages_total", wanted), 1), number(rate(before, now, "skua_verified_total", wanted), 1),
      number(total(now.metrics, "skua_waiting_accounts", wanted)), countsText(ofSource("skua_dropped_total"), "reason") || "-",
    ];
  });
  showTable("sources", ["source", "state", "#cursor", "#lag", "#messages/s", "#verified/s", "#accounts that wait",
                        "dropped since start"], rows, "The process reads no source.");
}

function showWorkers(now) {
  const queues = new Map((now.metrics.get("skua_worker_queued_events") ?? []).map((s) => [s.labels.worker, s.value]));
  // The name of a worker has its kind, record type and number.
  const names = [...queues.keys()].map((name) => name.split(" "));
  const lanes = [...new Set(names.map(([kind, , i]) => `${kind} ${i}`))];
  const rows = [...new Set(names.map(([, type]) => type))].map((type) => [type, ...lanes.map((lane) => {
    const [kind, i] = lane.split(" ");
    const queued = queues.get(`${kind} ${type} ${i}`) ?? 0;
    return element("span", number(queued), `queue ${queued > 5000 ? "bad" : queued > 500 ? "warn" : ""}`);
  })]);
  showTable("workers", ["record type", ...lanes.map((lane) => `#${lane}`)], rows, "The process has no workers yet.");
}

function showCollections(now) {
  const before = readBefore(60500);
  const quiet = quietCollections();
  const name = "skua_collection_operations_total";
  const rows = values(now.metrics, name, "collection")
    .map((collection) => ({ collection, all: total(now.metrics, name, { collection }), rate: rate(before, now, name, { collection }) }))
    .filter((row) => row.all > 0)
    .sort((a, b) => b.all - a.all)
    .map((row) => {
      const isQuiet = quiet.has(row.collection);
      return [element("span", row.collection + (isQuiet ? " is quiet" : ""), isQuiet ? "bad" : ""), number(row.rate, 2), number(row.all)];
    });
  showTable("collections", ["collection", "#per second", "#since start"], rows, "No operations yet.");
}

// ---- skua consumers run ----

function consumerTiles(before, now) {
  return [
    ["changes/s to projections", number(rate(before, now, "skua_consumer_changes_total"), 1)],
    ["batches/s", number(rate(before, now, "skua_consumer_batches_total"), 1)],
    ["failed batches since start", number(total(now.metrics, "skua_consumer_failures_total"))],
    ["builds since start", number(total(now.metrics, "skua_consumer_builds_total"))],
  ];
}

// ---- skua serve ----

function feedTiles(before, now) {
  return [
    ["open streams", number(total(now.metrics, "skua_feed_streams"))],
    ["changes/s to streams", number(rate(before, now, "skua_feed_stream_changes_total"), 1)],
    ["changes/s to webhooks and pull consumers", number(rate(before, now, "skua_feed_batch_changes_total"), 1)],
    ["clients refused or ended since start", number(total(now.metrics, "skua_feed_errors_total"))],
  ];
}

const kForms = { sse: "/changes, server-sent events", websocket: "/changes, websocket", jetstream: "/subscribe" };

function showStreams(before, now) {
  const rows = values(now.metrics, "skua_feed_streams", "form").map((form) => {
    const of = (name) => total(now.metrics, name, { form });
    const open = of("skua_feed_streams");
    return [
      kForms[form] ?? form, number(open), number(rate(before, now, "skua_feed_stream_changes_total", { form }), 1),
      number(of("skua_feed_stream_changes_total")), number(open > 0 ? of("skua_feed_stream_behind_changes") : null),
    ];
  });
  showTable("streams", ["stream", "#open", "#changes/s", "#changes since start", "#changes behind (slowest)"], rows, "No streams.");
  const of = (name, label) => countsText(now.metrics.get(name) ?? [], label) || "none";
  byId("feed-errors").textContent = `Clients refused or ended since start: ${of("skua_feed_errors_total", "error")}`;
  byId("batches").textContent = `Batches of webhooks and pull consumers since start: ${of("skua_feed_batch_results_total", "result")}`;
}
