"""Pages escape what they are given, and show values as the caller likes them."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from jinja2 import UndefinedError
from starlette.requests import Request

from grandstand.core.clock import ManualClock
from grandstand.kit.auth.caller import LOCAL_OWNER, Caller, Preferences
from grandstand.kit.pages.assets import read_assets
from grandstand.kit.pages.rendering import Links, NavSection, Pages, safe_return
from grandstand.kit.problems import ProblemDetails

_TOKYO = replace(LOCAL_OWNER, preferences=Preferences("Asia/Tokyo", "american"))


@pytest.fixture
def templates(tmp_path: Path) -> Path:
    folder = tmp_path / "templates"
    folder.mkdir()
    return folder


@pytest.fixture
def pages(templates: Path) -> Pages:
    links = Links(csrf=lambda _: "a-token", number=lambda _: 41)
    return Pages(
        read_assets(),
        [NavSection("bets", "Bets"), NavSection("keiba", "Keiba")],
        {"bets": templates},
        ManualClock(datetime(2026, 7, 1, 12, tzinfo=UTC)),
        links,
    )


def _request(path: str = "/bets", caller: Caller | None = None, cookie: str = "") -> Request:
    scope: dict[str, Any] = {
        "type": "http",
        "method": "GET",
        "path": path,
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1"), (b"cookie", cookie.encode())],
        "state": {"caller": caller, "request_id": "01k2m3n4"},
    }
    return Request(scope)


def _body(pages: Pages, templates: Path, source: str, **values: Any) -> str:
    (templates / "it.html").write_text(source, encoding="utf-8")
    answer = pages.render(_request(caller=_TOKYO), "bets/it.html", **values)
    return bytes(answer.body).decode()


def test_what_is_given_is_escaped(pages: Pages, templates: Path) -> None:
    assert _body(pages, templates, "{{ it }}", it="<b>") == "&lt;b&gt;"


def test_a_name_that_is_not_given_is_an_error(pages: Pages, templates: Path) -> None:
    with pytest.raises(UndefinedError, match="nothing"):
        _body(pages, templates, "{{ nothing }}")


def test_times_and_odds_are_told_as_the_caller_likes_them(pages: Pages, templates: Path) -> None:
    body = _body(pages, templates, "{{ now|when }} {{ 2.5|odds }}")

    assert ">1 Jul 2026 21:00</time> +150" in body


def test_an_element_follows_topics_from_the_number_the_page_shows(
    pages: Pages, templates: Path
) -> None:
    body = _body(pages, templates, '<p {{ live("bets/a", "bets/b") }}>')

    assert body == '<p data-topic="bets/a bets/b" data-number="41 41">'


def test_the_layout_names_the_section_and_carries_the_proof_of_forms(
    pages: Pages, templates: Path
) -> None:
    body = _body(pages, templates, '{% extends "kit/layout.html" %}')

    assert 'href="/bets" data-app="bets" aria-current="page"' in body
    assert 'name="csrf" value="a-token"' in body
    assert "<style" not in body
    assert " style=" not in body


@pytest.mark.parametrize(
    ("cookie", "theme"),
    [("", "system"), ("grandstand_theme=dark", "dark"), ("grandstand_theme=pink", "system")],
)
def test_the_chosen_colours_are_those_of_the_cookie(
    pages: Pages, templates: Path, cookie: str, theme: str
) -> None:
    (templates / "it.html").write_text("{{ theme }}", encoding="utf-8")

    answer = pages.render(_request(cookie=cookie), "bets/it.html")

    assert bytes(answer.body).decode() == theme


def test_nothing_from_elsewhere_and_nothing_inline_is_allowed(pages: Pages) -> None:
    answer = pages.problem(
        _request(), ProblemDetails("not-found", "Not found", 404, "There is no race")
    )

    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'self'; ")
    assert "unsafe" not in policy
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("status", "way"), [(404, 'href="/"'), (401, 'href="/login"'), (503, 'href="/"')]
)
def test_a_problem_says_what_to_do_next(pages: Pages, status: int, way: str) -> None:
    answer = pages.problem(
        _request(), ProblemDetails("x", "Title <i>", status, "Detail", (("a", "b"),))
    )

    body = bytes(answer.body).decode()
    assert answer.status_code == status
    assert f'<a class="button" {way}' in body
    assert "Title &lt;i&gt;" in body
    assert "01k2m3n4" in body


@pytest.mark.parametrize(
    "address",
    ["//evil", "/\\evil", "https://evil/", "\t//evil", "/\t/evil", "javascript:1", "", None],
)
def test_nobody_is_led_to_another_site(address: str | None) -> None:
    assert safe_return(address) == "/"


def test_a_path_of_ours_is_led_back_to() -> None:
    assert safe_return("/bets?t.page=2") == "/bets?t.page=2"
