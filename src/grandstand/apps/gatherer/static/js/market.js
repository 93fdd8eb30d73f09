// <past-book>: the order book at the instant of a slider.
const DEBOUNCE_MS = 120;
const SECOND = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };

const INSTANT = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

function formatTime(instant) {
  const zone = document.documentElement.dataset.zone || "UTC";
  return instant.toLocaleString("en-GB", { ...SECOND, timeZone: zone }).replace(",", "");
}

function cents({ price, size }) {
  return [Number((Number(price) * 100).toFixed(3)), Number(size)];
}

class PastBook extends HTMLElement {
  #timer = 0;
  #requests = 0;

  connectedCallback() {
    this.querySelector("input[type=range]").addEventListener("input", (event) => this.#move(event.target));
    this.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
  }

  disconnectedCallback() {
    clearTimeout(this.#timer);
  }

  #move(slider) {
    const instant = new Date(Number(slider.value));
    const text = formatTime(instant);
    this.querySelector("[data-when]").textContent = text;
    slider.setAttribute("aria-valuetext", text);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#load(instant), DEBOUNCE_MS);
  }

  async #load(instant) {
    const request = (this.#requests += 1);
    const url = `/api/gatherer/markets/${encodeURIComponent(this.dataset.ticker)}/book`;
    const response = await fetch(`${url}?at=${encodeURIComponent(instant.toISOString())}`).catch(() => null);
    if (request !== this.#requests) return;
    if (!response?.ok) return this.#showStatus("unknown", "bad", "request failed; move the slider again");
    const book = await response.json();
    this.querySelector("order-ladder").show({ bids: book.bids.slice(0, 12).map(cents), asks: book.asks.slice(0, 12).map(cents) });
    if (book.exact) this.#showStatus("exact", "good", `${book.deltas.toLocaleString("en")} changes since the last snapshot`);
    else this.#showStatus("not exact", "warn", book.doubt.replace(INSTANT, (at) => formatTime(new Date(at))));
  }

  #showStatus(label, tone, text) {
    const badge = Object.assign(document.createElement("span"), { className: `badge tone-${tone}`, textContent: label });
    this.querySelector("[data-exactness]").replaceChildren(badge, ` ${text}`);
  }
}

customElements.define("past-book", PastBook);
