"""Kept here: where a request to a source goes, and where it never goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import httpx2

from grandstand.wire.answer import Answer
from grandstand.wire.declaring import Declared, same_origin
from grandstand.wire.errors import RedirectRefused, RequestFault
from grandstand.wire.sending import Asked

Params: TypeAlias = Mapping[str, str | int | float | bool | Sequence[str]]


def address(declared: Declared, path: str, params: Params | None) -> httpx2.URL:
    """Answer the address of a path of a source, or of a whole address if it is the source's.

    Raises RequestFault when it is of another host, or none at all.
    """
    url = _read(declared, path, params)
    if isinstance(url, str):
        message = f"{path!r} is no path of {declared.name}: {url}"
        raise RequestFault(message, source=declared.name)
    if not same_origin(url, declared.base_url) or url.userinfo:
        message = f"{declared.name} is at {declared.host}; it is not asked elsewhere"
        raise RequestFault(message, source=declared.name)
    return url


def _read(declared: Declared, path: str, params: Params | None) -> httpx2.URL | str:
    """Answer an address, or why it is none."""
    try:
        if "://" in path.partition("?")[0]:
            url = httpx2.URL(path)
        else:
            stem = str(declared.base_url).rstrip("/")
            url = httpx2.URL(f"{stem}/{path.lstrip('/')}" if path else stem)
        return url.copy_merge_params(dict(params)) if params else url
    except (httpx2.InvalidURL, TypeError, ValueError) as error:
        return str(error)


def _joined(url: httpx2.URL, location: str) -> httpx2.URL | None:
    try:
        return url.join(location)
    except (httpx2.InvalidURL, ValueError):
        return None


def proven(declared: Declared, asked: Asked) -> Asked:
    """Add what proves who we are, but only on the way to the source itself."""
    headers = {**declared.headers, **asked.headers}
    if not same_origin(asked.url, declared.base_url):
        return replace(asked, headers=headers)
    credentials = declared.credentials
    headers |= credentials.headers
    signed = credentials.sign(asked.method, asked.url.path) if credentials.sign else {}
    headers |= signed
    url = asked.url.copy_merge_params(credentials.params) if credentials.params else asked.url
    return replace(asked, url=url, headers=headers, secrets=tuple(signed.values()))


def redirected(declared: Declared, asked: Asked, answer: Answer) -> Asked:
    """Answer the request a redirect leads to; raise RedirectRefused where we do not go."""
    url = _joined(asked.url, answer.headers.get("location", ""))
    if url is None:
        message = f"{declared.name} redirects to what is no address"
        raise RedirectRefused(message, source=declared.name)
    ours = same_origin(url, declared.base_url)
    if asked.method not in {"GET", "HEAD"} or not (ours or url.host in declared.also_hosts):
        message = (
            f"{declared.name} redirects to {url.host}, where this request does not go: correct "
            "the address of the source, or name the host in also_hosts"
        )
        raise RedirectRefused(message, source=declared.name)
    if url.scheme != "https" and (declared.base_url.scheme == "https" or url.scheme != "http"):
        message = f"{declared.name} redirects to an address that is not encrypted"
        raise RedirectRefused(message, source=declared.name)
    for name in declared.credentials.params:
        url = url.copy_remove_param(name)
    # What a caller adds to a request, an API key among it, is meant for the source alone.
    headers = asked.headers if ours else {}
    return replace(asked, url=url.copy_with(userinfo=b"", fragment=None), headers=headers)
