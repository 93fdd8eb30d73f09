// Whether the page hears news; hidden on pages that follow nothing.
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
