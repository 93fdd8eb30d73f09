"""Keiba over HTTP, before the simulated race site: what each route answers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from grandstand.simulators.malformed import MalformedReply
from tests.pages.app_server import AppServer
from tests.pages.keiba_server import KeibaServer

A = "/api/keiba"
_PATIENCE_SECONDS = 120.0


@dataclass
class Asked:
    """A platform with keiba in it, and whoever asks it."""

    racing: KeibaServer
    client: httpx2.Client

    def get(self, path: str, **query: Any) -> Any:
        """The answer to a question that is answered."""
        reply = self.client.get(f"{A}{path}", params=query)
        assert reply.status_code == 200, reply.text
        return reply.json()

    def until_complete(self, race_id: str) -> Any:
        """The card, once it is gathered."""
        end = time.monotonic() + _PATIENCE_SECONDS
        while not (seen := self.get(f"/races/{race_id}/card"))["complete"]:
            assert time.monotonic() < end, seen["progress"]
            time.sleep(0.1)
        return seen


@pytest.fixture(scope="module")
def keiba(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    racing = KeibaServer(tmp_path_factory.mktemp("keiba"))
    served = AppServer(racing)
    served.start()
    with httpx2.Client(base_url=served.url, timeout=_PATIENCE_SECONDS, trust_env=False) as client:
        yield Asked(racing, client)
    served.stop()


def test_the_next_day_of_racing_is_told_with_the_date_in_japan(keiba: Asked) -> None:
    body = keiba.get("/next")

    assert (body["race_date"], body["today"]) == ("2026-11-15", "2026-11-15")


def test_a_day_is_told_by_track_with_post_times_and_where_it_came_from(keiba: Asked) -> None:
    day = keiba.get("/days/2026-11-15", circuit="jra")

    first = day["meetings"][0]
    assert [one["track_english"] for one in day["meetings"]] == ["Tokyo", "Kyoto", "Fukushima"]
    assert first["races"][0]["off_at"] == "2026-11-15T10:05:00+09:00"
    assert day["origins"][0]["state"] == "fresh"
    assert day["origins"][0]["page"].endswith("kaisai_date=20261115")
    assert day["origins"][0]["age_seconds"] >= 0


def test_a_race_its_result_and_its_odds_are_told(keiba: Asked) -> None:
    ids = keiba.racing.ids

    race = keiba.get(f"/races/{ids['race']}")
    before = keiba.get(f"/races/{ids['race']}/result")
    after = keiba.get(f"/races/{ids['run']}/result")
    odds = keiba.get(f"/races/{ids['race']}/odds")

    assert len(race["value"]["horses"]) > 5
    assert (before["value"]["confirmed"], after["value"]["confirmed"]) == (False, True)
    assert {one["bet"] for one in after["value"]["payouts"]} >= {"win", "place", "trifecta"}
    assert odds["odds"]["value"]["status"] == "live"


def test_a_card_is_gathered_in_the_background_and_asked_for_only_once(keiba: Asked) -> None:
    race_id = keiba.racing.ids["cold"]
    before = keiba.get(f"/races/{race_id}/card")

    begun = keiba.client.post(f"{A}/races/{race_id}/card")
    seen = keiba.until_complete(race_id)
    asked = len(keiba.racing.asked())
    again = keiba.client.post(f"{A}/races/{race_id}/card")

    ranks = [each["ranked"]["rank"] for each in seen["card"]["runners"] if each["ranked"]]
    chances = [each["ranked"]["win"] for each in seen["card"]["runners"] if each["ranked"]]
    assert (before["card"], before["complete"]) == (None, False)
    assert begun.status_code == 202
    assert begun.headers["location"] == f"{A}/races/{race_id}/card"
    assert min(ranks) == 1
    assert sum(chances) == pytest.approx(1)
    assert again.status_code == 200
    assert len(keiba.racing.asked()) == asked


def test_a_horse_and_a_jockey_are_told_with_their_pages(keiba: Asked) -> None:
    ids = keiba.racing.ids

    horse = keiba.get(f"/horses/{ids['horse']}")
    jockey = keiba.get(f"/jockeys/{ids['jockey']}")

    assert horse["profile"]["value"]["horse_id"] == ids["horse"]
    assert len(horse["pedigree"]["value"]["ancestors"]) == 62
    assert horse["career"]["starts"] > 2
    assert jockey["value"]["jockey_id"] == ids["jockey"]
    assert jockey["origin"]["page"].endswith(f"id={ids['jockey']}")


def test_a_horse_is_watched_with_a_note_and_watched_no_longer(keiba: Asked) -> None:
    place = f"{A}/watched/{keiba.racing.ids['horse']}"

    put = keiba.client.put(place, json={"note": "Likes the left"})
    held = keiba.get("/watched")["horses"]
    gone = keiba.client.delete(place)
    after = keiba.get("/watched")["horses"]

    assert put.json()["note"] == "Likes the left"
    assert [each["horse_id"] for each in held] == [keiba.racing.ids["horse"]]
    assert (gone.status_code, after) == (204, [])


def test_a_preview_is_written_once_for_the_same_data(keiba: Asked) -> None:
    place = f"{A}/races/{keiba.racing.ids['race']}/preview"

    first = keiba.client.post(place, json={"language": "ja"}).json()
    again = keiba.client.post(place, json={"language": "ja"}).json()

    assert len(first["top"]) == 5
    assert {one["confidence"] for one in first["top"]} <= {"high", "medium", "low"}
    assert (first["cached"], again["cached"]) == (False, True)
    assert (first["digest"], first["language"]) == (again["digest"], "ja")


def test_the_cache_is_reported_browsed_inspected_and_purged(keiba: Asked) -> None:
    race = {"partition": f"RACE#{keiba.racing.ids['race']}", "sort": "METADATA"}

    report = keiba.get("/cache")
    first = keiba.get("/cache/entries", prefix="HORSE#", limit=5)
    second = keiba.get("/cache/entries", prefix="HORSE#", limit=5, cursor=first["cursor"])
    entry = keiba.get("/cache/entry", **race)
    dry = keiba.client.post(f"{A}/cache/purge", json={"kind": "MeetingDays"}).json()
    bare = keiba.client.post(f"{A}/cache/purge", json={})

    keys = [{(e["partition"], e["sort"]) for e in page["entries"]} for page in (first, second)]
    assert 0 < report["hit_rate"] < 1
    assert [site["paused_until"] for site in report["sites"]] == [None, None, None]
    assert report["sites"][2]["requests_today"] > 10
    assert keys[0].isdisjoint(keys[1])
    assert keiba.racing.ids["race"] in entry["data_json"]
    assert (dry["dry_run"], dry["removed"]) == (True, 0)
    assert bare.status_code == 400


def test_the_ranking_is_measured_on_what_is_kept(keiba: Asked) -> None:
    body = keiba.get("/backtest", first="2026-11-01", last="2026-11-15")

    assert body["races"] >= 0
    assert body["account"]["staked_yen"] % 100 == 0


@pytest.mark.parametrize(
    ("path", "status", "kind"),
    [
        ("/races/202605050499", 404, "not-published"),
        ("/races/x", 422, "invalid-fields"),
        ("/horses/1999000000", 404, "not-published"),
        ("/cache/entry?partition=RACE%23none&sort=METADATA", 404, "entry-not-found"),
    ],
)
def test_what_is_not_there_is_a_problem_that_says_so(
    keiba: Asked, path: str, status: int, kind: str
) -> None:
    reply = keiba.client.get(f"{A}{path}")

    assert reply.status_code == status
    assert reply.json()["type"].endswith(kind)


def test_a_page_of_garbage_is_a_problem_that_names_it_and_is_not_kept(keiba: Asked) -> None:
    race_id = keiba.racing.ids["spoilt"]
    keiba.racing.site.malformed.ask_for(MalformedReply("empty", path="/race/race/result"))

    spoilt = keiba.client.get(f"{A}/races/{race_id}/result")
    keiba.racing.site.malformed.ask_for()
    whole = keiba.client.get(f"{A}/races/{race_id}/result")

    assert spoilt.status_code == 502
    assert f"race/result.html?race_id={race_id}" in spoilt.json()["detail"]
    assert whole.status_code == 200
