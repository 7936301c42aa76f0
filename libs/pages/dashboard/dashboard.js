// The dashboard reads the pages of the process and shows them. Texts of the network become text nodes only.
import { largest, parseMetrics, quantile, rate, total, values } from "/samples.js";

const kMetricsEvery = 2000;
const kDatabaseEvery = 4000;
const kPoints = 300;
const byId = (id) => document.getElementById(id);

// ---- Text ----

const number = (value, digits = 0) =>
  value == null ? "-" : value.toLocaleString("en", { maximumFractionDigits: digits, minimumFractionDigits: digits });
const seconds = (value) => {
  if (value == null) return "-";
  if (value < 1) return `${number(value * 1000)} ms`;
  if (value < 120) return `${number(value, 1)} s`;
  if (value < 7200) return `${number(value / 60)} min`;
  return value < 172800 ? `${number(value / 3600, 1)} h` : `${number(value / 86400, 1)} d`;
};
const bytes = (value) => {
  if (value == null) return "-";
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (Math.abs(value) >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${number(value, unit > 1 ? 1 : 0)} ${units[unit]}`;
};

// ---- Elements ----

function element(name, text, className = "") {
  const made = document.createElement(name);
  if (text != null) made.textContent = text;
  made.className = className;
  return made;
}

/** Replaces the rows of a table. A cell is a text, a number (shown on the right), or an element. */
function fillTable(table, heads, rows, empty) {
  const row = (cells, tag) => {
    const line = element("tr");
    cells.forEach((cell, i) => {
      const isNumber = heads[i].startsWith("#");
      const made = element(tag, cell instanceof Node ? null : cell, isNumber ? "number" : "text");
      if (cell instanceof Node) made.append(cell);
      line.append(made);
    });
    return line;
  };
  const head = row(heads.map((text) => text.replace("#", "")), "th");
  const body = rows.length > 0 ? rows.map((cells) => row(cells, "td")) : [element("tr", empty)];
  table.replaceChildren(...(rows.length > 0 ? [head] : []), ...body);
}

function showMessage(text) {
  const box = byId("message");
  box.textContent = text;
  box.hidden = false;
  clearTimeout(showMessage.timer);
  showMessage.timer = setTimeout(() => (box.hidden = true), 6000);
}

// ---- Charts ----

function makeChart(id, lines, format) {
  const style = getComputedStyle(document.documentElement);
  const colors = ["--mark", "--good", "--warn"].map((name) => style.getPropertyValue(name).trim());
  const quiet = style.getPropertyValue("--quiet").trim();
  const grid = style.getPropertyValue("--line").trim();
  return new Chart(byId(id), {
    type: "line",
    data: {
      labels: [],
      datasets: lines.map((label, i) => ({ label, data: [], borderColor: colors[i], backgroundColor: colors[i], borderWidth: 1.5, pointRadius: 0 })),
    },
    options: {
      animation: false, maintainAspectRatio: false, interaction: { mode: "index", intersect: false },
      scales: {
        x: { ticks: { color: quiet, maxTicksLimit: 8, maxRotation: 0 }, grid: { color: grid } },
        y: { beginAtZero: true, ticks: { color: quiet, callback: format }, grid: { color: grid } },
      },
      plugins: {
        legend: { labels: { color: quiet, boxWidth: 12 } },
        tooltip: { callbacks: { label: (item) => `${item.dataset.label}: ${format(item.parsed.y)}` } },
      },
    },
  });
}

function addPoint(chart, at, points) {
  const { labels, datasets } = chart.data;
  labels.push(new Date(at).toLocaleTimeString("en-GB"));
  datasets.forEach((dataset, i) => dataset.data.push(points[i]));
  if (labels.length > kPoints) {
    labels.shift();
    datasets.forEach((dataset) => dataset.data.shift());
  }
  chart.update();
}

// ---- Metrics ----

const reads = [];
let quietCollections = new Set();

/** The oldest read of the last seconds: rates are means over this time. */
function readBefore(ms) {
  const now = reads[reads.length - 1].at;
  return reads.find((read) => now - read.at <= ms && read.at < now) ?? null;
}

function showMetrics(charts) {
  const now = reads[reads.length - 1];
  const before = readBefore(10500);
  const events = rate(before, now, "skua_events_total");
  const rows = rate(before, now, "skua_rows_total");
  const lag = largest(now.metrics, "skua_lag_seconds");
  const p50 = quantile(before, now, "skua_commit_latency_seconds", 0.5);
  const p99 = quantile(before, now, "skua_commit_latency_seconds", 0.99);
  const tiles = [
    ["events/s", number(events, 1)], ["rows/s", number(rows, 1)], ["lag", seconds(lag)],
    ["p50 to commit", seconds(p50)], ["p99 to commit", seconds(p99)],
    ["in flight", number(total(now.metrics, "skua_in_flight_messages"))],
    ["dead letters since start", number(total(now.metrics, "skua_dead_letters_total"))],
  ];
  byId("tiles").replaceChildren(...tiles.map(([name, value]) => {
    const tile = element("div", null, "tile");
    tile.dataset.name = name;
    tile.append(element("b", value), element("span", name));
    return tile;
  }));
  addPoint(charts.throughput, now.at, [events, rows]);
  addPoint(charts.latency, now.at, [p50, p99, lag]);
  showSources(before, now);
  showWorkers(now);
  showCollections(now);
}

function showSources(before, now) {
  const rows = values(now.metrics, "skua_connected", "source").map((source) => {
    const wanted = { source };
    const connected = total(now.metrics, "skua_connected", wanted) === 1;
    const role = (now.metrics.get("skua_role") ?? []).find((sample) => sample.labels.source === source)?.labels.role;
    const drops = (now.metrics.get("skua_dropped_total") ?? [])
      .filter((sample) => sample.labels.source === source && sample.value > 0)
      .map((sample) => `${sample.labels.reason} ${number(sample.value)}`);
    return [
      source, element("span", connected ? role ?? "connected" : "not connected", connected ? "good" : "bad"),
      number(total(now.metrics, "skua_cursor", wanted)), seconds(total(now.metrics, "skua_lag_seconds", wanted)),
      number(rate(before, now, "skua_messages_total", wanted), 1), number(rate(before, now, "skua_verified_total", wanted), 1),
      number(total(now.metrics, "skua_waiting_accounts", wanted)), drops.join(", ") || "-",
    ];
  });
  fillTable(byId("sources"), ["source", "state", "#cursor", "#lag", "#messages/s", "#verified/s", "#accounts that wait", "dropped since start"], rows, "This process reads no source.");
}

function showWorkers(now) {
  const queues = new Map((now.metrics.get("skua_worker_queued_events") ?? []).map((s) => [s.labels.worker, s.value]));
  const box = byId("workers");
  if (queues.size === 0) return box.replaceChildren(element("p", "This process has no workers."));
  const types = [...new Set([...queues.keys()].map((name) => name.split(" ")[1]))];
  const cells = [element("span"), element("span", "live", "head"), element("span"), element("span", "backfill", "head")];
  for (const type of types) {
    cells.push(element("span", type));
    for (const kind of ["live", "backfill"]) {
      if (kind === "backfill") cells.push(element("span"));
      for (let i = 0; i < 3; i += 1) {
        const queued = queues.get(`${kind} ${type} ${i}`) ?? 0;
        const cell = element("span", number(queued), `queue ${queued > 5000 ? "bad" : queued > 500 ? "warn" : ""}`);
        cell.title = `${kind} ${type} ${i}`;
        cells.push(cell);
      }
    }
  }
  box.replaceChildren(...cells);
}

function showCollections(now) {
  const before = readBefore(60500);
  const rows = values(now.metrics, "skua_collection_operations_total", "collection")
    .map((collection) => ({
      collection, all: total(now.metrics, "skua_collection_operations_total", { collection }),
      rate: rate(before, now, "skua_collection_operations_total", { collection }),
    }))
    .filter((row) => row.all > 0)
    .sort((a, b) => b.all - a.all)
    .map((row) => {
      const isQuiet = quietCollections.has(row.collection);
      return [element("span", row.collection + (isQuiet ? " is quiet" : ""), isQuiet ? "bad" : ""), number(row.rate, 2), number(row.all)];
    });
  fillTable(byId("collections"), ["collection", "#per second", "#since start"], rows, "No operations yet.");
}

// ---- Health ----

function showHealth(health) {
  const state = byId("state");
  state.textContent = health.status;
  state.className = `pill ${health.status !== "ready" ? "bad" : health.warnings.length > 0 ? "warn" : "good"}`;
  const problems = [...health.reasons.map((r) => [r, "bad"]), ...health.warnings.map((w) => [w, "warn"])];
  quietCollections = new Set(problems.filter(([p]) => p.code === "collection-quiet").flatMap(([p]) => p.detail.split(/[\s,:]+/)));
  byId("problems").hidden = problems.length === 0;
  byId("problem-list").replaceChildren(...problems.map(([problem, className]) => {
    const box = element("div", null, "problem");
    box.append(element("b", problem.code, className), document.createTextNode(`: ${problem.detail}. `), element("span", problem.cure));
    return box;
  }));
}

// ---- The database ----

let firstSize = null;

function showStatus(status, at) {
  showConsumers(status.consumers ?? []);
  showBackfill(status.backfill);
  firstSize ??= { at, size: status.database_bytes, tables: new Map(status.tables.map((t) => [t.table, t.bytes])) };
  const hours = (at - firstSize.at) / 3600000;
  const growth = hours > 0.002 ? `, ${bytes((status.database_bytes - firstSize.size) / hours)} per hour since this page was opened` : "";
  byId("database").textContent = `${bytes(status.database_bytes)}${growth}`;
  fillTable(byId("tables"), ["table", "#rows (estimated)", "#size", "#growth"], status.tables.map((table) => [
    table.table, number(table.rows_estimated), bytes(table.bytes), bytes(table.bytes - (firstSize.tables.get(table.table) ?? table.bytes)),
  ]), "No tables.");
  byId("letter-reasons").textContent = status.dead_letters.length === 0 ? "None by reason."
    : status.dead_letters.map((letter) => `${number(letter.count)} × ${letter.error}`).join("; ");
}

function showConsumers(consumers) {
  fillTable(byId("consumers"), ["consumer", "kind", "state", "#lag", "#changes behind", "error", ""], consumers.map((consumer) => {
    const isRunning = consumer.state === "running";
    const error = consumer.error || consumer.lanes.map((lane) => lane.error).find((text) => text) || "";
    return [consumer.name, consumer.kind, element("span", consumer.state, isRunning ? "good" : "bad"), seconds(consumer.lag_seconds),
            number(consumer.changes_behind), error, actionButton(isRunning ? "Pause" : "Resume", () =>
              act(`/admin/consumers/${isRunning ? "pause" : "resume"}`, { name: consumer.name }))];
  }), "There are no consumers. `skua consumers add NAME` adds one.");
}

function showBackfill(backfill) {
  const { jobs, metrics } = backfill;
  const left = jobs.queued + jobs.running;
  const perSecond = metrics?.repositories_per_second ?? 0;
  const end = left > 0 && perSecond > 0 ? `, about ${seconds(left / perSecond)} left` : "";
  byId("backfill").textContent =
    `${number(jobs.done)} done, ${number(jobs.running)} under way, ${number(jobs.queued)} queued, ${number(jobs.failed)} failed; ` +
    `${number(perSecond, 1)} repositories/s${end}${backfill.is_running ? "" : "; no process works on it"}`;
  fillTable(byId("hosts"), ["host", "#queued", "#under way", "#done", "#otherwise"], backfill.hosts.map((host) => [
    host.host, number(host.queued), number(host.running), number(host.done), number(host.ended_otherwise),
  ]), "No jobs.");
}

function showLatest(latest) {
  byId("posts").replaceChildren(...latest.posts.map((post) => {
    const item = element("li");
    item.append(element("span", post.name, "by"), element("span", post.text));
    item.title = `${post.at} ${post.uri}`;
    return item;
  }));
  fillTable(byId("letters"), ["#number", "last", "origin", "account", "status", "reason", ""], latest.dead_letters.map((letter) => [
    String(letter.id), letter.at.replace("T", " ").slice(0, 19), letter.origin, letter.did, letter.status, letter.error,
    actionButton("Replay", () => act("/admin/dead-letters/replay", { ids: [letter.id] })),
  ]), "No dead letters.");
}

// ---- The admin API ----

function actionButton(text, action) {
  const button = element("button", text);
  button.type = "button";
  button.addEventListener("click", async () => {
    button.disabled = true;
    await action();
    await readDatabase();
  });
  return button;
}

const token = () => sessionStorage.getItem("skua-token");

async function signIn(error = "") {
  const dialog = byId("token-dialog");
  byId("token-error").textContent = error;
  byId("token").value = "";
  dialog.returnValue = "";
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  if (dialog.returnValue !== "ok") return false;
  sessionStorage.setItem("skua-token", byId("token").value);
  const answer = await fetch("/admin/check", { headers: { Authorization: `Bearer ${token()}` } });
  if (answer.ok) {
    byId("sign-in").textContent = "Signed in";
    return true;
  }
  sessionStorage.removeItem("skua-token");
  return signIn((await answer.json()).message);
}

async function act(path, body) {
  if (!token() && !(await signIn())) return;
  const answer = await fetch(path, {
    method: "POST", body: JSON.stringify(body),
    headers: { Authorization: `Bearer ${token()}`, "Content-Type": "application/json" },
  });
  const result = await answer.json().catch(() => ({}));
  if (answer.status === 401) {
    sessionStorage.removeItem("skua-token");
    if (await signIn(result.message)) await act(path, body);
    return;
  }
  showMessage(answer.ok ? `Done: ${path}` : result.message ?? `${path}: ${answer.status}`);
}

// ---- Reading ----

async function readMetrics(charts) {
  const [metrics, health] = await Promise.all([fetch("/metrics"), fetch("/health/ready")]);
  reads.push({ at: Date.now(), metrics: parseMetrics(await metrics.text()) });
  while (reads[reads.length - 1].at - reads[0].at > 61000) reads.shift();
  showHealth(await health.json());
  showMetrics(charts);
  byId("time").textContent = new Date().toLocaleTimeString("en-GB");
}

async function readDatabase() {
  const [status, latest] = await Promise.all([fetch("/status"), fetch("/latest")]);
  if (status.ok) showStatus(await status.json(), Date.now());
  if (latest.ok) showLatest(await latest.json());
}

/** Calls a function now and after each interval, one call at a time. A failure shows, and does not end it. */
async function repeat(every, read) {
  for (;;) {
    try {
      if (!document.hidden) await read();
    } catch (error) {
      byId("state").textContent = "no answer";
      byId("state").className = "pill bad";
      console.warn(error);
    }
    await new Promise((resolve) => setTimeout(resolve, every));
  }
}

const charts = {
  throughput: makeChart("throughput", ["events/s", "rows/s"], (value) => number(value)),
  latency: makeChart("latency", ["p50", "p99", "lag"], seconds),
};
byId("sign-in").addEventListener("click", () => signIn());
repeat(kMetricsEvery, () => readMetrics(charts));
repeat(kDatabaseEvery, readDatabase);
