"""Which sources are connected, which are simulated, and what decides that."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from grandstand.apps.bets.settings import BetsSettings
from grandstand.apps.cricket.settings import CricketSettings
from grandstand.apps.gatherer.settings import GathererSettings
from grandstand.apps.keiba.settings import KeibaSettings
from grandstand.host.demo.sources import (
    SOURCES,
    demo_enabled,
    how_to_connect,
    simulated_apps,
    source_connections,
)
from grandstand.host.settings import DemoSettings, Settings

ALL = frozenset({"bets", "gatherer", "cricket", "keiba"})
AUTO = DemoSettings(play="auto")


def test_with_nothing_connected_every_application_with_a_source_is_simulated(
    tmp_path: Path,
) -> None:
    settings = Settings(home=tmp_path, demo=AUTO)

    assert simulated_apps(settings) == ALL


@pytest.mark.parametrize(
    ("app", "connected"),
    [
        ("bets", {"bets": BetsSettings(odds_key=SecretStr("k"))}),
        ("gatherer", {"gatherer": GathererSettings(key_id="k")}),
        ("cricket", {"cricket": CricketSettings(feed_token=SecretStr("t"))}),
        ("keiba", {"keiba": KeibaSettings(ask_site=True)}),
        ("keiba", {"keiba": KeibaSettings(race_url="http://127.0.0.1:9")}),
    ],
)
def test_connecting_one_source_replaces_only_that_one(
    tmp_path: Path, app: str, connected: dict[str, BetsSettings]
) -> None:
    settings = Settings(home=tmp_path, demo=AUTO, **connected)  # type: ignore[arg-type]

    assert simulated_apps(settings) == ALL - {app}


def test_nothing_is_simulated_where_tables_are_not_embedded_unless_that_is_asked_for(
    tmp_path: Path,
) -> None:
    cloud = Settings(home=tmp_path, tables="dynamodb:eu-west-1", demo=AUTO)
    asked = cloud.model_copy(update={"demo": DemoSettings(play="on")})

    assert (demo_enabled(cloud), demo_enabled(asked)) == (False, True)


def test_nothing_is_simulated_when_that_is_switched_off(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, demo=DemoSettings(play="off"))

    words = {one.word for one in source_connections(settings)}

    assert (simulated_apps(settings), words) == (frozenset(), {"not connected"})


def test_the_push_key_alone_leaves_cricket_and_its_phones_simulated(tmp_path: Path) -> None:
    cricket = CricketSettings(apns_key=SecretStr("pem"))
    settings = Settings(home=tmp_path, demo=AUTO, cricket=cricket)

    words = {one.source.name: one.word for one in source_connections(settings)}

    assert (words["scores"], words["push"]) == ("simulated", "simulated")


def test_every_source_says_in_a_line_how_it_is_connected() -> None:
    lines = [how_to_connect(app) for app in sorted(ALL)]

    assert all(line.startswith("set GRANDSTAND_") for line in lines)
    assert all(one.how.startswith("set GRANDSTAND_") for one in SOURCES)
