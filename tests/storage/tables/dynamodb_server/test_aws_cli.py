"""Amazon's command line client, unchanged, against our endpoint."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def run(aws_cli: Path, endpoint: str) -> Run:
    """Runs `aws dynamodb` on our endpoint."""
    environment = {
        **os.environ,
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_PAGER": "",
        "AWS_CONFIG_FILE": "/nowhere",
        "AWS_SHARED_CREDENTIALS_FILE": "/nowhere",
    }

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(aws_cli), "dynamodb", *arguments, "--output", "json"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    return run


def answered(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout) if done.stdout.strip() else {}


def test_a_table_is_made_used_and_deleted_from_the_shell(run: Run) -> None:
    answered(
        run(
            "create-table",
            "--table-name=shell",
            "--key-schema=AttributeName=p,KeyType=HASH",
            "--attribute-definitions=AttributeName=p,AttributeType=S",
            "--billing-mode=PAY_PER_REQUEST",
        )
    )
    answered(run("wait", "table-exists", "--table-name=shell"))
    answered(run("put-item", "--table-name=shell", '--item={"p": {"S": "x"}, "n": {"N": "1.50"}}'))

    found = answered(run("get-item", "--table-name=shell", '--key={"p": {"S": "x"}}'))
    counted = answered(run("scan", "--table-name=shell", "--select=COUNT"))
    deleted = answered(run("delete-table", "--table-name=shell"))

    assert found == {"Item": {"p": {"S": "x"}, "n": {"N": "1.5"}}}
    assert counted["Count"] == 1
    assert deleted["TableDescription"]["TableStatus"] == "DELETING"


def test_an_error_is_told_by_its_name_and_sentence(run: Run) -> None:
    done = run("describe-table", "--table-name=missing")

    assert done.returncode != 0
    assert (
        "An error occurred (ResourceNotFoundException) when calling the DescribeTable operation: "
        "Requested resource not found: Table: missing not found"
    ) in done.stderr
