// Autosave: saves a draft 800 ms after the last key, and at least every 5 s while typing.
const IDLE_MS = 800;
const MAX_WAIT_MS = 5000;
const RETRY_MS = 3000;
const PERMANENT = new Set([401, 403, 404, 409, 413, 422]);

export class Draft {
  #timer = 0;
  #changedAt = 0;
  #saving = null;
  #saveAgain = false;
  #closed = false;

  // read() returns the body to save; show(state, text) displays the state.
  constructor(url, csrf, read, show) {
    this.url = url;
    this.csrf = csrf;
    this.read = read;
    this.show = show;
    this.unsaved = false;
  }

  changed() {
    if (this.#closed) return;
    this.unsaved = true;
    this.#changedAt ||= performance.now();
    this.show("dirty", "Unsaved changes");
    this.#schedule(Math.min(IDLE_MS, Math.max(0, this.#changedAt + MAX_WAIT_MS - performance.now())));
  }

  #schedule(wait) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.save(), wait);
  }

  async save({ keepalive = false } = {}) {
    clearTimeout(this.#timer);
    if (this.#closed) return;
    if (this.#saving && !keepalive) {
      this.#saveAgain = true;
      return this.#saving;
    }
    this.#saving = this.#send(keepalive).finally(() => {
      this.#saving = null;
      if (this.#saveAgain) this.save();
      this.#saveAgain = false;
    });
    return this.#saving;
  }

  async #send(keepalive) {
    const body = JSON.stringify(this.read());
    this.unsaved = false;
    this.#changedAt = 0;
    this.show("saving", "Saving…");
    try {
      const response = await fetch(this.url, {
        method: "PATCH",
        headers: { "content-type": "application/json", "x-csrf-token": this.csrf },
        body,
        keepalive,
      });
      if (response.ok) {
        if (!this.unsaved) this.show("saved", `Saved at ${clock()}`);
        return;
      }
      this.unsaved = true;
      if (PERMANENT.has(response.status)) return this.show("failed", await describeError(response));
    } catch {
      this.unsaved = true;
    }
    if (this.#closed) return;
    this.show("failed", "Not saved: the server does not respond. Retrying.");
    this.#schedule(RETRY_MS);
  }

  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
  }
}

// The current time in the user's time zone, like every other time on the page.
function clock() {
  const timeZone = document.documentElement.dataset.zone || "UTC";
  return new Date().toLocaleTimeString("en-GB", { timeStyle: "short", timeZone });
}

async function describeError(response) {
  if (response.status === 401 || response.status === 403) return "Not saved: reload the page and sign in again.";
  if (response.status === 409) return "Not saved: this attempt was submitted or abandoned elsewhere. Reload the page.";
  const problem = await response.json().catch(() => ({}));
  return `Not saved: ${problem.errors?.[0]?.message ?? problem.detail ?? `status ${response.status}`}`;
}
