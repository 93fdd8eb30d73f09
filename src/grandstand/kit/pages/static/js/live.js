// One socket a page: sends topics, receives updates; reconnects by itself and reports it.
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30000;
const PING_MS = 25000;
const PONG_TIMEOUT_MS = 10000;
const SERVICE_RESTART = 1012;

const topics = new Map(); // topic -> { lastNumber, followers: Set }
let socket = null;
let failures = 0;
let retryTimer = 0;
let pingTimer = 0;
let pongTimer = 0;
let leaving = false;

function report(state, words) {
  document.dispatchEvent(new CustomEvent("live-state", { detail: { state, words } }));
}

function send(message) {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}

function connect() {
  clearTimeout(retryTimer);
  retryTimer = 0;
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  const mine = new WebSocket(`${scheme}//${location.host}/live`);
  socket = mine;
  mine.addEventListener("open", () => {
    failures = 0;
    report("open", "Live");
    send({ follow: Object.fromEntries([...topics].map(([topic, { lastNumber }]) => [topic, lastNumber])) });
    schedulePing();
  });
  mine.addEventListener("message", (event) => {
    clearTimeout(pongTimer);
    handleMessage(JSON.parse(event.data));
  });
  mine.addEventListener("close", (event) => {
    if (socket !== mine) return;
    socket = null;
    clearTimeout(pingTimer);
    clearTimeout(pongTimer);
    if (leaving || topics.size === 0) return;
    if (event.code === SERVICE_RESTART) connect();
    else retry();
  });
}

// A refused handshake looks like an unreachable server; fetching the page tells them apart.
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
  retryTimer = setTimeout(connect, wait);
}

// An unanswered ping shows that the connection is dead, as after a laptop sleeps.
function schedulePing() {
  clearTimeout(pingTimer);
  pingTimer = setTimeout(() => {
    send({ ping: Date.now() });
    clearTimeout(pongTimer);
    pongTimer = setTimeout(() => socket?.close(), PONG_TIMEOUT_MS);
    schedulePing();
  }, PING_MS);
}

function handleMessage(message) {
  const topic = message.topic ?? message.resync ?? message.following;
  const entry = topics.get(topic);
  if (!entry) return;
  if (message.n !== undefined) entry.lastNumber = message.n;
  for (const follower of entry.followers) {
    if (message.topic !== undefined) follower.update(message.data);
    else if (message.resync !== undefined) follower.refetch();
  }
}

// follower: { update(values), refetch() }; `refetch` is called when updates were missed.
export function follow(topic, lastNumber, follower) {
  let entry = topics.get(topic);
  if (!entry) {
    entry = { lastNumber, followers: new Set() };
    topics.set(topic, entry);
    send({ follow: { [topic]: lastNumber } });
  }
  entry.followers.add(follower);
  if (!socket && !retryTimer) connect();
  return () => {
    entry.followers.delete(follower);
    if (entry.followers.size === 0) {
      topics.delete(topic);
      send({ leave: [topic] });
    }
  };
}

// Follows the topics in an element's data-topic from the numbers in data-number; both are lists separated by spaces.
export function followAs(element, follower) {
  const names = (element.dataset.topic ?? "").split(" ").filter(Boolean);
  const numbers = (element.dataset.number ?? "").split(" ").map(Number);
  const stops = names.map((topic, place) => follow(topic, numbers[place] || null, follower));
  return () => stops.forEach((stop) => stop());
}

addEventListener("online", () => { if (!socket && topics.size) connect(); });
addEventListener("pagehide", () => { leaving = true; socket?.close(); });
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  leaving = false;
  if (topics.size) connect();
});
