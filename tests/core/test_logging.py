"""Logging as text or JSON, without secrets."""

import io
import json
import logging
import time
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from grandstand.core import logging as logs
from grandstand.core.errors import InvalidInput

SECRET = "hunter2-swordfish"
JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMjMifQ.c2lnbmF0dXJlLXNpZ25hdHVyZQ"


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    yield io.StringIO()
    structlog.reset_defaults()
    root = logging.getLogger()
    root.handlers = [each for each in root.handlers if not isinstance(each, logs.Output)]
    root.setLevel(logging.WARNING)


def _lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def _break_twice() -> None:
    try:
        int(f"postgresql://ada:{SECRET}@db/x")
    except ValueError as error:
        message = f"Authorization: Bearer {SECRET}"
        raise RuntimeError(message) from error


@pytest.mark.parametrize(
    "text",
    [
        f"Authorization: Bearer {SECRET}",
        f"headers={{'Authorization': 'Bearer {SECRET}', 'accept': '*/*'}}",
        f"[(b'authorization', b'Basic {SECRET}')]",
        f"authorization: Digest username=x, response={SECRET}",
        f"Cookie: a=b; grandstand_session={SECRET}",
        f"https://api.example/v4/odds?regions=us&apiKey={SECRET}&x=1",
        f"https://api.example/v4/odds?api_token={SECRET}",
        f"/v4/odds?key={SECRET}#x",
        f"/callback?token={SECRET}",
        f"/login?password={SECRET}",
        f"postgresql://ada:{SECRET}@db.example/races",
        f"https://ada:p@{SECRET}@host.example/",
        f"https://{SECRET}@host.example/",
        f"host=db user=ada password={SECRET} dbname=x",
        f'{{"client_secret": "{SECRET}", "a": 1}}',
        f"x-api-key: {SECRET}",
        f"KALSHI-ACCESS-SIGNATURE: {SECRET}",
        f"Illegal header value b'Bearer {SECRET}'",
        f"key gs_{SECRET} was used",
        f"OPENAI sk-{SECRET}",
    ],
)
def test_what_looks_like_a_secret_is_taken_out_of_a_text(text: str) -> None:
    cleaned = logs.redact(text)

    assert SECRET not in cleaned
    assert logs.HIDDEN in cleaned


def test_a_jwt_and_an_access_key_are_taken_out_wherever_they_stand() -> None:
    cleaned = logs.redact(f"sent {JWT}, by AKIAIOSFODNN7EXAMPLE.")

    assert cleaned == "sent [redacted], by [redacted]."


@pytest.mark.parametrize(
    "text",
    [
        "There is no GameOdds with game_id='abc', key='x'",
        "https://api.example/v4/sports?regions=us&markets=h2h",
        "The lease nightly is held by another; try again later",
        "ada@example.com wrote 12 rows at 10:30",
        "the signature, which is checked, and the password are wrong",
        "job tidy: 3 tokens left",
    ],
)
def test_a_text_without_secrets_stays_as_it_is(text: str) -> None:
    assert logs.redact(text) == text


def test_a_known_secret_is_taken_out_however_it_is_quoted() -> None:
    secret = 'pass"word/with +odd&letters'
    logs.register_secrets(secret)
    quoted = "pass%22word%2Fwith%20%2Bodd%26letters", "pass%22word%2Fwith+%2Bodd%26letters"

    cleaned = logs.redact(" ".join((secret, *quoted, json.dumps({"a": secret}))))

    assert "odd" not in cleaned


def test_a_secret_too_short_to_be_one_does_not_eat_the_text() -> None:
    logs.register_secrets("", "abc", "true")

    assert logs.redact("abc is true") == "abc is true"


@pytest.mark.parametrize(
    "piece", ["a-b.c_d", "a.b+c-", "x://y", "password='", "eyJabcd.", "gs_", "?key=&", "cookie:"]
)
def test_a_long_text_is_cleaned_in_little_time(piece: str) -> None:
    text = piece * 30_000 + "\n password=" + SECRET

    begin = time.process_time()
    cleaned = logs.redact(text)
    taken = time.process_time() - begin

    assert SECRET not in cleaned
    assert taken < 3.0


def test_lines_of_json_carry_name_level_time_and_what_was_told(stream: io.StringIO) -> None:
    logs.configure_logging(stream, json=True)

    logs.get_logger("jobs", job="tidy").info("ran", rows=3)

    [line] = _lines(stream)
    assert line.pop("at").endswith("Z")
    told = {"event": "ran", "level": "info", "part": "jobs", "job": "tidy", "rows": 3}
    assert line == told


def test_people_get_lines_without_colours_when_it_is_no_terminal(stream: io.StringIO) -> None:
    logs.configure_logging(stream, json=False)

    logs.get_logger("jobs").warning("failed", job="tidy")

    assert "failed" in stream.getvalue()
    assert "job=tidy" in stream.getvalue()
    assert "\x1b" not in stream.getvalue()


def test_lines_below_the_level_are_not_written(stream: io.StringIO) -> None:
    logs.configure_logging(stream, json=True, level="warning")

    logs.get_logger("a").info("quiet")
    logs.get_logger("a").error("loud")
    logging.getLogger("library").info("quiet too")

    assert [line["event"] for line in _lines(stream)] == ["loud"]


def test_a_level_there_is_not_is_refused_with_those_there_are(stream: io.StringIO) -> None:
    with pytest.raises(InvalidInput, match="Use one of debug, info"):
        logs.configure_logging(stream, json=True, level="loud")


def test_a_logger_made_before_follows_a_later_configuration(stream: io.StringIO) -> None:
    early = logs.get_logger("early")
    logs.configure_logging(io.StringIO(), json=True)
    early.info("lost")
    logs.configure_logging(stream, json=True)

    early.info("found")
    logging.getLogger("library").warning("once")

    assert [line["event"] for line in _lines(stream)] == ["found", "once"]


@pytest.mark.parametrize("as_json", [True, False])
def test_no_value_however_deep_shows_a_secret(stream: io.StringIO, *, as_json: bool) -> None:
    logs.configure_logging(stream, json=as_json, secrets=["open-sesame-42"])

    logs.get_logger("wire").info(
        f"asked https://x.example/?apiKey={SECRET}",
        headers={"Authorization": f"Bearer {SECRET}", "Cookie": SECRET},
        pairs=[("x-api-key", SECRET), (b"authorization", SECRET.encode())],
        password=SECRET,
        api_token=123456,
        nested={"a": [{"b": "open-sesame-42"}]},
        raw=b"token open-sesame-42",
        error=ValueError("open-sesame-42 is wrong"),
    )

    assert SECRET not in stream.getvalue()
    assert "open-sesame-42" not in stream.getvalue()
    assert "123456" not in stream.getvalue()


@pytest.mark.parametrize("as_json", [True, False])
def test_no_traceback_however_chained_shows_a_secret(stream: io.StringIO, *, as_json: bool) -> None:
    logs.configure_logging(stream, json=as_json)

    try:
        _break_twice()
    except RuntimeError:
        logs.get_logger("wire").exception("broke")
        logging.getLogger("library").exception("broke too, password=%s", SECRET)

    assert stream.getvalue().count("RuntimeError: Auth") == 2
    assert stream.getvalue().count("ValueError: invalid") == 2
    assert SECRET not in stream.getvalue()


def test_libraries_that_write_addresses_are_kept_quiet(stream: io.StringIO) -> None:
    logs.configure_logging(stream, json=True, level="debug")

    logging.getLogger("httpx2").info("HTTP Request: GET https://x.example")
    logging.getLogger("websockets.client").debug("> GET /")

    assert stream.getvalue() == ""
