// Fetches the odds once if the page has none, and on request.
import { say } from "../../js/toasts.js";

const REFRESH_MS = 60000;

async function fetchOdds(form) {
  const body = new URLSearchParams(new FormData(form));
  const response = await fetch(form.action, { method: "POST", body, redirect: "manual" });
  if (response.type !== "opaqueredirect" && !response.ok) throw new Error(`status ${response.status}`);
  document.getElementById("race")?.soon();
}

document.addEventListener("submit", async (event) => {
  const form = event.target.closest("#odds form");
  if (!form) return;
  event.preventDefault();
  const button = form.querySelector("button");
  button.disabled = true;
  try {
    await fetchOdds(form);
  } catch {
    say(form.dataset.failed, "bad");
  }
  button.disabled = false;
});

// Odds change every minute shortly before the start. Hidden pages do not refresh.
setInterval(() => {
  const form = document.querySelector("form[data-odds-soon]");
  if (form && !document.hidden) fetchOdds(form).catch(() => {});
}, REFRESH_MS);

const missing = document.querySelector("form[data-odds-missing]");
if (missing) fetchOdds(missing).catch(() => {});
