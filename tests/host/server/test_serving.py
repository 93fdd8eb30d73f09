"""A port is taken, and whoever is let in there is answered without delay."""

import socket
from contextlib import closing

import pytest

from grandstand.host.server.serving import LOOPBACK, InvalidAddress, PortInUse, bind, url_of


def test_an_answer_in_two_pieces_does_not_wait_for_the_first_to_be_acknowledged() -> None:
    with bind(LOOPBACK, 0) as listening, closing(socket.socket()) as client:
        client.connect(listening.getsockname())
        accepted, _ = listening.accept()

        with accepted:
            at_once = accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)

    assert at_once != 0


@pytest.mark.parametrize(
    ("host", "address"),
    [("127.0.0.1", "http://127.0.0.1:8700"), ("::1", "http://[::1]:8700")],
)
def test_an_address_is_written_as_browsers_take_it(host: str, address: str) -> None:
    assert url_of(host, 8700) == address


def test_a_port_that_is_taken_is_told_with_what_to_do() -> None:
    with (
        bind(LOOPBACK, 0) as listening,
        pytest.raises(PortInUse, match="0 means any free port"),
    ):
        bind(LOOPBACK, listening.getsockname()[1])


def test_an_address_of_another_machine_cannot_be_listened_on() -> None:
    with pytest.raises(InvalidAddress, match=r"192\.0\.2\.1"):
        bind("192.0.2.1", 0)
