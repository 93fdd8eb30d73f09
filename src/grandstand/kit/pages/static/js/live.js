// One socket a page: topics in, news out; reconnects by itself and says so.
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30000;
const PING_MS = 25000;
const PATIENCE_MS = 10000;
const COME_AGAIN = 1012;

const topics = new Map(); // topic -> { heard, followers: Set }
let socket = null;
let failures = 0;
let wakeTimer = 0;
let pingTimer = 0;
let patienceTimer = 0;
let leaving = false;

function report(state, words) {
  document.dispatchEvent(new CustomEvent("live-state", { detail: { state, words } }));
}

function send(message) {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}

function connect() {
  clearTimeout(wakeTimer);
  wakeTimer = 0;
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  const mine = new WebSocket(`${scheme}//${location.host}/live`);
  socket = mine;
  mine.addEventListener("open", () => {
    failures = 0;
    report("open", "Live");
    send({ follow: Object.fromEntries([...topics].map(([topic, { heard }]) => [topic, heard])) });
    schedulePing();
  });
  mine.addEventListener("message", (event) => {
    clearTimeout(patienceTimer);
    heed(JSON.parse(event.data));
  });
  mine.addEventListener("close", (event) => {
    if (socket !== mine) return;
    socket = null;
    clearTimeout(pingTimer);
    clearTimeout(patienceTimer);
    if (leaving || topics.size === 0) return;
    if (event.code === COME_AGAIN) connect();
    else retry();
  });
}

// A handshake that is refused looks like a server that is away; only the page's address tells.
async function loggedOut() {
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    return answer.redirected && new URL(answer.url).pathname !== location.pathname;
  } catch {
    return false;
  }
}

async function retry() {
  if (failures > 0 && (await loggedOut())) {
    return report("refused", "You are logged out. Reload the page to log in.");
  }
  if (socket) return;
  const ceiling = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures);
  const wait = ceiling / 2 + Math.random() * (ceiling / 2);
  failures += 1;
  report("lost", "Reconnecting …");
  wakeTimer = setTimeout(connect, wait);
}

// A connection that died without a word, as after a laptop's sleep, is found by an unanswered ping.
function schedulePing() {
  clearTimeout(pingTimer);
  pingTimer = setTimeout(() => {
    send({ ping: Date.now() });
    clearTimeout(patienceTimer);
    patienceTimer = setTimeout(() => socket?.close(), PATIENCE_MS);
    schedulePing();
  }, PING_MS);
}

function heed(message) {
  const topic = message.topic ?? message.resync ?? message.following;
  const known = topics.get(topic);
  if (!known) return;
  if (message.n !== undefined) known.heard = message.n;
  for (const follower of known.followers) {
    if (message.topic !== undefined) follower.news(message.news);
    else if (message.resync !== undefined) follower.whole();
  }
}

// follower: { news(values), whole() }; `whole` is called when news were missed.
export function follow(topic, heard, follower) {
  let known = topics.get(topic);
  if (!known) {
    known = { heard, followers: new Set() };
    topics.set(topic, known);
    send({ follow: { [topic]: heard } });
  }
  known.followers.add(follower);
  if (!socket && !wakeTimer) connect();
  return () => {
    known.followers.delete(follower);
    if (known.followers.size === 0) {
      topics.delete(topic);
      send({ leave: [topic] });
    }
  };
}

// What an element's data-topic and data-heard ask for; both may name several, apart by spaces.
export function followAs(element, follower) {
  const names = (element.dataset.topic ?? "").split(" ").filter(Boolean);
  const heard = (element.dataset.heard ?? "").split(" ").map(Number);
  const stops = names.map((topic, place) => follow(topic, heard[place] || null, follower));
  return () => stops.forEach((stop) => stop());
}

addEventListener("online", () => { if (!socket && topics.size) connect(); });
addEventListener("pagehide", () => { leaving = true; socket?.close(); });
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  leaving = false;
  if (topics.size) connect();
});
