// The frame of a chart: how far its axes reach, its grid lines and the words beside them.
import { niceStep, numberText, numberTicks, scale, timeText, timeTicks } from "./scales.js";

const TOP = 10;
const FOOT = 26;
const RIGHT = 10;
const LETTER = 7.2;
const TICK_EVERY_TIME = 76;
const TICK_EVERY_NUMBER = 60;
const TICK_EVERY_Y = 44;

// How wide a text is, about: letters of East Asia are not far from twice as wide.
function breadth(text) {
  return [...text].reduce((sum, letter) => sum + (letter > "\u2e7f" ? LETTER * 1.7 : LETTER), 0);
}

function reach(plots) {
  let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const { rows } of plots) {
    for (const row of rows) {
      if (row[0] < left) left = row[0];
      if (row[0] > right) right = row[0];
      for (let place = 1; place < row.length; place += 1) {
        const value = row[place];
        if (value === null) continue;
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
  }
  return { left, right, low, high };
}

// The least distance between two neighbours, the room a bar or a candle has.
function spacing(plots, span) {
  let least = Infinity;
  for (const { mark, rows } of plots) {
    if (mark !== "bar" && mark !== "candles") continue;
    for (let place = 1; place < rows.length; place += 1) least = Math.min(least, rows[place][0] - rows[place - 1][0] || Infinity);
  }
  return Number.isFinite(least) ? least : span || 1;
}

function domains(plots) {
  const seen = reach(plots);
  const filled = Number.isFinite(seen.left) && Number.isFinite(seen.low);
  let { left, right, low, high } = filled ? seen : { left: 0, right: 1, low: 0, high: 1 };
  const solid = plots.some(({ mark }) => mark === "bar" || mark === "candles");
  const gap = spacing(plots, right - left);
  if (solid) [left, right] = [left - gap / 2, right + gap / 2];
  if (left === right) [left, right] = [left - 1, right + 1];
  if (plots.some(({ mark }) => mark === "bar" || mark === "area")) [low, high] = [Math.min(low, 0), Math.max(high, 0)];
  const pad = (high - low) * 0.02 || Math.abs(high) * 0.1 || 1;
  return { x: [left, right], y: [low === 0 ? 0 : low - pad, high === 0 ? 0 : high + pad], gap, filled };
}

function xTicks(axis, domain, width, zone) {
  if (axis.kind === "time") {
    const { ticks, formOf } = timeTicks(domain, zone, Math.max(2, Math.floor(width / TICK_EVERY_TIME)));
    return ticks.map((at) => ({ at, text: timeText(at, zone, formOf(at)) }));
  }
  if (axis.kind === "name") {
    const room = Math.max(...axis.names.map(breadth), LETTER) + 12;
    const every = Math.max(1, Math.ceil((axis.names.length * room) / width));
    return axis.names.map((text, at) => ({ at, text })).filter(({ at }) => at % every === 0);
  }
  const { ticks, digits } = numberTicks(domain, Math.max(2, Math.floor(width / TICK_EVERY_NUMBER)));
  return ticks.map((at) => ({ at, text: numberText(at, digits) }));
}

// From one tick to another, so that lines stand at the foot and the head of the chart.
function rounded([low, high], count) {
  const step = niceStep(high - low, count);
  return [Math.floor(low / step + 1e-9) * step, Math.ceil(high / step - 1e-9) * step];
}

export function frame(data, plots, width, height, zone) {
  const { x: across, y: exact, gap, filled } = domains(plots);
  const bottom = height - FOOT;
  const count = Math.max(2, Math.floor((bottom - TOP) / TICK_EVERY_Y));
  const up = data.y.within ?? rounded(exact, count);
  const marks = numberTicks(up, count);
  const labels = (filled ? marks.ticks : []).map((at) => ({ at, text: numberText(at, marks.digits) }));
  const left = Math.ceil(Math.max(...labels.map(({ text }) => text.length), 1) * LETTER) + 8;
  const x = scale(across, [left, width - RIGHT]);
  const y = scale(up, [bottom, TOP]);
  const grid = labels.map(({ at }) => ({ kind: at === 0 ? "chart-zero" : "chart-grid", d: `M${left} ${Math.round(y(at)) + 0.5}H${width - RIGHT}` }));
  const texts = labels.map(({ at, text }) => ({ kind: "chart-tick", at: [left - 6, Math.round(y(at)) + 4], anchor: "end", text }));
  for (const { at, text } of filled ? xTicks(data.x, across, width - left, zone) : []) {
    const half = breadth(text) / 2;
    const place = Math.min(Math.max(x(at), left + half - 6), width - half);
    texts.push({ kind: "chart-tick", at: [place, bottom + 18], anchor: "middle", text });
    grid.push({ kind: "chart-grid", d: `M${Math.round(x(at)) + 0.5} ${bottom}v4` });
  }
  if (!filled) texts.push({ kind: "chart-axis", at: [(left + width) / 2, height / 2], anchor: "middle", text: "No data yet." });
  if (!filled) grid.push({ kind: "chart-grid", d: `M${left} ${TOP}V${bottom}H${width - RIGHT}` });
  return { x, y, room: Math.abs(x(gap) - x(0)), grid, texts, filled, top: TOP, bottom, width };
}
