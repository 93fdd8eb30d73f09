"""A browser subscribes on the page of one's own, and shows what is pushed to it."""

import json
from collections.abc import Callable
from typing import Any

from playwright.sync_api import expect

from grandstand.kit.auth.caller import LOCAL_OWNER
from tests.pages.app_server import AppServer
from tests.pages.browser_page import BrowserPage
from tests.pages.conftest import Look
from tests.pages.cricket_server import LIVE, CricketServer

# Chromium subscribes with its maker's push service; this stands in for that one call.
_SUBSCRIBES = """
(() => {
  const told = SUBSCRIPTION;
  let made = null;
  PushManager.prototype.getSubscription = async () => made;
  PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
    window.serverKey = btoa(String.fromCharCode(...applicationServerKey));
    const unsubscribe = async () => { made = null; };
    made = { endpoint: told.endpoint, toJSON: () => told, unsubscribe };
    return made;
  };
})();
"""
# A browser without a screen keeps no notifications: this remembers what it was asked to show.
_REMEMBERS = """() => {
  self.shown = [];
  self.registration.showNotification = async (title, { body, tag }) => {
    self.shown.push([title, body, tag]);
  };
}"""


def subscribing(
    watched: BrowserPage, cricketing: CricketServer, subscription: dict[str, Any]
) -> None:
    """Open the page of one's own in a browser that allows notifications and can subscribe."""
    context = watched.page.context
    context.grant_permissions(["notifications"], origin=watched.url)
    context.add_init_script(_SUBSCRIBES.replace("SUBSCRIPTION", json.dumps(subscription)))
    cricketing.run(cricketing.cricket.follows.set_alert_preferences(LOCAL_OWNER.user_id))
    watched.go("/cricket/mine")


def until(watched: BrowserPage, happened: Callable[[], bool]) -> None:
    """Wait until something has happened in the browser."""
    for _ in range(1200):
        if happened():
            return
        watched.page.wait_for_timeout(50)
    raise TimeoutError


def deliver(watched: BrowserPage, text: str) -> list[list[str]]:
    """Hand a message to the page's worker, as a browser does, and answer what is shown of it."""
    context = watched.page.context
    (worker,) = context.service_workers
    worker.evaluate(_REMEMBERS)
    session, known = context.new_cdp_session(watched.page), list[str]()
    session.on(
        "ServiceWorker.workerRegistrationUpdated",
        lambda told: known.extend(each["registrationId"] for each in told["registrations"]),
    )
    session.send("ServiceWorker.enable")
    until(watched, lambda: bool(known))
    message = {"origin": watched.url, "registrationId": known[-1], "data": text}
    session.send("ServiceWorker.deliverPushMessage", message)
    until(watched, lambda: bool(worker.evaluate("self.shown.length")))
    shown: list[list[str]] = worker.evaluate("self.shown")
    return shown


def test_a_browser_subscribes_shows_an_alert_and_leaves(
    look: Look, played: AppServer, cricketing: CricketServer
) -> None:
    watched, cricket = look(played.url), cricketing.cricket
    browser = cricketing.pushes.browsers.subscribe(cricket.browsers.public_key)
    subscribing(watched, cricketing, browser.subscription)
    section = watched.page.locator("browser-alerts")

    section.get_by_role("button", name="Turn on alerts").click()
    expect(section.get_by_role("status")).to_have_text("Alerts are on in this browser.")
    (kept,) = cricketing.run(cricket.browsers.of_user(LOCAL_OWNER.user_id))
    cricketing.run(cricketing.bowl(225))
    cricketing.run(cricketing.push_to_browsers())
    notifications = deliver(watched, browser.shown[-1].text)
    section.get_by_role("button", name="Turn off alerts").click()
    expect(section.get_by_role("status")).to_have_text("Alerts are off in this browser.")

    told = json.loads(browser.shown[-1].text)
    assert kept.endpoint == browser.subscription["endpoint"]
    assert notifications == [[told["title"], told["body"], f"match-{LIVE}"]]
    assert cricketing.run(cricket.browsers.of_user(LOCAL_OWNER.user_id)) == ()
    assert watched.foreign == []
    assert watched.console == []


def test_a_browser_that_may_not_show_anything_says_so(
    look: Look, played: AppServer, cricketing: CricketServer
) -> None:
    watched = look(played.url)
    subscribing(watched, cricketing, {})
    watched.page.context.clear_permissions()
    section = watched.page.locator("browser-alerts")

    section.get_by_role("button", name="Turn on alerts").click()

    expect(section.get_by_role("status")).to_contain_text("blocked")
    assert cricketing.run(cricketing.cricket.browsers.of_user(LOCAL_OWNER.user_id)) == ()
