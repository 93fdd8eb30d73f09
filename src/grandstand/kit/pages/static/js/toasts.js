// Short messages at the foot of the page; errors stay until they are closed.
const SHOWN_MS = 6000;

class ToastStack extends HTMLElement {
  connectedCallback() {
    this.setAttribute("role", "status");
    this.setAttribute("aria-live", "polite");
    for (const toast of this.querySelectorAll(".toast")) this.dress(toast, "");
  }

  // A message is shown only once: many parts of a page may lose the server at the same time.
  add(text, tone) {
    const shown = [...this.querySelectorAll(".toast")].map((toast) => toast.firstChild?.textContent);
    if (shown.includes(text)) return;
    const toast = document.createElement("p");
    toast.className = tone ? `toast tone-${tone}` : "toast";
    toast.textContent = text;
    this.append(toast);
    this.dress(toast, tone);
  }

  dress(toast, tone) {
    const close = document.createElement("button");
    close.type = "button";
    close.className = "toast-close";
    close.textContent = "Close";
    close.addEventListener("click", () => toast.remove());
    toast.append(close);
    if (tone !== "bad") this.leaveLater(toast);
  }

  leaveLater(toast) {
    let timer = 0;
    const start = () => { timer = setTimeout(() => toast.remove(), SHOWN_MS); };
    const hold = () => clearTimeout(timer);
    toast.addEventListener("pointerenter", hold);
    toast.addEventListener("focusin", hold);
    toast.addEventListener("pointerleave", start);
    toast.addEventListener("focusout", start);
    start();
  }
}

customElements.define("toast-stack", ToastStack);

export function say(text, tone = "") {
  document.querySelector("toast-stack")?.add(text, tone);
}
