// Asks for the odds once when the page has none, and shows them in place; the button does the same.
import { say } from "../../js/toasts.js";

const EVERY_MS = 60000;

async function ask(form) {
  const body = new URLSearchParams(new FormData(form));
  const answer = await fetch(form.action, { method: "POST", body, redirect: "manual" });
  if (answer.type !== "opaqueredirect" && !answer.ok) throw new Error(`status ${answer.status}`);
  document.getElementById("race")?.soon();
}

document.addEventListener("submit", async (event) => {
  const form = event.target.closest("#odds form");
  if (!form) return;
  event.preventDefault();
  const button = form.querySelector("button");
  button.disabled = true;
  try {
    await ask(form);
  } catch {
    say(form.dataset.failed, "bad");
  }
  button.disabled = false;
});

// Shortly before the off the odds change by the minute; a page nobody looks at asks for none.
setInterval(() => {
  const form = document.querySelector("form[data-odds-close]");
  if (form && !document.hidden) ask(form).catch(() => {});
}, EVERY_MS);

const wanted = document.querySelector("form[data-odds-wanted]");
if (wanted) ask(wanted).catch(() => {});
