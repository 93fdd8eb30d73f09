// <book-then>: the book at the instant a slider stands at, asked for as it is moved.
const REST_MS = 120;
const SECOND = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };

const INSTANT = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

function written(instant) {
  const zone = document.documentElement.dataset.zone || "UTC";
  return instant.toLocaleString("en-GB", { ...SECOND, timeZone: zone }).replace(",", "");
}

function cents({ price, size }) {
  return [Number((Number(price) * 100).toFixed(3)), Number(size)];
}

class BookThen extends HTMLElement {
  #timer = 0;
  #asked = 0;

  connectedCallback() {
    this.querySelector("input[type=range]").addEventListener("input", (event) => this.#move(event.target));
    this.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
  }

  disconnectedCallback() {
    clearTimeout(this.#timer);
  }

  #move(slider) {
    const instant = new Date(Number(slider.value));
    const text = written(instant);
    this.querySelector("[data-when]").textContent = text;
    slider.setAttribute("aria-valuetext", text);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(instant), REST_MS);
  }

  async #ask(instant) {
    const mine = (this.#asked += 1);
    const address = `/api/gatherer/markets/${encodeURIComponent(this.dataset.ticker)}/book`;
    const answer = await fetch(`${address}?at=${encodeURIComponent(instant.toISOString())}`).catch(() => null);
    if (mine !== this.#asked) return;
    if (!answer?.ok) return this.#say("not known", "bad", "the server did not answer; move the slider again");
    const book = await answer.json();
    this.querySelector("order-ladder").show({ bids: book.bids.slice(0, 12).map(cents), asks: book.asks.slice(0, 12).map(cents) });
    if (book.exact) this.#say("exact", "good", `${book.deltas.toLocaleString("en")} changes since the last whole book`);
    else this.#say("not exact", "warn", book.doubt.replace(INSTANT, (at) => written(new Date(at))));
  }

  #say(word, tone, text) {
    const badge = Object.assign(document.createElement("span"), { className: `badge tone-${tone}`, textContent: word });
    this.querySelector("[data-proof]").replaceChildren(badge, ` ${text}`);
  }
}

customElements.define("book-then", BookThen);
