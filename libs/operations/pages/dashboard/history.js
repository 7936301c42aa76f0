// This module draws the charts of the page /history, whose values the process keeps for an hour.
import { byId } from "/elements.js";
import { clock, number, seconds } from "/text.js";

/** The charts by the id of their canvas: the format of values, and the lines as [label, metric, series of the metric]. */
const kCharts = {
  throughput: [(value) => number(value, 1), [
    ["events/s", "skua_events_total", "per_second"], ["rows/s", "skua_rows_total", "per_second"]]],
  latency: [seconds, [
    ["p50", "skua_commit_latency_seconds", "p50"], ["p99", "skua_commit_latency_seconds", "p99"],
    ["lag", "skua_lag_seconds", "value"]]],
  sent: [(value) => number(value, 1), [
    ["streams", "skua_feed_stream_changes_total", "per_second"],
    ["webhooks and pull consumers", "skua_feed_batch_changes_total", "per_second"]]],
  applied: [(value) => number(value, 1), [["changes", "skua_consumer_changes_total", "per_second"]]],
  clients: [(value) => number(value), [["open streams", "skua_feed_streams", "value"]]],
  "consumer-lag": [seconds, [["lag of the slowest consumer", "skua_consumer_lag_seconds", "value"]]],
};

const charts = [];

function colors() {
  const style = getComputedStyle(document.documentElement);
  return (name) => style.getPropertyValue(name).trim();
}

function applyColors({ chart }) {
  const color = colors();
  chart.data.datasets.forEach((line, i) => {
    line.borderColor = line.backgroundColor = color(["--mark", "--good", "--warn"][i]);
    line.borderDash = [[], [6, 3], [2, 2]][i];
  });
  for (const axis of Object.values(chart.options.scales)) {
    axis.ticks.color = color("--quiet");
    axis.grid.color = color("--line");
  }
  chart.options.plugins.legend.labels.color = color("--text");
  chart.update();
}

function makeChart(canvas, format, lines) {
  return new Chart(canvas, {
    type: "line",
    data: { labels: [], datasets: lines.map(([label]) => ({ label, data: [], borderWidth: 1.5, pointRadius: 0 })) },
    options: {
      animation: false, maintainAspectRatio: false, interaction: { mode: "index", intersect: false },
      scales: {
        x: { ticks: { maxTicksLimit: 8, maxRotation: 0, autoSkipPadding: 16 }, grid: {} },
        y: { beginAtZero: true, ticks: { ...(format === seconds ? { callback: (value) => seconds(value) } : { precision: 0 }), maxTicksLimit: 6 }, grid: {} },
      },
      plugins: {
        legend: { labels: { boxWidth: 24, boxHeight: 0 } },
        tooltip: { callbacks: { label: (item) => `${item.dataset.label}: ${format(item.parsed.y)}` } },
      },
    },
  });
}

/** Makes the charts whose canvas the page has. */
export function makeCharts() {
  for (const [id, [format, lines]] of Object.entries(kCharts)) {
    const canvas = byId(id);
    if (canvas) charts.push({ canvas, format, lines, chart: makeChart(canvas, format, lines) });
  }
  charts.forEach(applyColors);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => charts.forEach(applyColors));
}

/** Returns the query for the metrics of the charts. */
export const historyQuery = () =>
  `?${charts.flatMap(({ lines }) => lines.map(([, metric]) => `metric=${metric}`)).join("&")}`;

export function showHistory(history) {
  const labels = history.times.map((time) => clock(time * 1000));
  for (const { canvas, chart, format, lines } of charts) {
    chart.data.labels = labels;
    lines.forEach(([, metric, what], i) => {
      chart.data.datasets[i].data = history.metrics[metric]?.[what] ?? labels.map(() => null);
    });
    chart.update();
    const latest = chart.data.datasets.map(({ label, data }) => `${label}: ${format(data[data.length - 1])}`);
    canvas.setAttribute("aria-label", `A chart of the last hour. Now: ${latest.join(", ")}`);
  }
}
