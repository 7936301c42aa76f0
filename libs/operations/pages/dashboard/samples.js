// This module parses metrics in the text format of Prometheus, and computes rates between two reads. Pure.

/** Parses the page /metrics to a map from each name to its samples `{labels, value}`. */
export function parseMetrics(text) {
  const metrics = new Map();
  for (const line of text.split("\n")) {
    const match = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!match) continue;
    const labels = {};
    for (const [, name, value] of (match[2] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
      labels[name] = value.replace(/\\(.)/g, (_, c) => (c === "n" ? "\n" : c));
    }
    if (!metrics.has(match[1])) metrics.set(match[1], []);
    metrics.get(match[1]).push({ labels, value: Number(match[3]) });
  }
  return metrics;
}

const matches = (labels, wanted) => Object.entries(wanted).every(([name, value]) => labels[name] === value);

/** Returns the sum of the samples with these labels; null if there is none. */
export function total(metrics, name, wanted = {}) {
  const found = (metrics.get(name) ?? []).filter((sample) => matches(sample.labels, wanted));
  return found.length === 0 ? null : found.reduce((sum, sample) => sum + sample.value, 0);
}

/** Returns the largest value; null if there is none. */
export function largest(metrics, name) {
  const values = (metrics.get(name) ?? []).map((sample) => sample.value);
  return values.length === 0 ? null : Math.max(...values);
}

/** Returns the growth per second of a counter between two reads `{at, metrics}`; null if unknown. A fall means a restart. */
export function rate(before, now, name, wanted = {}) {
  const first = before && total(before.metrics, name, wanted);
  const last = total(now.metrics, name, wanted);
  if (first == null || last == null || last < first || now.at <= before.at) return null;
  return ((last - first) * 1000) / (now.at - before.at);
}

/** Returns the values of a label. */
export function values(metrics, name, label) {
  return [...new Set((metrics.get(name) ?? []).map((sample) => sample.labels[label]))];
}

/** Returns a quantile, in seconds, of the values that a histogram counted between two reads; null if it counted none. */
export function quantile(before, now, name, share) {
  const counts = new Map();
  const add = (metrics, sign) => {
    for (const { labels, value } of metrics.get(`${name}_bucket`) ?? []) {
      counts.set(labels.le, (counts.get(labels.le) ?? 0) + sign * value);
    }
  };
  add(now.metrics, 1);
  if (before) add(before.metrics, -1);
  const buckets = [...counts].map(([bound, count]) => [bound === "+Inf" ? Infinity : Number(bound), count]);
  buckets.sort((a, b) => a[0] - b[0]);
  const all = buckets.length > 0 ? buckets[buckets.length - 1][1] : 0;
  if (all <= 0) return null;
  // The values of a bucket count as evenly distributed, as in Prometheus.
  let [below, lower] = [0, 0];
  for (const [bound, count] of buckets) {
    if (count >= share * all) {
      return bound === Infinity ? lower : lower + ((bound - lower) * (share * all - below)) / (count - below);
    }
    [below, lower] = [count, bound];
  }
  return lower;
}
