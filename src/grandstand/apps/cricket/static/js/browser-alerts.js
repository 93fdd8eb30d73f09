// <browser-alerts>: turns alerts for followed matches on or off in this browser.
const SCOPE = "/cricket/";
const ENDPOINT = "/api/cricket/user/browser";
const SUPPORTED = "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;

class BrowserAlerts extends HTMLElement {
  connectedCallback() {
    this.button = this.querySelector("button");
    this.status = this.querySelector("[role=status]");
    this.button.addEventListener("click", () => this.#toggle());
    this.#update();
  }

  async #update() {
    if (!SUPPORTED) return this.#setStatus("This browser does not support push notifications.");
    this.#render(Boolean(await getSubscription()));
  }

  async #toggle() {
    this.button.disabled = true;
    try {
      const current = await getSubscription();
      this.#render(current ? await this.#unsubscribe(current) : await this.#subscribe());
    } catch (error) {
      this.#setStatus(`Failed: ${error.message}`);
    }
    this.button.disabled = false;
  }

  async #subscribe() {
    if ((await Notification.requestPermission()) !== "granted") {
      throw new Error("notifications are blocked for this site");
    }
    await navigator.serviceWorker.register(this.dataset.worker, { scope: SCOPE });
    const { pushManager } = await navigator.serviceWorker.ready;
    const subscription = await pushManager.subscribe({
      userVisibleOnly: true,
      applicationServerKey: decodeBase64(this.dataset.key),
    });
    try {
      await this.#request("POST", ENDPOINT, JSON.stringify(subscription));
    } catch (error) {
      await subscription.unsubscribe();
      throw error;
    }
    return true;
  }

  async #unsubscribe(subscription) {
    await this.#request("DELETE", `${ENDPOINT}?endpoint=${encodeURIComponent(subscription.endpoint)}`);
    await subscription.unsubscribe();
    return false;
  }

  async #request(method, url, body) {
    const headers = { "content-type": "application/json", "x-csrf-token": this.dataset.csrf };
    const response = await fetch(url, { method, headers, body });
    if (response.ok) return;
    const problem = await response.json().catch(() => ({}));
    throw new Error(problem.detail ?? `the server responded with ${response.status}`);
  }

  #render(enabled) {
    this.button.hidden = false;
    this.button.textContent = enabled ? "Turn off alerts" : "Turn on alerts";
    this.#setStatus(enabled ? "Alerts are on in this browser." : "Alerts are off in this browser.");
  }

  #setStatus(text) {
    this.status.textContent = text;
  }
}

async function getSubscription() {
  const registration = await navigator.serviceWorker.getRegistration(SCOPE);
  return registration ? registration.pushManager.getSubscription() : null;
}

function decodeBase64(text) {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (char) => char.charCodeAt(0));
}

customElements.define("browser-alerts", BrowserAlerts);
