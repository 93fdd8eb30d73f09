// Forms marked data-quiet-post are sent without leaving the page.
import { say } from "./toasts.js";

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches("form[data-quiet-post]")) return;
  event.preventDefault();
  const button = event.submitter;
  if (button) button.disabled = true;
  try {
    const body = new URLSearchParams(new FormData(form, button));
    const answer = await fetch(form.action, { method: "POST", body, redirect: "manual" });
    if (answer.type !== "opaqueredirect" && !answer.ok) throw new Error(`status ${answer.status}`);
    if (form.dataset.quietPost) say(form.dataset.quietPost);
  } catch {
    say("The request failed. Reload the page and try again.", "bad");
  }
  if (button) button.disabled = false;
});
