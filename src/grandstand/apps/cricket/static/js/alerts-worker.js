// Shows an alert that was pushed to this browser, and leads to its match when it is clicked.
self.addEventListener("push", (event) => {
  const told = event.data ? event.data.json() : {};
  const shown = self.registration.showNotification(told.title ?? "Cricket", {
    body: told.body ?? "",
    tag: `match-${told.matchId ?? ""}`,
    renotify: true,
    data: { matchId: told.matchId ?? "" },
  });
  event.waitUntil(shown);
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const { matchId } = event.notification.data;
  const address = matchId ? `/cricket/matches/${encodeURIComponent(matchId)}` : "/cricket";
  event.waitUntil(lead(address));
});

async function lead(address) {
  const open = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const there = open.find((each) => new URL(each.url).pathname === address);
  return there ? there.focus() : self.clients.openWindow(address);
}
