// From rows to paths. Every mark is thinned to what the pixels can show: of each column of pixels
// the first, the lowest, the highest and the last point are kept.
const n = (value) => (Math.round(value * 10) / 10).toString();

function low(row) { return row.length === 5 ? row[3] : row[1]; }
function high(row) { return row.length === 2 ? row[1] : row[2]; }

export function decimate(rows, x) {
  const kept = [];
  let column = null;
  let bucket = [];
  const flush = () => {
    if (bucket.length <= 4) return kept.push(...bucket);
    let lowest = bucket[0];
    let highest = bucket[0];
    for (const row of bucket) {
      if (low(row) < low(lowest)) lowest = row;
      if (high(row) > high(highest)) highest = row;
    }
    const wanted = new Set([bucket[0], lowest, highest, bucket.at(-1)]);
    kept.push(...bucket.filter((row) => wanted.delete(row)));
  };
  for (const row of rows) {
    const place = Math.round(x(row[0]));
    const gap = row.includes(null);
    if (place !== column || gap) {
      flush();
      bucket = [];
      column = place;
    }
    if (gap) kept.push(row);
    else bucket.push(row);
  }
  flush();
  return kept;
}

function runs(rows) {
  const all = [[]];
  for (const row of rows) {
    if (row.includes(null)) all.push([]);
    else all.at(-1).push(row);
  }
  return all.filter((run) => run.length);
}

function straight(run, x, y) {
  return "M" + run.map((row) => `${n(x(row[0]))} ${n(y(row[1]))}`).join("L");
}

function stepped(run, x, y) {
  let path = `M${n(x(run[0][0]))} ${n(y(run[0][1]))}`;
  for (const row of run.slice(1)) path += `H${n(x(row[0]))}V${n(y(row[1]))}`;
  return path;
}

function grounded(path, run, x, y) {
  const floor = n(y(Math.max(0, y.domain[0])));
  return `${path}V${floor}H${n(x(run[0][0]))}Z`;
}

function bars(rows, x, y, width) {
  const floor = y(Math.min(Math.max(0, y.domain[0]), y.domain[1]));
  const columns = new Map();
  for (const row of rows) {
    if (row[1] === null) continue;
    const place = width < 1 ? Math.round(x(row[0])) : x(row[0]);
    const before = columns.get(place);
    if (before === undefined || Math.abs(row[1]) > Math.abs(before)) columns.set(place, row[1]);
  }
  const wide = Math.max(width, 1);
  return [...columns].map(([place, value]) => `M${n(place - wide / 2)} ${n(floor)}V${n(y(value))}h${n(wide)}V${n(floor)}Z`).join("");
}

function dots(rows, x, y) {
  const seen = new Set();
  for (const row of rows) {
    if (row[1] !== null) seen.add(`M${n(x(row[0]))} ${n(y(row[1]))}h0`);
  }
  return [...seen].join("");
}

const NARROWEST_CANDLE = 3;

function merged(rows, x) {
  const all = new Map();
  for (const row of rows) {
    if (row.includes(null)) continue;
    const place = Math.floor(x(row[0]) / NARROWEST_CANDLE);
    const held = all.get(place);
    if (!held) all.set(place, [...row]);
    else {
      held[2] = Math.max(held[2], row[2]);
      held[3] = Math.min(held[3], row[3]);
      held[4] = row[4];
    }
  }
  return [...all.values()];
}

function candles(rows, x, y, width) {
  const shown = width < NARROWEST_CANDLE ? merged(rows, x) : rows.filter((row) => !row.includes(null));
  const wide = Math.max(width * 0.7, 2);
  const paths = { up: "", down: "" };
  for (const [at, open, top, bottom, close] of shown) {
    const middle = x(at);
    const [from, to] = [y(Math.max(open, close)), y(Math.min(open, close))];
    paths[close >= open ? "up" : "down"] +=
      `M${n(middle)} ${n(y(top))}V${n(y(bottom))}M${n(middle - wide / 2)} ${n(from)}h${n(wide)}v${n(Math.max(to - from, 0.8))}h${n(-wide)}Z`;
  }
  return [["chart-up", paths.up], ["chart-down", paths.down]];
}

// Answers [class, path] pairs; `width` is the room between two neighbours.
export function draw(mark, rows, x, y, width) {
  if (mark === "bar") return [["chart-bar", bars(rows, x, y, width * 0.8)]];
  if (mark === "scatter") return [["chart-dots", dots(rows, x, y)]];
  if (mark === "candles") return candles(rows, x, y, width);
  const segments = runs(decimate(rows, x));
  if (mark === "band") {
    const shape = (run) => straight(run, x, y) + "L" + [...run].reverse().map((row) => `${n(x(row[0]))} ${n(y(row[2]))}`).join("L") + "Z";
    return [["chart-band", segments.map(shape).join("")]];
  }
  const line = mark === "step" ? stepped : straight;
  const paths = [["chart-line", segments.map((run) => line(run, x, y)).join("")]];
  if (mark === "area") paths.unshift(["chart-area", segments.map((run) => grounded(line(run, x, y), run, x, y)).join("")]);
  // A line of one point has no length: it is shown as what it is.
  const lone = segments.filter((run) => run.length === 1).flat();
  if (lone.length) paths.push(["chart-dots", dots(lone, x, y)]);
  return paths;
}
