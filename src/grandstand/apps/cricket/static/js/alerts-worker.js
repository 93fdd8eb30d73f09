// Service worker: shows pushed alerts and opens the match when one is clicked.
self.addEventListener("push", (event) => {
  const alert = event.data ? event.data.json() : {};
  const notification = self.registration.showNotification(alert.title ?? "Cricket", {
    body: alert.body ?? "",
    tag: `match-${alert.matchId ?? ""}`,
    renotify: true,
    data: { matchId: alert.matchId ?? "" },
  });
  event.waitUntil(notification);
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const { matchId } = event.notification.data;
  const path = matchId ? `/cricket/matches/${encodeURIComponent(matchId)}` : "/cricket";
  event.waitUntil(openPage(path));
});

async function openPage(path) {
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const existing = windows.find((client) => new URL(client.url).pathname === path);
  return existing ? existing.focus() : self.clients.openWindow(path);
}
