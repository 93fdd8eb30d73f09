"""Kept here: pages that come out wrong on request: cut, in wrong letters, or no page at all."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

Wrong: TypeAlias = Literal[
    "truncated", "empty", "captcha", "wrong letters", "no table", "huge", "denied", "bad request"
]

CONTROL: Final = "/simulator/pages"
_HUGE: Final = 10 * 1024 * 1024
_CAPTCHA: Final = (
    '<!DOCTYPE html><html><head><meta charset="UTF-8"><title>Verify</title></head><body>'
    '<form id="captcha-form"><p>ロボットではないことを確認してください</p>'
    '<div class="g-recaptcha"></div></form></body></html>'
)
_STATUSES: Final[dict[Wrong, int]] = {"denied": 403, "bad request": 400}


def blemished(wrong: Wrong, body: bytes, encoding: str) -> tuple[int, bytes]:
    """Answer the status and the bytes of a page that comes out wrong."""
    if wrong in _STATUSES:
        return _STATUSES[wrong], b"<html><body><h1>Access denied</h1></body></html>"
    if wrong == "truncated":
        return 200, body[: len(body) // 2]
    if wrong == "empty":
        return 200, b""
    if wrong == "captcha":
        return 200, _CAPTCHA.encode()
    if wrong == "huge":
        return 200, body + b"<!-- " + b"x" * _HUGE + b" -->"
    if wrong == "wrong letters":
        other = "cp932" if encoding != "cp932" else "utf-8"
        return 200, body.decode(encoding, "replace").encode(other, "replace")
    return 200, body.replace(b"<table", b"<section").replace(b"</table", b"</section")
