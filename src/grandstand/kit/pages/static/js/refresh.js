// The page as the server would render it now; elements that ask at the same time share one answer.
import { say } from "./toasts.js";

let pending = null;

async function load() {
  const answer = await fetch(location.href, { headers: { accept: "text/html" } });
  if (answer.redirected && new URL(answer.url).pathname !== location.pathname) {
    location.reload();
  }
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

export async function fresh(id) {
  pending ??= load().finally(() => { pending = null; });
  try {
    return (await pending).getElementById(id);
  } catch {
    say("This page may be out of date: the server did not respond. Reload it.", "bad");
    return null;
  }
}
