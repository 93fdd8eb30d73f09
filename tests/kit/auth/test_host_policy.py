"""Which hosts and origins are answered, and which addresses may be listened on."""

from __future__ import annotations

import pytest

from grandstand.core.errors import InvalidInput
from grandstand.kit.auth.host_policy import (
    HostName,
    HostPolicy,
    check_binding,
    is_loopback,
    parse_host,
)

HERE = HostPolicy.bound_to("127.0.0.1")
PUBLIC = HostPolicy.bound_to(
    "0.0.0.0",  # noqa: S104 - an address in a test
    hosts=("stand.example.org", "other.example.org:8443"),
    origins=("https://front.example.org",),
    secure=True,
)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("localhost", HostName("localhost")),
        ("LocalHost.:8700", HostName("localhost", 8700)),
        ("127.0.0.1:80", HostName("127.0.0.1", 80, literal=True)),
        ("[::1]", HostName("::1", None, literal=True)),
        ("[0:0:0:0:0:0:0:1]:8700", HostName("::1", 8700, literal=True)),
        ("a_b.example.org", HostName("a_b.example.org")),
    ],
)
def test_a_host_is_read_in_every_way_of_writing_it(text: str, place: HostName) -> None:
    assert parse_host(text) == place


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":80",
        "localhost:",
        "localhost:0",
        "localhost:65536",
        "localhost:+80",
        "localhost:８0",  # noqa: RUF001 - a digit of another script
        "localhost:80:80",
        "user@localhost",
        "localhost/evil",
        "localhost evil",
        "localhost,evil.example",
        "::1",
        "[::1",
        "[::1]evil",
        "[127.0.0.1]",
        "[fe80::1%25eth0]",
        "löcalhost",
        "-evil.example",
        "a" * 64,
        ".".join(["abcdef"] * 40),
        "localhost\x00",
    ],
)
def test_what_is_no_host_is_not_read(text: str) -> None:
    assert parse_host(text) is None


@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost:8700", "127.0.0.1:1", "127.9.9.9", "[::1]:8700", "app.localhost"],
)
def test_this_machine_is_answered_under_its_own_names(host: str) -> None:
    assert HERE.refuses_host([host]) is None


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8700",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "evillocalhost",
        "127.1",
        "2130706433",
        "0x7f.0.0.1",
        "192.0.2.7",
        "0.0.0.0",  # noqa: S104 - as above
        "[::]",
    ],
)
def test_a_name_that_was_rebound_to_this_machine_is_refused(host: str) -> None:
    assert HERE.refuses_host([host]) is not None


@pytest.mark.parametrize("given", [[], ["localhost", "localhost"], ["localhost", "evil.example"]])
def test_a_request_names_exactly_one_host(given: list[str]) -> None:
    assert HERE.refuses_host(given) is not None


@pytest.mark.parametrize(
    ("host", "answered"),
    [
        ("stand.example.org", True),
        ("STAND.example.org:443", True),
        ("other.example.org:8443", True),
        ("other.example.org", False),
        ("192.0.2.7:8700", True),
        ("[2001:db8::1]", True),
        ("evil.example", False),
    ],
)
def test_a_public_server_answers_to_addresses_and_the_names_it_was_given(
    host: str, *, answered: bool
) -> None:
    assert (PUBLIC.refuses_host([host]) is None) == answered


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("localhost:8700", "http://localhost:8700"),
        ("LOCALHOST:8700", "http://localhost:8700"),
        ("localhost", "http://localhost"),
        ("localhost:80", "http://localhost"),
        ("127.0.0.1:8700", "http://127.0.0.1:8700"),
        ("[::1]:8700", "http://[::1]:8700"),
        ("example.org", "https://example.org:443"),
    ],
)
def test_a_page_of_ours_may_change_things(host: str, origin: str) -> None:
    headers = {"host": host, "origin": origin, "sec-fetch-site": "same-origin"}

    assert HERE.refuses_origin("POST", headers) is None
    assert HERE.refuses_origin("GET", headers, socket=True) is None


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "http://evil.example",
        "http://localhost",
        "http://localhost:8701",
        "https://localhost:8701",
        "http://127.0.0.1:8700",
        "http://app.localhost:8700",
        "http://localhost:8700.evil.example",
        "http://localhost:8700@evil.example",
        "http://localhost:8700/",
        "http://localhost:8700 http://evil.example",
        "file://",
        "chrome-extension://localhost:8700",
        "localhost:8700",
        "HTTP//localhost:8700",
    ],
)
def test_a_page_of_another_origin_may_not(origin: str) -> None:
    headers = {"host": "localhost:8700", "origin": origin}

    refused = [HERE.refuses_origin(method, headers) for method in ("POST", "put", "DELETE", "X")]

    assert None not in refused
    assert HERE.refuses_origin("GET", headers, socket=True) is not None


@pytest.mark.parametrize(
    ("site", "allowed"),
    [
        ("same-origin", True),
        ("none", True),
        ("same-site", False),
        ("cross-site", False),
        ("", False),
    ],
)
def test_without_an_origin_the_browsers_own_word_counts(site: str, *, allowed: bool) -> None:
    headers = {"host": "localhost:8700", "sec-fetch-site": site}

    assert (HERE.refuses_origin("POST", headers) is None) == allowed


@pytest.mark.parametrize(
    ("referer", "allowed"),
    [
        ("http://localhost:8700/a?b#c", True),
        ("http://evil.example/localhost:8700", False),
        ("garbage", False),
    ],
)
def test_a_browser_too_old_for_both_is_told_by_where_it_comes_from(
    referer: str, *, allowed: bool
) -> None:
    headers = {"host": "localhost:8700", "referer": referer}

    assert (HERE.refuses_origin("POST", headers) is None) == allowed


def test_a_script_that_is_no_browser_may_change_things() -> None:
    assert HERE.refuses_origin("POST", {"host": "localhost:8700"}) is None


def test_reading_is_not_asked_where_it_comes_from() -> None:
    headers = {"host": "localhost:8700", "origin": "http://evil.example"}

    assert HERE.refuses_origin("GET", headers) is None
    assert HERE.refuses_origin("HEAD", headers) is None


@pytest.mark.parametrize(
    ("origin", "site", "allowed"),
    [
        ("https://stand.example.org", "same-origin", True),
        ("http://stand.example.org", "same-origin", False),
        ("https://front.example.org", "same-site", True),
        ("https://front.example.org:444", "same-site", False),
        ("https://stand.example.org", "cross-site", False),
    ],
)
def test_a_public_server_wants_https_and_knows_its_friends(
    origin: str, site: str, *, allowed: bool
) -> None:
    headers = {"host": "stand.example.org", "origin": origin, "sec-fetch-site": site}

    assert (PUBLIC.refuses_origin("POST", headers) is None) == allowed


@pytest.mark.parametrize("wrong", ["http://example.org", "a b", "*.example.org", ""])
def test_a_setting_that_names_no_host_is_refused(wrong: str) -> None:
    with pytest.raises(InvalidInput, match="is not a host"):
        HostPolicy.bound_to("127.0.0.1", hosts=(wrong,))


@pytest.mark.parametrize("wrong", ["example.org", "*", "null", "https://example.org/path"])
def test_a_setting_that_names_no_origin_is_refused(wrong: str) -> None:
    with pytest.raises(InvalidInput, match="is not an origin"):
        HostPolicy.bound_to("127.0.0.1", origins=(wrong,))


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("127.0.0.1", True),
        ("127.255.0.1", True),
        ("::1", True),
        ("[::1]", True),
        ("::ffff:127.0.0.1", True),
        ("localhost", True),
        ("0.0.0.0", False),  # noqa: S104 - as above
        ("::", False),
        ("192.168.1.2", False),
        ("example.org", False),
        ("", False),
    ],
)
def test_what_is_this_machine_is_known(host: str, *, own: bool) -> None:
    assert is_loopback(host) == own


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", ""])  # noqa: S104 - as above
def test_the_house_does_not_stand_open_to_other_machines(host: str) -> None:
    with pytest.raises(InvalidInput, match="grandstand user add NAME --admin"):
        check_binding(host, accounts=False, tokens=False)

    check_binding(host, accounts=True, tokens=False)
    check_binding(host, accounts=False, tokens=True)
    check_binding("127.0.0.1", accounts=False, tokens=False)
