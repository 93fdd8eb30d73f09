// An order book: updates are { bids: [[price, size], …], asks: […] }, best first.
import { followAs } from "./live.js";
import { morph } from "./morph.js";
import { fresh } from "./refresh.js";
import { walkRows } from "./rows.js";

const SVG = "http://www.w3.org/2000/svg";

function bar(size, most) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "depth");
  svg.setAttribute("viewBox", "0 0 100 1");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS(SVG, "rect");
  shape.setAttribute("width", ((size / most) * 100).toFixed(1));
  shape.setAttribute("height", "1");
  svg.append(shape);
  return svg;
}

function level(side, [price, size], most) {
  const row = document.createElement("tr");
  row.className = side;
  row.dataset.key = `${side}-${price}`;
  const head = document.createElement("th");
  head.scope = "row";
  head.textContent = price;
  const full = document.createElement("td");
  const words = document.createElement("span");
  words.textContent = size.toLocaleString("en");
  full.append(bar(size, most), words);
  const empty = document.createElement("td");
  row.append(...(side === "bid" ? [full, head, empty] : [empty, head, full]));
  return row;
}

function between(bids, asks) {
  const row = document.createElement("tr");
  row.className = "spread";
  const apart = Number((asks[0][0] - bids[0][0]).toFixed(6));
  for (const text of ["", `${apart} apart`, ""]) {
    row.append(Object.assign(document.createElement("td"), { textContent: text }));
  }
  return row;
}

class OrderLadder extends HTMLElement {
  #stop = () => {};
  #waiting = null;

  connectedCallback() {
    const table = this.querySelector("table");
    table.tabIndex = 0;
    walkRows(table, () => [...table.tBodies[0].rows].filter((row) => !row.classList.contains("spread")));
    this.#stop = followAs(this, { update: (book) => this.#later(book), refetch: () => this.#again() });
  }

  disconnectedCallback() {
    this.#stop();
  }

  #later(book) {
    if (!this.#waiting) requestAnimationFrame(() => this.show(this.#waiting));
    this.#waiting = book;
  }

  async #again() {
    const wanted = await fresh(this.id);
    if (wanted) this.morph(wanted);
  }

  morph(wanted) {
    morph(this.querySelector("tbody"), wanted.querySelector("tbody"));
  }

  show({ bids, asks }) {
    this.#waiting = null;
    const most = Math.max(1, ...bids.concat(asks).map(([, size]) => size));
    const body = document.createElement("tbody");
    body.append(...[...asks].reverse().map((one) => level("ask", one, most)));
    if (bids.length && asks.length) body.append(between(bids, asks));
    body.append(...bids.map((one) => level("bid", one, most)));
    morph(this.querySelector("tbody"), body);
  }
}

customElements.define("order-ladder", OrderLadder);
