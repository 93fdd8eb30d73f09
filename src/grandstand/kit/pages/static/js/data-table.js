// A table the server rendered: sorted, filtered and saved in the page when all its rows are there.
import { morph } from "./morph.js";
import { walkRows } from "./rows.js";
import { csv, save } from "./save.js";

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

function worth(row, place) {
  const cell = row.cells[place];
  const text = cell.dataset.value ?? cell.textContent.trim();
  return text === "–" ? "" : text;
}

function compare(one, other, kind) {
  if (kind !== "number") return collator.compare(one, other);
  return Number(one) - Number(other);
}

function blank(value, kind) {
  return value === "" || (kind === "number" && Number.isNaN(Number(value)));
}

class DataTable extends HTMLElement {
  #sort = null; // { place, descending }
  #words = [];

  connectedCallback() {
    this.addEventListener("click", (event) => this.#clicked(event));
    this.addEventListener("input", (event) => this.#typed(event));
    this.addEventListener("submit", (event) => { if (this.#complete) event.preventDefault(); });
    this.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.target.type !== "search") return;
      event.target.value = "";
      this.#typed(event);
    });
    const region = this.querySelector(".table-scroll");
    if (region) walkRows(region, () => this.#rows.filter((row) => !row.hidden));
    this.querySelector("[data-count]")?.setAttribute("aria-live", "polite");
  }

  get #complete() {
    return this.hasAttribute("data-complete");
  }

  get #rows() {
    return [...(this.querySelector("tbody")?.rows ?? [])];
  }

  // What the server sends anew is put in, then sorted and filtered as before.
  morph(wanted) {
    const body = this.querySelector("tbody");
    const next = wanted.querySelector("tbody");
    if (!body || !next || !this.#complete) {
      morph(this, wanted);
    } else {
      morph(body, next);
    }
    this.#apply();
  }

  #clicked(event) {
    const link = event.target.closest?.("a[data-sort], a[data-csv]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || !this.#complete) return;
    event.preventDefault();
    if (link.matches("[data-csv]")) return this.#save(link.download);
    const head = link.closest("th");
    const descending = head.getAttribute("aria-sort") === "ascending";
    this.#sort = { place: head.cellIndex, descending };
    this.#apply();
  }

  #typed(event) {
    if (event.target.type !== "search" || !this.#complete) return;
    this.#words = event.target.value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
    this.#apply();
  }

  #apply() {
    const rows = this.#rows;
    if (this.#sort) this.#order(rows);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLocaleLowerCase();
      row.hidden = !this.#words.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    const count = this.querySelector("[data-count]");
    const all = `${rows.length.toLocaleString("en")} ${rows.length === 1 ? "row" : "rows"}`;
    const text = shown === rows.length ? all : `${shown.toLocaleString("en")} of ${all}`;
    if (count && count.textContent !== text) count.textContent = text;
    const none = this.querySelector("[data-none]");
    if (none) none.hidden = shown > 0 || rows.length === 0;
  }

  #order(rows) {
    const { place, descending } = this.#sort;
    const heads = [...this.querySelectorAll("thead th")];
    for (const head of heads) head.removeAttribute("aria-sort");
    heads[place].setAttribute("aria-sort", descending ? "descending" : "ascending");
    const kind = heads[place].classList.contains("kind-number") ? "number" : "text";
    const focused = document.activeElement;
    rows.sort((one, other) => {
      const [left, right] = [worth(one, place), worth(other, place)];
      if (blank(left, kind) || blank(right, kind)) return blank(left, kind) - blank(right, kind);
      return descending ? compare(right, left, kind) : compare(left, right, kind);
    });
    this.querySelector("tbody").append(...rows);
    if (this.contains(focused)) focused.focus();
  }

  #save(name) {
    const heads = [...this.querySelectorAll("thead th")].map((head) => head.textContent.trim());
    const rows = this.#rows.filter((row) => !row.hidden);
    save(name, csv([heads, ...rows.map((row) => [...row.cells].map((_, place) => worth(row, place)))]), "text/csv");
  }
}

customElements.define("data-table", DataTable);
