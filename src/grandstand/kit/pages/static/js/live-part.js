// A part of a page, fetched again when its topic is updated: <live-part id data-topic>.
// With data-every it is also fetched at that interval in seconds, for changes without a topic.
import { followAs } from "./live.js";
import { morph } from "./morph.js";
import { fresh } from "./refresh.js";

const REST_MS = 1000;

class LivePart extends HTMLElement {
  #stop = () => {};
  #timer = 0;
  #last = 0;
  #beat = 0;

  connectedCallback() {
    const every = Number(this.dataset.every ?? 0) * 1000;
    if (every) this.#beat = setInterval(() => { if (!document.hidden) this.soon(); }, every);
    this.#stop = followAs(this, { update: () => this.soon(), refetch: () => this.soon() });
  }

  disconnectedCallback() {
    this.#stop();
    clearTimeout(this.#timer);
    clearInterval(this.#beat);
  }

  // Fetches at most once a second.
  soon() {
    if (this.#timer) return;
    const wait = Math.max(0, this.#last + REST_MS - performance.now());
    this.#timer = setTimeout(async () => {
      this.#timer = 0;
      this.#last = performance.now();
      const wanted = await fresh(this.id);
      if (wanted) morph(this, wanted);
    }, wait);
  }

  morph(wanted) {
    morph(this, wanted);
  }
}

customElements.define("live-part", LivePart);
