// Where values stand on an axis, and the ticks that name them.
const STEPS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200,
  86400, 172800, 604800, 1209600,
];
const DAY = 86400;
const MONTHS = [1, 2, 3, 6, 12, 24, 60, 120];

export function scale([low, high], [start, end]) {
  const span = high - low || 1;
  const to = (value) => start + ((value - low) / span) * (end - start);
  to.from = (place) => low + ((place - start) / (end - start || 1)) * span;
  to.domain = [low, high];
  return to;
}

export function niceStep(span, count) {
  const rough = span / Math.max(count, 1) || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const share = rough / power;
  return power * (share > 5 ? 10 : share > 2 ? 5 : share > 1 ? 2 : 1);
}

export function numberTicks([low, high], count) {
  const step = niceStep(high - low, count);
  const ticks = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + step * 1e-9; n += 1) ticks.push(n * step + 0);
  const digits = Math.min(12, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  return { ticks, digits };
}

function offsetSeconds(seconds, zone) {
  const parts = new Intl.DateTimeFormat("en", { timeZone: zone, timeZoneName: "longOffset" })
    .formatToParts(seconds * 1000).find(({ type }) => type === "timeZoneName").value;
  const [, sign, hours, minutes] = /GMT(?:([+-])(\d+):(\d+))?/.exec(parts) ?? [];
  return sign ? (sign === "-" ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60) : 0;
}

function monthTicks([low, high], zone, count) {
  const months = MONTHS.find((one) => (high - low) / (one * 30.44 * DAY) <= count) ?? MONTHS.at(-1);
  const start = new Date(low * 1000);
  const ticks = [];
  const first = Math.floor((start.getUTCFullYear() * 12 + start.getUTCMonth()) / months) * months;
  for (let month = first; ; month += months) {
    const guess = Date.UTC(Math.floor(month / 12), month % 12, 1) / 1000;
    const at = guess - offsetSeconds(guess, zone);
    if (at > high) break;
    if (at >= low) ticks.push(at);
  }
  const form = months >= 12 ? { year: "numeric" } : { month: "short", year: "numeric" };
  return { ticks, formOf: () => form };
}

export function timeTicks([low, high], zone, count) {
  const step = STEPS.find((one) => (high - low) / one <= count);
  if (!step) return monthTicks([low, high], zone, count);
  const offset = offsetSeconds(low, zone);
  const ticks = [];
  for (let at = Math.ceil((low + offset) / step) * step - offset; at <= high; at += step) ticks.push(at);
  const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  const day = { day: "numeric", month: "short" };
  const form = step < 60 ? { ...clock, second: "2-digit" } : step < DAY ? clock : day;
  // Clocks alone would not tell the days apart: midnight is named by its day.
  const midnight = (at) => step >= 60 && (at + offset) % DAY === 0;
  return { ticks, formOf: (at) => (midnight(at) ? day : form) };
}

export function timeText(seconds, zone, form) {
  return new Intl.DateTimeFormat("en-GB", { timeZone: zone, ...form }).format(seconds * 1000);
}

export function numberText(value, digits) {
  if (value === null || value === undefined) return "–";
  const options = digits === null || digits === undefined
    ? { maximumSignificantDigits: 6 }
    : { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return value.toLocaleString("en", options).replace("-", "\u2212");
}

// The place in ascending rows whose x is nearest.
export function nearest(rows, x) {
  let low = 0;
  let high = rows.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle][0] < x) low = middle + 1;
    else high = middle;
  }
  return low > 0 && x - rows[low - 1][0] <= rows[low][0] - x ? low - 1 : low;
}
