"""Each part really runs, and is gone when its run is gone."""

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import boto3
import psycopg

from tests.parts.child import Server, running
from tests.parts.environment import ROOT


def _client(endpoint: str, access_key: str) -> Any:
    return boto3.client(
        "dynamodb",
        endpoint_url=endpoint,
        region_name="eu-west-1",
        aws_access_key_id=access_key,
        aws_secret_access_key="secret",
    )


def test_dynamodb_local_gives_each_access_key_tables_of_its_own(dynamodb_local: str) -> None:
    mine, other = _client(dynamodb_local, "mine"), _client(dynamodb_local, "other")

    mine.create_table(
        TableName="seats",
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )

    assert mine.list_tables()["TableNames"] == ["seats"]
    assert other.list_tables()["TableNames"] == []


def test_postgres_answers_in_utf8(postgres_dsn: str) -> None:
    with psycopg.connect(postgres_dsn) as connection:
        row = connection.execute("SHOW server_encoding").fetchone()

    assert row == ("UTF8",)


def test_the_aws_cli_talks_to_a_local_endpoint(aws_cli: Path, dynamodb_local: str) -> None:
    credentials = {"AWS_ACCESS_KEY_ID": "cli", "AWS_SECRET_ACCESS_KEY": "secret"}
    command = [str(aws_cli), "dynamodb", "list-tables", "--endpoint-url", dynamodb_local]

    said = subprocess.run(
        [*command, "--region", "eu-west-1", "--output", "text"],
        env=os.environ | credentials,
        capture_output=True,
        text=True,
        check=True,
    )

    assert said.stdout.strip() == ""


def test_the_javascript_client_talks_to_a_local_endpoint(
    node_sdk: tuple[Path, Path], dynamodb_local: str, tmp_path: Path
) -> None:
    node, modules = node_sdk
    (tmp_path / "node_modules").symlink_to(modules)
    (tmp_path / "list.mjs").write_text(
        textwrap.dedent("""
            import { DynamoDBClient, ListTablesCommand } from "@aws-sdk/client-dynamodb";
            const client = new DynamoDBClient({
              endpoint: process.argv[2], region: "eu-west-1",
              credentials: { accessKeyId: "javascript", secretAccessKey: "secret" },
            });
            console.log(JSON.stringify((await client.send(new ListTablesCommand({}))).TableNames));
        """),
        encoding="utf-8",
    )

    said = subprocess.run(
        [node, tmp_path / "list.mjs", dynamodb_local], capture_output=True, text=True, check=True
    )

    assert said.stdout.strip() == "[]"


# The headless shell that npm carries has no --dump-dom, so the browser is asked over its own port.
_BROWSER_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
)


def _title_when(browser: Path, wanted: str) -> str:
    """The title of the first page, once it is the wanted one or time is up."""
    title = ""
    end = time.monotonic() + 30
    while title != wanted and time.monotonic() < end:
        time.sleep(0.1)
        with contextlib.suppress(OSError, IndexError, ValueError):
            port = int((browser / "DevToolsActivePort").read_text(encoding="ascii").split()[0])
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            with contextlib.closing(connection):
                connection.request("GET", "/json/list")
                title = json.loads(connection.getresponse().read())[0]["title"]
    return title


def test_chromium_runs_the_scripts_of_a_page(chromium: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<title>-</title><script>document.title = 20 + 22</script>", encoding="utf-8")
    user = tmp_path / "user"
    command = (str(chromium), *_BROWSER_FLAGS, f"--user-data-dir={user}", page.as_uri())

    with running(Server(command, tmp_path, tmp_path / "log", signal.SIGTERM)):
        title = _title_when(user, "42")

    assert title == "42"


def test_a_killed_run_takes_its_server_with_it(tmp_path: Path) -> None:
    script = textwrap.dedent(f"""
        import pathlib, signal, sys, time
        from tests.parts.child import Server, running
        folder = pathlib.Path({str(tmp_path)!r})
        with running(Server(("sleep", "600"), folder, folder / "log", signal.SIGTERM)) as server:
            print(server.pid, flush=True)
            time.sleep(600)
    """)
    owner = subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    server = int(owner.stdout.readline())
    alive = not _ends_within(server, seconds=0.5)

    owner.send_signal(signal.SIGKILL)
    owner.wait()
    owner.stdout.close()

    assert alive
    assert _ends_within(server, seconds=10)


def _ends_within(process: int, *, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        status = Path(f"/proc/{process}/stat")
        if not status.exists() or status.read_text(encoding="ascii").split()[2] == "Z":
            return True
        time.sleep(0.05)
    return False
