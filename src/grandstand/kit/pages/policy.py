"""Kept here: what a browser may do on our pages: nothing from elsewhere, nothing inline."""

from __future__ import annotations

from typing import Final

CONTENT_POLICY: Final = (
    "default-src 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'; "
    "form-action 'self'"
)

PAGE_HEADERS: Final = {
    "content-security-policy": CONTENT_POLICY,
    "cache-control": "private, no-cache",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}
