// <draft-writing>: the page to write on. Without it the form is saved and handed in by its buttons.
import { say } from "../../js/toasts.js";
import { Draft } from "./draft.js";
import { words } from "./words.js";

const CLOCK = "trainer-clock";

class DraftWriting extends HTMLElement {
  #seconds = 0;
  #tick = 0;
  #state = "saved";

  connectedCallback() {
    this.form = this.querySelector("form");
    this.kept = `trainer-draft-${this.dataset.attempt}`;
    this.draft = new Draft(this.dataset.save, this.form.elements.csrf.value, () => this.#read(), (state, text) => this.#tell(state, text));
    this.#seconds = Number(this.form.elements.seconds.value);
    this.form.elements.opened.value = "";
    this.form.addEventListener("input", (event) => this.#typed(event));
    this.form.addEventListener("submit", (event) => this.#leave(event));
    this.addEventListener("keydown", (event) => this.#key(event));
    addEventListener("pagehide", () => { if (this.draft.unsaved) this.draft.save({ keepalive: true }); });
    addEventListener("online", () => { if (this.draft.unsaved) this.draft.save(); });
    addEventListener("beforeunload", (event) => { if (this.#state === "failed") event.preventDefault(); });
    addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
    for (const sheet of this.querySelectorAll(".sheet")) this.#count(sheet);
    this.#startClock();
    this.#offerLeftOver();
    // What was typed before this script ran was heard by nobody.
    if (this.#fields.some((field) => field.value !== field.defaultValue)) this.draft.changed();
  }

  disconnectedCallback() {
    clearInterval(this.#tick);
    this.draft.close();
  }

  get #fields() {
    return [...this.querySelectorAll("[data-answer]")];
  }

  #read() {
    const answers = this.#fields.map((field) => {
      const percent = this.querySelector(`[data-percent="${field.dataset.answer}"]`);
      const given = percent && percent.value !== "" && percent.checkValidity() ? Number(percent.value) : null;
      return { questionId: field.dataset.answer, answer: field.value, probabilityPercent: given };
    });
    return { answers, durationSeconds: this.#seconds };
  }

  #typed(event) {
    const sheet = event.target.closest(".sheet");
    if (sheet) this.#count(sheet);
    this.draft.changed();
  }

  #count(sheet) {
    const count = words(sheet.querySelector("[data-answer]").value);
    const bar = sheet.querySelector("[data-bar]");
    bar.value = Math.min(count, bar.max);
    sheet.querySelector("[data-words]").textContent = count.toLocaleString("en");
    sheet.querySelector(".word-target").classList.toggle("reached", count >= bar.max);
  }

  #tell(state, text) {
    const line = this.querySelector("[data-saved]");
    if (state === "failed" && this.#state !== "failed") say(text, "bad");
    this.#state = state;
    line.dataset.state = state;
    line.querySelector("[data-saved-words]").textContent = text;
    try {
      if (state === "failed") localStorage.setItem(this.kept, JSON.stringify(this.#read().answers));
      if (state === "saved") localStorage.removeItem(this.kept);
    } catch {
      // A browser may refuse to keep anything; the words are still in the page.
    }
  }

  #key(event) {
    if (!(event.ctrlKey || event.metaKey) || event.key !== "s") return;
    event.preventDefault();
    this.draft.save();
  }

  #leave(event) {
    const button = event.submitter;
    if (button && !button.matches("[data-hand-in], [data-give-up]")) {
      event.preventDefault();
      this.draft.save();
      return;
    }
    this.#state = "leaving";
    this.draft.close();
    if (button?.matches("[data-hand-in]")) {
      this.querySelector("[data-saved-words]").textContent = "Handing in …";
      setTimeout(() => { button.disabled = true; });
    }
  }

  #startClock() {
    const clock = this.querySelector("[data-clock]");
    const toggle = this.querySelector("[data-clock-toggle]");
    const show = (shown) => {
      clock.hidden = !shown;
      toggle.textContent = shown ? "Hide clock" : "Show clock";
    };
    const draw = () => {
      const minutes = Math.floor(this.#seconds / 60);
      clock.textContent = `${minutes}:${String(this.#seconds % 60).padStart(2, "0")}`;
      this.form.elements.seconds.value = this.#seconds;
    };
    toggle.hidden = false;
    let shown = true;
    try { shown = localStorage.getItem(CLOCK) !== "hidden"; } catch { /* as above */ }
    show(shown);
    draw();
    toggle.addEventListener("click", () => {
      show(clock.hidden);
      try { localStorage.setItem(CLOCK, clock.hidden ? "hidden" : "shown"); } catch { /* as above */ }
    });
    this.#tick = setInterval(() => {
      if (document.hidden) return;
      this.#seconds += 1;
      draw();
    }, 1000);
  }

  #offerLeftOver() {
    let held = null;
    try { held = JSON.parse(localStorage.getItem(this.kept)); } catch { return; }
    const now = new Map(this.#fields.map((field) => [field.dataset.answer, field]));
    const other = (held ?? []).filter(({ questionId, answer }) => now.has(questionId) && now.get(questionId).value !== answer);
    if (!other.length) return;
    const box = this.querySelector("[data-left-over]");
    box.hidden = false;
    box.querySelector("[data-put-back]").addEventListener("click", () => {
      for (const { questionId, answer } of other) {
        now.get(questionId).value = answer;
        this.#count(now.get(questionId).closest(".sheet"));
      }
      box.hidden = true;
      this.draft.changed();
    });
    box.querySelector("[data-forget]").addEventListener("click", () => {
      localStorage.removeItem(this.kept);
      box.hidden = true;
    });
  }
}

customElements.define("draft-writing", DraftWriting);
