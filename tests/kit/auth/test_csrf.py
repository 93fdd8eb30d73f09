"""What proves that a form came from a page of ours."""

from __future__ import annotations

import secrets

import pytest

from grandstand.kit.auth.caller import LOCAL_OWNER, Caller
from grandstand.kit.auth.credentials import SESSION_COOKIE, csrf_matches, csrf_token, refuses_form

MINE, OTHERS = "A" * 43, "B" * 43
BY_COOKIE = Caller("ada", "Ada", frozenset({"user"}), "session")
BY_KEY = Caller("ada", "Ada", frozenset({"user"}), "key")


def test_a_proof_holds_for_its_session_alone() -> None:
    proof = csrf_token(MINE, secrets.token_bytes)

    assert csrf_matches(MINE, proof)
    assert not csrf_matches(OTHERS, proof)


def test_every_page_carries_another_proof() -> None:
    proofs = {csrf_token(MINE, secrets.token_bytes) for _ in range(20)}

    assert len(proofs) == 20
    assert all(csrf_matches(MINE, proof) for proof in proofs)


@pytest.mark.parametrize("given", ["", "0" * 128, "zz" * 64, "é" * 128, "0" * 64, "0" * 4_000])
def test_a_made_up_proof_does_not_hold(given: str) -> None:
    assert not csrf_matches(MINE, given)


@pytest.mark.parametrize("given", [None, "", "0" * 128, csrf_token(OTHERS, secrets.token_bytes)])
def test_a_change_by_cookie_needs_the_proof(given: str | None) -> None:
    cookies = {SESSION_COOKIE: MINE}

    assert refuses_form("POST", BY_COOKIE, cookies, given) is not None
    assert refuses_form("GET", BY_COOKIE, cookies, given) is None


def test_the_right_proof_lets_a_form_pass() -> None:
    proof = csrf_token(MINE, secrets.token_bytes)

    assert refuses_form("POST", BY_COOKIE, {SESSION_COOKIE: MINE}, proof) is None


@pytest.mark.parametrize("caller", [BY_KEY, LOCAL_OWNER, None])
def test_who_comes_without_a_cookie_needs_no_proof(caller: Caller | None) -> None:
    assert refuses_form("POST", caller, {}, None) is None
