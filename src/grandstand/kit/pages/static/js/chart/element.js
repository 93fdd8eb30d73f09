// <chart-plot>: a chart of the data in its script element, with a cursor, a table and downloads.
import { followAs } from "../live.js";
import { fresh } from "../refresh.js";
import { csv, save } from "../save.js";
import { frame } from "./frame.js";
import { draw } from "./marks.js";
import { picture } from "./picture.js";
import { nearest, numberText, timeText } from "./scales.js";
import { tableOf } from "./table.js";

const SVG = "http://www.w3.org/2000/svg";
const MOMENT = { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };
const PARTS = { band: ["low", "high"], candles: ["open", "high", "low", "close"] };
let made = 0;

function element(name, values = {}, ...children) {
  const node = Object.assign(document.createElement(name), values);
  node.append(...children);
  return node;
}

function shape(name, attributes, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

class ChartPlot extends HTMLElement {
  #stop = () => {};
  #sizes = null;
  #frame = null;
  #drawing = 0;
  #cursor = null;
  #hidden = new Set();

  connectedCallback() {
    this.#take(this.querySelector("script"));
    if (!this.face) this.#furnish();
    this.#sizes = new ResizeObserver(() => this.#soon());
    this.#sizes.observe(this.face);
    this.#stop = followAs(this, { update: (values) => this.append(values), refetch: () => this.#again() });
  }

  disconnectedCallback() {
    this.#sizes?.disconnect();
    this.#stop();
  }

  get zone() {
    return document.documentElement.dataset.zone || "UTC";
  }

  // A chart keeps its own children when the piece of page around it is renewed.
  morph(wanted) {
    const before = this.#names();
    this.#take(wanted.querySelector("script"));
    if (this.#names() !== before) {
      this.keys.replaceChildren();
      this.#makeKeys();
    }
    const caption = wanted.querySelector("figcaption");
    if (caption) this.querySelector("figcaption").replaceWith(caption);
    this.#soon();
  }

  #names() {
    return this.data.plots.map(({ name }) => name).join("\n");
  }

  append(first, more) {
    const { plot, rows } = more ? { plot: first, rows: more } : first;
    const held = this.data.plots.find(({ name }) => name === plot);
    if (!held) return;
    for (const row of rows) {
      const last = held.rows.at(-1);
      if (last && row[0] === last[0]) held.rows[held.rows.length - 1] = row;
      else if (!last || row[0] > last[0]) held.rows.push(row);
      else held.rows.splice(nearest(held.rows, row[0]) + (held.rows[nearest(held.rows, row[0])][0] < row[0]), 0, row);
    }
    this.#forget();
    this.#soon();
  }

  #forget() {
    if (!this.data.keep) return;
    const last = Math.max(...this.data.plots.map(({ rows }) => rows.at(-1)?.[0] ?? -Infinity));
    for (const plot of this.data.plots) {
      const from = plot.rows.findIndex((row) => row[0] >= last - this.data.keep);
      if (from > 0) plot.rows.splice(0, from);
    }
  }

  #take(script) {
    this.data = JSON.parse(script.textContent);
    this.data.plots.forEach((plot, place) => { plot.tone ||= String((place % 8) + 1); });
  }

  async #again() {
    const wanted = await fresh(this.id);
    if (wanted) this.morph(wanted);
  }

  #furnish() {
    made += 1;
    const figure = this.querySelector("figure");
    this.keys = element("div", { className: "chart-keys" });
    this.svg = shape("svg", { "aria-hidden": "true" });
    this.tip = element("div", { className: "chart-tip", hidden: true });
    this.tip.setAttribute("aria-hidden", "true");
    this.spoken = element("p", { className: "chart-summary" });
    this.spoken.setAttribute("aria-live", "polite");
    this.face = element("div", { className: "chart-face", tabIndex: 0 }, this.svg, this.tip);
    this.face.setAttribute("role", "group");
    this.face.setAttribute("aria-roledescription", "chart");
    this.face.setAttribute("aria-label", `${this.data.title}: arrow keys move along the values`);
    this.foot = element("div", { className: "chart-foot" });
    this.table = element("div", { className: "chart-table", hidden: true, tabIndex: 0, id: `chart-table-${made}` });
    this.table.setAttribute("role", "region");
    this.table.setAttribute("aria-label", `${this.data.title}: table`);
    figure.append(this.keys, this.face, this.spoken, this.foot, this.table);
    this.#makeKeys();
    this.#makeFoot();
    this.face.addEventListener("pointermove", (event) => this.#hover(event));
    this.face.addEventListener("pointerdown", (event) => this.#hover(event));
    this.face.addEventListener("pointerleave", () => this.#point(null));
    this.face.addEventListener("blur", () => this.#point(null));
    this.face.addEventListener("keydown", (event) => this.#key(event));
  }

  #makeKeys() {
    this.keys.hidden = this.data.plots.length < 2;
    for (const plot of this.data.plots) {
      const key = element("button", { type: "button", className: `chart-key tone-${plot.tone}`, textContent: plot.name });
      key.setAttribute("aria-pressed", String(!this.#hidden.has(plot.name)));
      key.addEventListener("click", () => {
        const gone = this.#hidden.delete(plot.name) ? false : Boolean(this.#hidden.add(plot.name));
        key.setAttribute("aria-pressed", String(!gone));
        this.#soon();
      });
      this.keys.append(key);
    }
  }

  #makeFoot() {
    const name = (this.id || "chart").replaceAll(/\W+/g, "-");
    const button = (text, work) => {
      const made = element("button", { type: "button", className: "quiet", textContent: text });
      made.addEventListener("click", () => work(made));
      return made;
    };
    const table = button("Table", (made) => {
      this.table.hidden = !this.table.hidden;
      made.setAttribute("aria-expanded", String(!this.table.hidden));
      this.#fillTable();
    });
    table.setAttribute("aria-expanded", "false");
    table.setAttribute("aria-controls", this.table.id);
    const axis = element("span", { className: "chart-hint" });
    axis.textContent = `${this.data.y.title}${this.data.y.unit ? ` (${this.data.y.unit})` : ""}, by ${this.data.x.title.toLowerCase()}`;
    this.foot.append(
      axis,
      table,
      button("CSV", () => save(`${name}.csv`, csv(this.#grid((x) => this.#plainX(x))), "text/csv")),
      button("PNG", async () => save(`${name}.png`, await picture(this.svg, this.data.title, this.keys.children))),
    );
  }

  get plots() {
    return this.data.plots.filter(({ name }) => !this.#hidden.has(name));
  }

  #soon() {
    this.#drawing ||= requestAnimationFrame(() => {
      this.#drawing = 0;
      this.#draw();
    });
  }

  #draw() {
    const width = Math.floor(this.face.clientWidth);
    if (!width) return;
    const height = this.data.height;
    this.#frame = frame(this.data, this.plots, width, height, this.zone);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.setAttribute("height", height);
    const { x, y, room, grid, texts } = this.#frame;
    const nodes = grid.map(({ kind, d }) => shape("path", { class: kind, d }));
    nodes.push(...texts.map(({ kind, at, anchor, text }) => shape("text", { class: kind, x: at[0], y: at[1], "text-anchor": anchor }, text)));
    for (const plot of this.plots) {
      for (const [kind, d] of draw(plot.mark, plot.rows, x, y, room)) {
        if (d) nodes.push(shape("path", { class: `${kind} tone-${plot.tone}`, d }));
      }
    }
    this.marker = shape("g", { "data-cursor": "" });
    this.svg.replaceChildren(...nodes, this.marker);
    if (this.#cursor !== null) this.#point(this.#cursor);
    if (!this.table.hidden) this.#fillTable();
  }

  #hover(event) {
    if (!this.#frame?.filled) return;
    const place = event.clientX - this.face.getBoundingClientRect().left;
    const wanted = this.#frame.x.from(place);
    const near = this.plots.filter(({ rows }) => rows.length).map(({ rows }) => rows[nearest(rows, wanted)][0]);
    this.#point(near.sort((one, other) => Math.abs(one - wanted) - Math.abs(other - wanted))[0] ?? null);
  }

  #key(event) {
    const rows = this.plots.map((plot) => plot.rows).sort((one, other) => other.length - one.length)[0];
    if (!rows?.length || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") return this.#point(null);
    const leap = Math.max(1, Math.round(rows.length / 10));
    const last = rows.length - 1;
    const at = this.#cursor === null ? null : nearest(rows, this.#cursor);
    const target = {
      ArrowRight: at === null ? 0 : at + 1,
      ArrowLeft: at === null ? last : at - 1,
      PageUp: (at ?? 0) + leap,
      PageDown: (at ?? last) - leap,
      Home: 0,
      End: last,
    }[event.key];
    if (target === undefined) return;
    event.preventDefault();
    this.#point(rows[Math.min(Math.max(target, 0), last)][0]);
    this.spoken.textContent = this.tip.innerText.replaceAll("\n", ", ");
  }

  #point(at) {
    this.#cursor = at;
    this.tip.hidden = at === null;
    this.marker?.replaceChildren();
    if (at === null || !this.#frame) return;
    const { x, y, top, bottom, width } = this.#frame;
    const place = x(at);
    this.marker.append(shape("path", { class: "chart-cursor", d: `M${place} ${top}V${bottom}` }));
    this.tip.replaceChildren(element("strong", { textContent: this.#shownX(at) }));
    for (const plot of this.plots) {
      const row = plot.rows.length ? plot.rows[nearest(plot.rows, at)] : null;
      if (!row || row[0] !== at) continue;
      for (const [name, words] of this.#shownY(plot, row)) {
        const tone = plot.mark === "candles" ? "" : `tone-${plot.tone}`;
        this.tip.append(element("div", { className: tone }, element("span", { textContent: name }), element("span", { textContent: words })));
      }
      if (row.length === 2 && row[1] !== null) this.marker.append(shape("circle", { class: `chart-point tone-${plot.tone}`, cx: place, cy: y(row[1]), r: 3.5 }));
    }
    const wide = this.tip.offsetWidth;
    const left = place + wide + 16 > width ? Math.max(0, place - wide - 12) : place + 12;
    this.tip.style.transform = `translate(${left}px, ${top}px)`;
  }

  #shownX(at) {
    const { kind, names, digits, unit } = this.data.x;
    if (kind === "time") return timeText(at, this.zone, MOMENT);
    if (kind === "name") return names[at] ?? String(at);
    return `${numberText(at, digits)}${unit ? ` ${unit}` : ""}`;
  }

  #plainX(at) {
    const { kind, names } = this.data.x;
    if (kind === "time") return new Date(at * 1000).toISOString();
    return kind === "name" ? names[at] ?? String(at) : at;
  }

  // Pairs of a name and a value: one for most marks, one for each part of a candle.
  #shownY({ name, mark }, row) {
    const { digits, unit } = this.data.y;
    const values = row.slice(1).map((value) => numberText(value, digits));
    const written = (text) => (unit ? `${text}\u00a0${unit}` : text);
    if (mark === "candles") return values.map((text, place) => [PARTS.candles[place], written(text)]);
    return [[name, written(values.join(" – "))]];
  }

  // A line of headings, then one line for every x there is.
  #grid(written) {
    const heads = [this.data.x.title];
    const lines = new Map();
    const { plots } = this.data;
    const widths = plots.map(({ mark }) => PARTS[mark]?.length ?? 1);
    const total = widths.reduce((sum, one) => sum + one, 0);
    let start = 0;
    plots.forEach((plot, place) => {
      heads.push(...(PARTS[plot.mark]?.map((part) => `${plot.name} ${part}`) ?? [plot.name]));
      for (const row of plot.rows) {
        if (!lines.has(row[0])) lines.set(row[0], new Array(total).fill(null));
        row.slice(1).forEach((value, offset) => { lines.get(row[0])[start + offset] = value; });
      }
      start += widths[place];
    });
    const sorted = [...lines].sort(([one], [other]) => one - other);
    return [heads, ...sorted.map(([at, values]) => [written(at), ...values])];
  }

  #fillTable() {
    if (this.table.hidden) return;
    const rows = this.#grid((at) => this.#shownX(at));
    this.table.replaceChildren(...tableOf(this.data.title, rows, (value) => numberText(value, this.data.y.digits)));
  }
}

customElements.define("chart-plot", ChartPlot);
