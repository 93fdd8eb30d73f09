// Keeps a draft on the server as it is typed: a while after the last key, and now and then between.
const REST_MS = 800;
const LONGEST_MS = 5000;
const RETRY_MS = 3000;
const SETTLED = new Set([401, 403, 404, 409, 413, 422]);

export class Draft {
  #timer = 0;
  #since = 0;
  #saving = null;
  #again = false;
  #closed = false;

  // read() answers what is to be kept; tell(state, words) is shown.
  constructor(address, csrf, read, tell) {
    this.address = address;
    this.csrf = csrf;
    this.read = read;
    this.tell = tell;
    this.unsaved = false;
  }

  changed() {
    if (this.#closed) return;
    this.unsaved = true;
    this.#since ||= performance.now();
    this.tell("dirty", "Not saved yet");
    this.#later(Math.min(REST_MS, Math.max(0, this.#since + LONGEST_MS - performance.now())));
  }

  #later(wait) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.save(), wait);
  }

  async save({ keepalive = false } = {}) {
    clearTimeout(this.#timer);
    if (this.#closed) return;
    if (this.#saving && !keepalive) {
      this.#again = true;
      return this.#saving;
    }
    this.#saving = this.#send(keepalive).finally(() => {
      this.#saving = null;
      if (this.#again) this.save();
      this.#again = false;
    });
    return this.#saving;
  }

  async #send(keepalive) {
    const body = JSON.stringify(this.read());
    this.unsaved = false;
    this.#since = 0;
    this.tell("saving", "Saving …");
    try {
      const answer = await fetch(this.address, {
        method: "PATCH",
        headers: { "content-type": "application/json", "x-csrf-token": this.csrf },
        body,
        keepalive,
      });
      if (answer.ok) {
        if (!this.unsaved) this.tell("saved", `Saved at ${clock()}`);
        return;
      }
      this.unsaved = true;
      if (SETTLED.has(answer.status)) return this.tell("failed", await refusal(answer));
    } catch {
      this.unsaved = true;
    }
    if (this.#closed) return;
    this.tell("failed", "Not saved: the server does not answer. It is tried again.");
    this.#later(RETRY_MS);
  }

  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
  }
}

// As clocks show it in the person's own zone, like every other time of the page.
function clock() {
  const timeZone = document.documentElement.dataset.zone || "UTC";
  return new Date().toLocaleTimeString("en-GB", { timeStyle: "short", timeZone });
}

async function refusal(answer) {
  if (answer.status === 401 || answer.status === 403) return "Not saved: load the page again, and log in if asked.";
  if (answer.status === 409) return "Not saved: this was handed in or given up elsewhere. Load the page again.";
  const problem = await answer.json().catch(() => ({}));
  return `Not saved: ${problem.errors?.[0]?.message ?? problem.detail ?? `status ${answer.status}`}`;
}
