"""Amazon's JavaScript client, unchanged, against our endpoint."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

WALK = Path(__file__).with_name("walk.cjs")


def test_the_client_walks_through_a_table_s_life(
    node_sdk: tuple[Path, Path], endpoint: str
) -> None:
    node, modules = node_sdk

    done = subprocess.run(
        [str(node), str(WALK), endpoint],
        env={**os.environ, "NODE_PATH": str(modules)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "queried": [[str(number), number] for number in range(20, 25)],
        "units": 0.5,
        "updated": {"n": {"N": "5"}},
        "scanned": 25,
        "failed": "1",
        "cancelled": ["None", "ConditionalCheckFailed"],
    }
