// This module formats numbers, durations and sizes. Pure. `-` means that a value is unknown.

export const number = (value, digits = 0) =>
  value == null ? "-" : value.toLocaleString("en", { maximumFractionDigits: digits, minimumFractionDigits: digits });

export function seconds(value) {
  if (value == null) return "-";
  if (value < 1) return `${number(value * 1000)} ms`;
  if (value < 120) return `${number(value, value < 10 && !Number.isInteger(value) ? 1 : 0)} s`;
  if (value < 7200) return `${number(value / 60)} min`;
  return value < 172800 ? `${number(value / 3600, 1)} h` : `${number(value / 86400, 1)} d`;
}

export function bytes(value) {
  if (value == null) return "-";
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (Math.abs(value) >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${number(value, unit > 1 ? 1 : 0)} ${units[unit]}`;
}

export const counted = (count, word) => `${number(count)} ${word}${count === 1 ? "" : "s"}`;

/** Formats a time of the browser's clock in milliseconds. The text has a date if the time is not of today. */
export function clock(at) {
  const time = new Date(at);
  const isToday = time.toDateString() === new Date().toDateString();
  return (isToday ? "" : `${time.toLocaleDateString("en-CA")} `) + time.toLocaleTimeString("en-GB");
}

/** Formats a time of the pages (RFC 3339, UTC) in the browser's time zone. */
export const dateText = (text) => (text == null ? "-" : clock(Date.parse(text)));
