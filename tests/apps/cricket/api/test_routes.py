"""Cricket over HTTP: what each route answers, and to whom."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grandstand.apps.cricket.domain.display import swift_source
from grandstand.core.clock import SystemClock
from grandstand.simulators.push import webpush as simulated
from grandstand.simulators.push.validation import SigningKey
from tests.apps.cricket.api.server import COMING, DONE, LIVE, Housed, housed

A = "/api/cricket"
TOKEN = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"
DEVICE = {"deviceToken": TOKEN, "deviceId": "phone-1", "osVersion": "18.2"}


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Housed]:
    with housed(tmp_path_factory.mktemp("cricket")) as running:
        yield running


def test_matches_are_listed_by_their_start_and_by_their_stage(platform: Housed) -> None:
    all_of_them = platform.ada.get(f"{A}/matches").json()["matches"]
    live = platform.ada.get(f"{A}/matches", params={"status": "live"}).json()["matches"]

    assert [each["matchId"] for each in all_of_them] == [str(DONE), str(LIVE), str(COMING)]
    assert [each["stage"] for each in all_of_them] == ["completed", "live", "upcoming"]
    assert [each["matchId"] for each in live] == [str(LIVE)]
    assert live[0]["innings"][0]["overs"] == "9.5"


def test_a_list_goes_on_where_its_cursor_says(platform: Housed) -> None:
    first = platform.ada.get(f"{A}/matches", params={"limit": 2}).json()
    rest = platform.ada.get(f"{A}/matches", params={"limit": 2, "cursor": first["cursor"]}).json()
    stolen = platform.bob.get(f"{A}/matches", params={"limit": 2, "cursor": first["cursor"]})

    assert [each["matchId"] for each in rest["matches"]] == [str(COMING)]
    assert rest["cursor"] is None
    assert stolen.status_code == 400


def test_matches_are_asked_for_by_league_and_by_days(platform: Housed) -> None:
    leagues = {each["name"]: each for each in platform.ada.get(f"{A}/leagues").json()["leagues"]}
    league = leagues["Twenty20 International"]
    by_id = platform.ada.get(f"{A}/matches", params={"league": league["leagueId"]}).json()
    by_code = platform.ada.get(f"{A}/matches", params={"league": league["code"]}).json()
    long_ago = {"from": "2001-01-01T00:00:00Z", "to": "2001-02-01T00:00:00Z"}
    none = platform.ada.get(f"{A}/matches", params=long_ago).json()
    unknown = platform.ada.get(f"{A}/matches", params={"league": "nope"})

    assert [each["matchId"] for each in by_id["matches"]] == [str(LIVE)]
    assert by_code["matches"] == by_id["matches"]
    assert none["matches"] == []
    assert unknown.status_code == 404


def test_a_match_shows_its_figures_its_balls_and_what_happened(platform: Housed) -> None:
    match = platform.ada.get(f"{A}/matches/{LIVE}").json()
    card = platform.ada.get(f"{A}/matches/{LIVE}/scorecard").json()
    events = platform.ada.get(f"{A}/matches/{LIVE}/events").json()["events"]

    assert match["home"]["name"] == "Australia"
    assert len(card["balls"]) == 60
    assert card["boards"][0]["batting"][0]["name"]
    assert (
        sum(each["runs"] + each["extras"] for each in card["balls"])
        == (card["innings"][0]["score"])
    )
    assert "match_start" in {each["kind"] for each in events}
    assert {each["filtered"] for each in events} > {None, "outranked"}


def test_a_lock_screen_shows_the_viewers_side_first(platform: Housed) -> None:
    away = platform.ada.get(f"{A}/matches/{LIVE}").json()["away"]
    neutral = platform.ada.get(f"{A}/matches/{LIVE}/display").json()
    theirs = platform.ada.get(f"{A}/matches/{LIVE}/display", params={"team": away["teamId"]}).json()
    foreign = platform.ada.get(f"{A}/matches/{LIVE}/display", params={"team": "999999"})

    assert neutral["teamId"] == "neutral"
    assert neutral["state"]["teams"][1]["id"] == away["teamId"]
    assert theirs["state"]["teams"][0]["id"] == away["teamId"]
    assert foreign.status_code == 400


@pytest.mark.parametrize("end", ["", "/scorecard", "/events", "/display"])
def test_a_match_nobody_knows_is_not_found(platform: Housed, end: str) -> None:
    reply = platform.ada.get(f"{A}/matches/999999999{end}")

    assert reply.status_code == 404
    assert "999999999" in reply.json()["detail"]


def test_only_administrators_change_teams_and_leagues(platform: Housed) -> None:
    team = platform.ada.get(f"{A}/teams").json()["teams"][0]
    refused = platform.ada.patch(f"{A}/teams/{team['teamId']}", json={"code": "XYZ"})
    changed = platform.root.patch(f"{A}/teams/{team['teamId']}", json={"code": "XYZ"})
    seen = platform.ada.get(f"{A}/teams/{team['teamId']}").json()
    no_delete = platform.ada.delete(f"{A}/leagues/1")

    assert (refused.status_code, no_delete.status_code) == (403, 403)
    assert changed.json() == seen
    assert (seen["code"], seen["name"]) == ("XYZ", team["name"])


def test_a_league_is_amended_and_removed(platform: Housed) -> None:
    leagues = platform.ada.get(f"{A}/leagues").json()["leagues"]
    gone = next(each for each in leagues if each["name"] != "Twenty20 International")
    place = f"{A}/leagues/{gone['leagueId']}"

    off = platform.root.patch(place, json={"active": False}).json()
    inactive = platform.ada.get(f"{A}/leagues", params={"active": "false"}).json()["leagues"]
    removed = platform.root.delete(place)
    after = platform.ada.get(place)

    assert off["active"] is False
    assert [each["leagueId"] for each in inactive] == [gone["leagueId"]]
    assert (removed.status_code, after.status_code) == (204, 404)


def test_a_season_shows_its_table(platform: Housed) -> None:
    season = platform.ada.get(f"{A}/matches/{LIVE}").json()["seasonId"]

    table = platform.ada.get(f"{A}/seasons/{season}/teams").json()["teams"]
    unknown = platform.ada.get(f"{A}/seasons/999999999/teams").json()["teams"]

    assert {each["seasonId"] for each in table} == {season}
    assert unknown == []


def test_a_device_is_registered_made_startable_and_forgotten(platform: Housed) -> None:
    made = platform.ada.post(f"{A}/user/device", json=DEVICE).json()
    start = {"deviceToken": TOKEN, "pushToStartToken": "80a1" * 20}
    startable = platform.ada.put(f"{A}/user/device/push-to-start", json=start).json()
    others = platform.bob.get(f"{A}/user/device").json()
    forgotten = platform.ada.delete(f"{A}/user/device", params={"deviceToken": TOKEN})
    again = platform.ada.delete(f"{A}/user/device", params={"deviceToken": TOKEN})

    assert (made["deviceId"], made["startable"]) == ("phone-1", False)
    assert startable["startable"] is True
    assert others == {"device": None, "devices": []}
    assert (forgotten.status_code, again.status_code) == (204, 404)


@pytest.mark.parametrize("token", ["xyz", "0g" * 32, "abc", "00" * 400])
def test_what_cannot_be_a_token_is_refused(platform: Housed, token: str) -> None:
    reply = platform.ada.post(f"{A}/user/device", json=DEVICE | {"deviceToken": token})

    assert reply.status_code == 400
    assert "hexadecimal" in reply.json()["detail"]


def test_a_follow_is_made_changed_and_taken_back(platform: Housed) -> None:
    place = f"{A}/user/follow/{LIVE}"
    away = platform.ada.get(f"{A}/matches/{LIVE}").json()["away"]["teamId"]
    before = platform.ada.get(place)
    made = platform.ada.post(place, json={}).json()
    changed = platform.ada.patch(place, json={"teamId": away}).json()
    seen, listed = platform.ada.get(place).json(), platform.ada.get(f"{A}/user/follows").json()
    others = platform.bob.get(place)
    undone = platform.ada.delete(place)
    after = platform.ada.delete(place)

    assert (before.status_code, others.status_code) == (404, 404)
    assert made["follow"]["teamId"] == "neutral"
    assert made["display"]["state"]["matchId"] == str(LIVE)
    assert changed["teamId"] == away
    assert listed["follows"] == [seen]
    assert (undone.status_code, after.status_code) == (204, 404)


def test_a_team_that_does_not_play_cannot_be_followed(platform: Housed) -> None:
    foreign = platform.ada.post(f"{A}/user/follow/{COMING}", json={"teamId": "999999"})
    over = platform.ada.post(f"{A}/user/follow/{DONE}", json={})

    assert foreign.status_code == 400
    assert over.status_code == 409


def test_an_activity_lives_from_its_token_to_its_dismissal(platform: Housed) -> None:
    place, given = f"{A}/user/activity/{LIVE}", {"deviceId": "phone-2", "updateToken": "ab" * 40}
    platform.bob.post(f"{A}/user/follow/{LIVE}", json={})
    made = platform.bob.post(place, json=given).json()
    listed = platform.bob.get(f"{A}/user/activities").json()["activities"]
    not_mine = platform.ada.delete(place)
    ended = platform.bob.delete(place, params={"deviceId": "phone-2"}).json()["activities"]
    follow = platform.bob.get(f"{A}/user/follow/{LIVE}")

    assert made["status"] == "active"
    assert listed == [made]
    assert not_mine.status_code == 404
    assert (ended[0]["status"], ended[0]["endReason"]) == ("ended", "dismissed")
    assert follow.status_code == 404


def test_what_alerts_somebody_is_their_own_choice(platform: Housed) -> None:
    usual = platform.ada.get(f"{A}/user/alerts").json()
    asked = {"kinds": ["wicket", "six"], "mutedUntil": "2030-01-01T00:00:00Z"}
    chosen = platform.ada.put(f"{A}/user/alerts", json=asked).json()
    others = platform.bob.get(f"{A}/user/alerts").json()
    unknown = platform.ada.put(f"{A}/user/alerts", json={"kinds": ["tea_party"]})

    assert usual == others == {"kinds": None, "muted": False, "mutedUntil": None}
    assert chosen["kinds"] == ["six", "wicket"]
    assert chosen["mutedUntil"].startswith("2030-01-01")
    assert (unknown.status_code, "tea_party" in unknown.json()["detail"]) == (400, True)


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_moment_outside_the_calendar_is_refused_with_its_field(
    platform: Housed, moment: str
) -> None:
    muting = platform.ada.put(f"{A}/user/alerts", json={"mutedUntil": moment})
    asking = platform.ada.get(f"{A}/matches", params={"from": moment})

    assert (muting.status_code, asking.status_code) == (422, 422)
    assert "mutedUntil" in muting.text


def test_without_a_push_key_a_test_says_so(platform: Housed) -> None:
    reply = platform.ada.post(f"{A}/user/push-test")

    assert reply.status_code == 409
    assert "APNS_KEY" in reply.json()["detail"]


def test_browsers_subscribe_only_where_that_is_set_up(platform: Housed, tmp_path: Path) -> None:
    browser = simulated.SimulatedBrowsers(SystemClock()).subscribe().subscription
    told = browser | {"expirationTime": None}
    chosen = {"webpush": True, "webpush_key": SigningKey.make().pem}
    off = platform.ada.get(f"{A}/user/browser")
    refused = platform.ada.post(f"{A}/user/browser", json=told)

    with housed(tmp_path, webpush_contact="mailto:ops@example.org", **chosen) as pushing:
        key = pushing.ada.get(f"{A}/user/browser").json()["publicKey"]
        kept = pushing.ada.post(
            f"{A}/user/browser", json=told | {"endpoint": "https://fcm.googleapis.com/fcm/send/1"}
        )
        nonsense = pushing.ada.post(
            f"{A}/user/browser", json=told | {"keys": {"p256dh": "AA", "auth": "AA"}}
        )
        gone = pushing.ada.delete(f"{A}/user/browser", params={"endpoint": "https://x.example"})

    assert (off.status_code, refused.status_code) == (409, 409)
    assert len(key) == 87
    assert (kept.status_code, nonsense.status_code, gone.status_code) == (204, 400, 204)


def test_the_swift_file_is_the_one_that_is_generated(platform: Housed) -> None:
    reply = platform.ada.get(f"{A}/CricketMatchAttributes.swift")

    assert reply.text == swift_source()
    assert reply.headers["content-type"].startswith("text/x-swift")


def test_the_hub_is_for_administrators_and_shows_what_is_polled(platform: Housed) -> None:
    refused = platform.ada.get(f"{A}/admin/hub")
    hub = platform.root.get(f"{A}/admin/hub").json()
    polled = {each["matchId"]: each for each in hub["matches"]}

    assert refused.status_code == 403
    assert polled[str(LIVE)]["phase"] == "live"
    assert polled[str(LIVE)]["owner"]
    assert hub["pushing"] is False
    assert "sportmonks-livescores" in {each["name"] for each in hub["feed"]}


def test_an_administrator_looks_at_a_match_now(platform: Housed) -> None:
    first = platform.root.post(f"{A}/admin/matches/{LIVE}/tick").json()
    unknown = platform.root.post(f"{A}/admin/matches/999999999/tick")
    cleared = platform.root.post(f"{A}/admin/cache/clear")
    synced = platform.root.post(f"{A}/admin/sync").json()

    assert first["matchId"] == str(LIVE)
    assert unknown.status_code == 404
    assert cleared.status_code == 204
    assert synced["found"] == 3


def test_a_replay_is_played_paused_moved_and_stopped(platform: Housed) -> None:
    tapes = platform.root.get(f"{A}/admin/replay/recordings").json()["recordings"]
    made = platform.root.post(f"{A}/admin/replay/matches", json={"recording": "generated:9"}).json()
    place = f"{A}/admin/replay/matches/{made['matchId']}"
    paused = platform.root.post(f"{place}/control", json={"action": "pause"}).json()
    moved = platform.root.post(f"{place}/control", json={"action": "seek", "ball": 30}).json()
    stopped = platform.root.delete(place)
    listed = platform.root.get(f"{A}/admin/replay/matches").json()["replays"]
    unknown = platform.root.post(f"{A}/admin/replay/matches", json={"recording": "nothing"})
    refused = platform.ada.get(f"{A}/admin/replay/recordings")

    assert str(LIVE) in tapes
    assert (paused["state"], moved["ball"]) == ("paused", 30)
    assert stopped.status_code == 204
    assert made["matchId"] not in {each["matchId"] for each in listed}
    assert (unknown.status_code, refused.status_code) == (400, 403)


def test_older_addresses_answer_only_where_they_are_asked_for(
    platform: Housed, tmp_path: Path
) -> None:
    away = platform.ada.get(f"{A}/matches/{LIVE}").json()["away"]["teamId"]
    given = {"activityToken": "ab" * 40, "deviceId": "phone-1"}
    off = platform.ada.get(f"{A}/matches/live")

    with housed(tmp_path, aliases=True, replay_url="") as older:
        live = older.ada.get(f"{A}/matches/live").json()["matches"]
        device = older.ada.post(f"{A}/devices", json=DEVICE)
        start = {"deviceToken": TOKEN, "pushToStartToken": "80a1" * 20}
        startable = older.ada.post(f"{A}/devices/push-to-start-token", json=start)
        followed = older.ada.post(f"{A}/user/follow/match", json={"matchId": str(LIVE)})
        chosen = older.ada.patch(f"{A}/user/follow/match/{LIVE}/team", json={"teamId": away})
        token = older.ada.post(f"{A}/matches/{LIVE}/activity-token", json=given)
        gone = older.ada.post(f"{A}/matches/{LIVE}/activity-dismissed", json={})
        unfollowed = older.ada.delete(f"{A}/user/follow/match/{LIVE}")
        forgotten = older.ada.delete(f"{A}/devices/{TOKEN}")
        no_replays = older.root.get(f"{A}/admin/replay/recordings")

    assert off.status_code == 422
    assert [each["matchId"] for each in live] == [str(LIVE)]
    assert [device.status_code, startable.status_code, followed.status_code] == [200, 200, 200]
    assert (chosen.json()["teamId"], token.json()["status"]) == (away, "active")
    assert gone.json()["activities"][0]["endReason"] == "dismissed"
    assert (unfollowed.status_code, forgotten.status_code) == (404, 204)
    assert no_replays.status_code == 409
