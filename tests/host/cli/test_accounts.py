"""The commands about people and their keys, on a data folder of their own."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from grandstand.host.cli.accounts import key, user, with_accounts
from grandstand.kit.auth.accounts import AccountService
from grandstand.kit.auth.caller import Caller
from grandstand.kit.auth.credentials import Visitor

PASSWORD = "four strong words here"
HOME = Visitor("192.0.2.7")


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRANDSTAND_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "160")


def of_user(*arguments: str, piped: str = "") -> Result:
    return CliRunner().invoke(user, arguments, input=piped)


def of_key(*arguments: str) -> Result:
    return CliRunner().invoke(key, arguments, input="")


def add(name: str, *more: str) -> str:
    """Add an account and answer its id."""
    told = of_user("add", name, *more, piped=f"{PASSWORD}\n").stdout
    return told.rpartition("(")[2].rstrip(")\n")


def called(text: str) -> Caller | None:
    """Who a key stands for."""

    async def act(people: AccountService) -> Caller | None:
        return await people.by_key(text)

    return with_accounts(act)


def logged_in(name: str, password: str) -> str:
    """The user id of who logs in."""

    async def act(people: AccountService) -> str:
        return (await people.log_in(name, password, HOME)).user_id

    return with_accounts(act)


def test_the_first_account_can_log_in_with_the_password_piped_in() -> None:
    result = of_user("add", "ada", "--admin", piped=f"{PASSWORD}\nmore\n")

    assert result.stdout.startswith("added ada (")
    assert "Everybody has to log in" in result.stderr
    assert PASSWORD not in result.output
    assert logged_in("ada", PASSWORD) in result.stdout


def test_a_first_account_that_administers_nothing_is_told_what_to_do() -> None:
    result = of_user("add", "ada", piped=f"{PASSWORD}\n")

    assert "grandstand user role ada admin" in result.stderr


def test_a_name_that_is_taken_is_said_before_the_password_is_asked() -> None:
    add("ada")

    result = of_user("add", "Ada")

    assert "exists. Choose another name" in str(result.exception)


def test_without_a_password_nobody_is_added() -> None:
    result = of_user("add", "ada")

    assert "pipe it in" in str(result.exception)
    assert json.loads(of_user("list", "--json").stdout) == []


def test_accounts_are_listed_for_people_and_for_programs() -> None:
    ada, bob = add("ada", "--admin"), add("bob")

    told = of_user("list").stdout.splitlines()
    read = json.loads(of_user("list", "--json").stdout)

    assert told[0].split()[:3] == ["name", "role", "since"]
    assert [line.split()[:2] for line in told[1:]] == [["ada", "admin"], ["bob", "user"]]
    assert [(each["user_id"], each["admin"]) for each in read] == [(ada, True), (bob, False)]
    assert "argon2" not in repr(read)


def test_a_role_is_given_and_taken() -> None:
    add("ada", "--admin")
    add("bob")

    of_user("role", "bob", "admin")
    of_user("role", "ada", "user")

    read = json.loads(of_user("list", "--json").stdout)
    assert [(each["name"], each["admin"]) for each in read] == [("ada", False), ("bob", True)]


def test_a_password_is_reset_by_whoever_sits_at_the_machine() -> None:
    ada = add("ada")

    result = of_user("password", "ada", piped="quite other words\n")

    assert "is set" in result.stdout
    assert logged_in("ada", "quite other words") == ada


def test_nobody_is_removed_without_a_second_thought() -> None:
    add("ada", "--admin")

    unsure = of_user("remove", "ada")
    left = len(json.loads(of_user("list", "--json").stdout))
    sure = of_user("remove", "ada", "--yes")

    assert "--yes" in str(unsure.exception)
    assert left == 1
    assert sure.stdout.startswith("removed ada")
    assert json.loads(of_user("list", "--json").stdout) == []


def test_who_is_not_there_is_not_found() -> None:
    for words in (("remove", "x"), ("password", "x"), ("role", "x", "admin")):
        assert "No account named 'x'" in str(of_user(*words).exception)
    assert "No account named 'x'" in str(of_key("issue", "x").exception)


def test_a_key_is_printed_once_and_alone_so_that_a_script_can_take_it() -> None:
    ada = add("ada", "--admin")

    issued = of_key("issue", "ada", "--name", "nightly")

    text = issued.stdout.strip()
    caller = called(text)
    assert caller is not None
    assert (caller.user_id, caller.admin) == (ada, False)
    assert "cannot be shown again" in issued.stderr
    assert text.rpartition("_")[2] not in of_key("list").output


def test_a_key_may_administer_and_may_expire() -> None:
    add("ada", "--admin")

    issued: dict[str, Any] = json.loads(
        of_key("issue", "ada", "--admin", "--days", "30", "--json").stdout
    )

    caller = called(issued["key"])
    assert caller is not None
    assert caller.admin
    assert issued["ends_at"] > issued["created_at"]


def test_keys_are_listed_for_people_and_for_programs() -> None:
    add("ada")
    add("bob")
    of_key("issue", "ada", "--name", "one")
    of_key("issue", "bob", "--name", "two")

    everybodys = json.loads(of_key("list", "--json").stdout)
    bobs = of_key("list", "bob").stdout.splitlines()

    assert [(each["person"], each["name"]) for each in everybodys] == [
        ("ada", "one"),
        ("bob", "two"),
    ]
    assert [line.split()[1:4] for line in bobs[1:]] == [["bob", "two", "user"]]


def test_a_key_is_revoked_by_its_id_or_by_itself() -> None:
    add("ada")
    by_id, whole = (of_key("issue", "ada").stdout.strip() for _ in range(2))

    unsure = of_key("revoke", whole)
    kept = called(whole)
    of_key("revoke", by_id.split("_")[1], "--yes")
    done = of_key("revoke", whole, "--yes")

    assert "--yes" in str(unsure.exception)
    assert kept is not None
    assert (called(by_id), called(whole)) == (None, None)
    assert whole.rpartition("_")[2] not in done.output
    assert "No such key" in str(of_key("revoke", whole, "--yes").exception)


def test_everything_kept_of_a_person_is_exported_as_json(tmp_path: Path) -> None:
    ada = add("ada")
    of_key("issue", "ada", "--name", "nightly")
    file = tmp_path / "ada.json"

    printed = json.loads(of_user("export", "ada").stdout)
    of_user("export", ada, "--id", "--to", str(file))

    assert [(each["app"], each["kind"]) for each in printed[:2]] == [
        ("platform", "account"),
        ("platform", "key"),
    ]
    assert printed[0]["value"]["user_id"] == ada
    assert json.loads(file.read_text()) == printed
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_person_is_erased_only_after_a_second_thought() -> None:
    add("ada", "--admin")
    add("bob")
    issued = of_key("issue", "bob").stdout.strip()

    unsure = of_user("erase", "bob")
    kept = called(issued)
    sure = of_user("erase", "bob", "--yes")

    assert "--yes" in str(unsure.exception)
    assert kept is not None
    assert "platform: 1 erased" in sure.stdout
    assert called(issued) is None
    assert [each["name"] for each in json.loads(of_user("list", "--json").stdout)] == ["ada"]


def test_what_is_kept_of_somebody_without_an_account_is_erased_by_id() -> None:
    async def prefer(people: AccountService) -> None:
        await people.prefer("owner", time_zone="Asia/Tokyo", odds_format="decimal")

    with_accounts(prefer)

    first = of_user("erase", "owner", "--id", "--yes").stdout
    again = of_user("erase", "owner", "--id", "--yes").stdout

    assert "platform: 1 erased" in first
    assert "platform: 0 erased" in again


def test_at_a_terminal_the_password_is_asked_twice_and_never_shown(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    code = "from grandstand.host.cli.accounts import user; user(['add', 'ada'])"
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "GRANDSTAND_HOME": str(tmp_path)},
        start_new_session=True,
        close_fds=True,
    )
    os.close(theirs)

    seen = _until(ours, "Password for ada: ")
    os.write(ours, f"{PASSWORD}\n".encode())
    seen += _until(ours, "Repeat for confirmation: ")
    os.write(ours, f"{PASSWORD}\n".encode())
    seen += _until(ours, "added ada")

    assert child.wait(30) == 0
    os.close(ours)
    assert PASSWORD not in seen
    assert logged_in("ada", PASSWORD) != ""


def _until(terminal: int, text: str) -> str:
    seen = ""
    while text not in seen:
        seen += os.read(terminal, 1024).decode()
    return seen
