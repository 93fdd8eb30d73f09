"""Paths that robots.txt disallows are not fetched."""

import pytest

from grandstand.core.clock import ManualClock
from grandstand.net.client import SourceRegistry
from grandstand.net.errors import RobotsDisallowed
from grandstand.net.rate_limits import RateLimit
from grandstand.net.retry import RetryPolicy
from grandstand.net.robots import RobotsGuard, RobotsRules
from tests.net.outsider import Outsider, answers

pytestmark = pytest.mark.anyio

FILE = """
# a comment
User-agent: other
User-agent: Grandstand   # us
Disallow: /private
Allow: /private/open
Disallow: /*.pdf$
Disallow: /find*page=
Crawl-delay: 2.5

User-agent: *
Disallow: /

User-agent: grandstand
Disallow: /late
"""


@pytest.mark.parametrize(
    ("path", "free"),
    [
        ("/", True),
        ("/private", False),
        ("/privately", False),
        ("/private/open/x", True),
        ("/late/1", False),
        ("/a/b.pdf", False),
        ("/a/b.pdf?x=1", True),
        ("/find?q=1&page=2", False),
        ("/find?q=1", True),
        ("/Private", True),
    ],
)
def test_the_longest_rule_of_our_groups_decides(path: str, *, free: bool) -> None:
    rules = RobotsRules(FILE, "grandstand/1.0 (+https://example.org)")

    assert rules.allow(path) is free


def test_a_stranger_gets_the_rules_for_all_and_we_the_delay() -> None:
    assert not RobotsRules(FILE, "stranger").allow("/x")
    assert RobotsRules(FILE, "grandstand").delay_seconds == 2.5


@pytest.mark.parametrize("text", ["", "<html>no</html>", "Disallow: /", "User-agent: *\nDisallow:"])
def test_a_file_that_forbids_nothing_allows_everything(text: str) -> None:
    assert RobotsRules(text, "grandstand").allow("/x")


def test_a_rule_made_of_stars_takes_no_time() -> None:
    rules = RobotsRules("User-agent: *\nDisallow: /" + "a*" * 2000 + "b$", "x")

    assert rules.allow("/" + "a" * 5000)


async def test_the_file_is_asked_for_once_a_day(web: SourceRegistry, outsider: Outsider) -> None:
    outsider.usual = answers(body=b"User-agent: *\nDisallow: /odds\n")
    clock = ManualClock()
    source = web.source("site", base_url=f"{outsider.url}/races", rate=RateLimit(1000, 1000))
    robots = RobotsGuard(source, agent="grandstand", clock=clock)

    await robots.check("/races/1")
    with pytest.raises(RobotsDisallowed, match=r"robots\.txt of site disallows /odds/1"):
        await robots.check("/odds/1")
    clock.advance(86_401)
    await robots.check("/races/2")

    assert [at.target for at in outsider.heard] == ["/robots.txt"] * 2


async def test_a_site_without_the_file_allows_everything(
    web: SourceRegistry, outsider: Outsider
) -> None:
    outsider.usual = answers(404)
    robots = RobotsGuard(
        web.source("site", base_url=outsider.url), agent="grandstand", clock=ManualClock()
    )

    await robots.check("/anything")

    assert len(outsider.heard) == 1


async def test_a_site_that_does_not_answer_allows_nothing(
    web: SourceRegistry, outsider: Outsider
) -> None:
    outsider.usual = answers(500)
    source = web.source("site", base_url=outsider.url, retries=RetryPolicy(tries=1))
    robots = RobotsGuard(source, agent="grandstand", clock=ManualClock())

    with pytest.raises(RobotsDisallowed, match="cannot be fetched: site responded with 500"):
        await robots.check("/anything")


async def test_wishes_known_from_before_hold_while_the_site_is_silent(
    web: SourceRegistry, outsider: Outsider
) -> None:
    outsider.script = [answers(body=b"User-agent: *\nDisallow: /odds\n")]
    outsider.usual = answers(500)
    clock = ManualClock()
    source = web.source("site", base_url=outsider.url, retries=RetryPolicy(tries=1))
    robots = RobotsGuard(source, agent="grandstand", clock=clock)
    await robots.check("/races")
    clock.advance(86_401)

    await robots.check("/races")

    with pytest.raises(RobotsDisallowed):
        await robots.check("/odds")
