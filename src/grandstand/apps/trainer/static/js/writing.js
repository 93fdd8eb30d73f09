// <draft-writing>: the editor of an attempt. Without JavaScript, its buttons save and submit the form.
import { say } from "../../js/toasts.js";
import { Draft } from "./draft.js";
import { countWords } from "./words.js";

const CLOCK_KEY = "trainer-clock";

class DraftWriting extends HTMLElement {
  #seconds = 0;
  #tick = 0;
  #state = "saved";

  connectedCallback() {
    this.form = this.querySelector("form");
    this.storageKey = `trainer-draft-${this.dataset.attempt}`;
    this.draft = new Draft(this.dataset.save, this.form.elements.csrf.value, () => this.#read(), (state, text) => this.#showState(state, text));
    this.#seconds = Number(this.form.elements.seconds.value);
    this.form.elements.opened.value = "";
    this.form.addEventListener("input", (event) => this.#handleInput(event));
    this.form.addEventListener("submit", (event) => this.#handleSubmit(event));
    this.addEventListener("keydown", (event) => this.#handleKey(event));
    addEventListener("pagehide", () => { if (this.draft.unsaved) this.draft.save({ keepalive: true }); });
    addEventListener("online", () => { if (this.draft.unsaved) this.draft.save(); });
    addEventListener("beforeunload", (event) => { if (this.#state === "failed") event.preventDefault(); });
    addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
    for (const sheet of this.querySelectorAll(".sheet")) this.#count(sheet);
    this.#startClock();
    this.#offerUnsaved();
    // Input from before this script ran triggered no event.
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
      const probability = percent && percent.value !== "" && percent.checkValidity() ? Number(percent.value) : null;
      return { questionId: field.dataset.answer, answer: field.value, probabilityPercent: probability };
    });
    return { answers, durationSeconds: this.#seconds };
  }

  #handleInput(event) {
    const sheet = event.target.closest(".sheet");
    if (sheet) this.#count(sheet);
    this.draft.changed();
  }

  #count(sheet) {
    const count = countWords(sheet.querySelector("[data-answer]").value);
    const bar = sheet.querySelector("[data-bar]");
    bar.value = Math.min(count, bar.max);
    sheet.querySelector("[data-words]").textContent = count.toLocaleString("en");
    sheet.querySelector(".word-target").classList.toggle("reached", count >= bar.max);
  }

  #showState(state, text) {
    const line = this.querySelector("[data-saved]");
    if (state === "failed" && this.#state !== "failed") say(text, "bad");
    this.#state = state;
    line.dataset.state = state;
    line.querySelector("[data-saved-text]").textContent = text;
    try {
      if (state === "failed") localStorage.setItem(this.storageKey, JSON.stringify(this.#read().answers));
      if (state === "saved") localStorage.removeItem(this.storageKey);
    } catch {
      // Storage may be unavailable; the text is still on the page.
    }
  }

  #handleKey(event) {
    if (!(event.ctrlKey || event.metaKey) || event.key !== "s") return;
    event.preventDefault();
    this.draft.save();
  }

  #handleSubmit(event) {
    const button = event.submitter;
    if (button && !button.matches("[data-submit], [data-abandon]")) {
      event.preventDefault();
      this.draft.save();
      return;
    }
    this.#state = "leaving";
    this.draft.close();
    if (button?.matches("[data-submit]")) {
      this.querySelector("[data-saved-text]").textContent = "Submitting…";
      setTimeout(() => { button.disabled = true; });
    }
  }

  #startClock() {
    const clock = this.querySelector("[data-clock]");
    const toggle = this.querySelector("[data-clock-toggle]");
    const setVisible = (visible) => {
      clock.hidden = !visible;
      toggle.textContent = visible ? "Hide clock" : "Show clock";
    };
    const draw = () => {
      const minutes = Math.floor(this.#seconds / 60);
      clock.textContent = `${minutes}:${String(this.#seconds % 60).padStart(2, "0")}`;
      this.form.elements.seconds.value = this.#seconds;
    };
    toggle.hidden = false;
    let visible = true;
    try { visible = localStorage.getItem(CLOCK_KEY) !== "hidden"; } catch { /* as above */ }
    setVisible(visible);
    draw();
    toggle.addEventListener("click", () => {
      setVisible(clock.hidden);
      try { localStorage.setItem(CLOCK_KEY, clock.hidden ? "hidden" : "shown"); } catch { /* as above */ }
    });
    this.#tick = setInterval(() => {
      if (document.hidden) return;
      this.#seconds += 1;
      draw();
    }, 1000);
  }

  #offerUnsaved() {
    let stored = null;
    try { stored = JSON.parse(localStorage.getItem(this.storageKey)); } catch { return; }
    const fields = new Map(this.#fields.map((field) => [field.dataset.answer, field]));
    const changed = (stored ?? []).filter(({ questionId, answer }) => fields.has(questionId) && fields.get(questionId).value !== answer);
    if (!changed.length) return;
    const box = this.querySelector("[data-unsaved]");
    box.hidden = false;
    box.querySelector("[data-restore]").addEventListener("click", () => {
      for (const { questionId, answer } of changed) {
        fields.get(questionId).value = answer;
        this.#count(fields.get(questionId).closest(".sheet"));
      }
      box.hidden = true;
      this.draft.changed();
    });
    box.querySelector("[data-discard]").addEventListener("click", () => {
      localStorage.removeItem(this.storageKey);
      box.hidden = true;
    });
  }
}

customElements.define("draft-writing", DraftWriting);
