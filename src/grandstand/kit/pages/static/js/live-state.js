// The state of the live connection; hidden on pages that follow no topic.
class LiveState extends HTMLElement {
  connectedCallback() {
    this.setAttribute("role", "status");
    document.addEventListener("live-state", (event) => {
      const { state, words } = event.detail;
      this.hidden = false;
      this.dataset.state = state;
      this.querySelector("[data-words]").textContent = words;
    });
  }
}

customElements.define("live-state", LiveState);
