"""Bytes become the text that was written, whatever the page claims."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grandstand.apps.keiba.sources.html_reader import decode

TEXT = "東京 4回6日目 芝1800m アオイソラ ｻｴｷ 良 " * 5


@pytest.mark.parametrize("encoding", ["utf-8", "euc_jp", "cp932"])
@pytest.mark.parametrize(
    "said", ["", "text/html", "text/html; charset=ISO-8859-1", "text/html; charset=no-such-thing"]
)
def test_a_page_that_says_nothing_of_use_is_read_by_its_bytes(encoding: str, said: str) -> None:
    decoded = decode(TEXT.encode(encoding), said)

    assert (decoded.text, decoded.invalid) == (TEXT, 0)


@pytest.mark.parametrize("encoding", ["utf-8", "euc_jp", "cp932"])
@pytest.mark.parametrize("said", ["UTF-8", "EUC-JP", "Shift_JIS"])
def test_a_page_that_says_the_wrong_thing_is_read_by_its_bytes(encoding: str, said: str) -> None:
    written = f'<meta charset="{said}">{TEXT}'

    decoded = decode(written.encode(encoding), f"text/html; charset={said}")

    assert (decoded.text, decoded.invalid) == (written, 0)


def test_the_header_comes_before_the_page_and_both_before_the_usual() -> None:
    # These bytes are letters in both: nothing but the declaration can tell them apart.
    ambiguous = "ﾂ｡".encode("cp932")

    assert decode(ambiguous, "charset=utf-8").text == "\u00a1"
    assert decode(ambiguous, "charset=euc-jp").text == "臓"
    assert decode(b'<meta charset="euc-jp">' + ambiguous).text.endswith("臓")
    assert decode(ambiguous).text == "\u00a1"


def test_letters_that_windows_added_to_euc_are_read() -> None:
    # Row 13 (a circled one and a company's sign) and row 92 of the vendors' form of EUC-JP.
    body = "競走".encode("euc_jp") + b"\xad\xa1\xad\xea\xfc\xe2"

    decoded = decode(body, "text/html; charset=euc-jp")

    assert (decoded.text, decoded.invalid) == ("競走①㈱髙", 0)


@pytest.mark.parametrize("encoding", ["utf-8", "euc_jp"])
def test_a_letter_cut_in_two_at_the_end_is_one_place_lost(encoding: str) -> None:
    body = (TEXT + "東").encode(encoding)[:-1]

    decoded = decode(body)

    assert decoded.invalid == 1
    assert decoded.text.startswith(TEXT)


def test_one_damaged_byte_does_not_change_the_encoding() -> None:
    body = bytearray(TEXT.encode())
    body[30] = 0xFF

    decoded = decode(bytes(body))

    assert decoded.encoding == "utf-8"
    assert decoded.text.endswith(TEXT[-100:])


def test_a_mark_of_order_at_the_beginning_is_not_part_of_the_text() -> None:
    assert decode(b"\xef\xbb\xbf" + TEXT.encode()).text == TEXT


@given(st.binary(max_size=400), st.text(max_size=40))
def test_any_bytes_become_some_text(body: bytes, content_type: str) -> None:
    decoded = decode(body, content_type)

    assert decoded.invalid == decoded.text.count("\ufffd")
