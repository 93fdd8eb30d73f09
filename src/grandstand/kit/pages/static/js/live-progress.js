// The progress of long-running work; updates are { done, total, words }.
import { followAs } from "./live.js";

class LiveProgress extends HTMLElement {
  #stop = () => {};

  connectedCallback() {
    this.#stop = followAs(this, { update: (values) => this.show(values), refetch: () => {} });
  }

  disconnectedCallback() {
    this.#stop();
  }

  show({ done, total, words }) {
    const bar = this.querySelector("progress");
    if (total) {
      bar.max = total;
      bar.value = done;
    }
    const text = words ?? (total ? `${done.toLocaleString("en")} of ${total.toLocaleString("en")}` : `${done.toLocaleString("en")} so far`);
    this.querySelector("[data-words]").textContent = text;
  }
}

customElements.define("live-progress", LiveProgress);
