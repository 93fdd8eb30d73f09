// <browser-alerts>: lets this browser be alerted of the matches one follows, or no longer.
const SCOPE = "/cricket/";
const ADDRESS = "/api/cricket/user/browser";
const ABLE = "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;

class BrowserAlerts extends HTMLElement {
  connectedCallback() {
    this.button = this.querySelector("button");
    this.status = this.querySelector("[role=status]");
    this.button.addEventListener("click", () => this.#change());
    this.#look();
  }

  async #look() {
    if (!ABLE) return this.#say("This browser cannot be alerted.");
    this.#show(Boolean(await subscription()));
  }

  async #change() {
    this.button.disabled = true;
    try {
      const known = await subscription();
      this.#show(known ? await this.#leave(known) : await this.#join());
    } catch (fault) {
      this.#say(`That did not work: ${fault.message}`);
    }
    this.button.disabled = false;
  }

  async #join() {
    if ((await Notification.requestPermission()) !== "granted") {
      throw new Error("notifications from this site are not allowed");
    }
    await navigator.serviceWorker.register(this.dataset.worker, { scope: SCOPE });
    const { pushManager } = await navigator.serviceWorker.ready;
    const made = await pushManager.subscribe({
      userVisibleOnly: true,
      applicationServerKey: bytes(this.dataset.key),
    });
    try {
      await this.#tell("POST", ADDRESS, JSON.stringify(made));
    } catch (fault) {
      await made.unsubscribe();
      throw fault;
    }
    return true;
  }

  async #leave(known) {
    await this.#tell("DELETE", `${ADDRESS}?endpoint=${encodeURIComponent(known.endpoint)}`);
    await known.unsubscribe();
    return false;
  }

  async #tell(method, address, body) {
    const headers = { "content-type": "application/json", "x-csrf-token": this.dataset.csrf };
    const answer = await fetch(address, { method, headers, body });
    if (answer.ok) return;
    const problem = await answer.json().catch(() => ({}));
    throw new Error(problem.detail ?? `the server answered ${answer.status}`);
  }

  #show(on) {
    this.button.hidden = false;
    this.button.textContent = on ? "Alert this browser no longer" : "Alert this browser";
    this.#say(on ? "This browser is alerted." : "This browser is not alerted.");
  }

  #say(words) {
    this.status.textContent = words;
  }
}

async function subscription() {
  const known = await navigator.serviceWorker.getRegistration(SCOPE);
  return known ? known.pushManager.getSubscription() : null;
}

function bytes(text) {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
}

customElements.define("browser-alerts", BrowserAlerts);
