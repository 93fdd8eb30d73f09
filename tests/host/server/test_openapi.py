"""The page of the API in a real browser."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.host.server.serving import serving, settings_in


def test_the_docs_page_works_under_its_policy_and_leaves_the_machine_alone(
    chromium: Path, tmp_path: Path
) -> None:
    said: list[str] = []
    asked: list[str] = []

    with serving(settings_in(tmp_path)) as served, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(120_000)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{served.address}/api/docs")
        page.click("#operations-platform-platform_get_me .opblock-summary-control")
        page.click("#operations-platform-platform_get_me button.execute")
        page.wait_for_selector(".live-responses-table")
        answered = page.inner_text(".live-responses-table")
        browser.close()

    ours = (served.address, "data:")
    assert '"user_id": "owner"' in answered
    assert said == []
    assert [url for url in asked if not url.startswith(ours)] == []
