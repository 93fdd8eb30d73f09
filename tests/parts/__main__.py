"""Finds or fetches the parts named on the command line, or all of them, and says what it has."""

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from tests.parts import aws_cli, aws_sdk, axe, chromium, dynamodb_local, java, node, postgres
from tests.parts.environment import tidy_environment
from tests.parts.part_cache import MissingPartError, PartCache

_PARTS: dict[str, Callable[[PartCache], object]] = {
    "dynamodb-local": dynamodb_local.find,
    "aws-sdk": aws_sdk.find,
    "awscli": aws_cli.find,
    "postgres": postgres.find,
    "chromium": chromium.find,
    "axe": axe.find,
    "java": java.find,
    "node": node.find,
}


def _missing(name: str) -> str | None:
    """Why a part cannot be had, or None when it is there."""
    try:
        _PARTS[name](PartCache(may_fetch=True))
    except MissingPartError as error:
        return f"grandstand: {error}"
    return None


def main(names: list[str]) -> int:
    """Returns 0 when every part is there, 1 when one is missing, 2 for a name that is no part."""
    unknown = [name for name in names if name not in _PARTS]
    if unknown:
        sys.stderr.write(f"no such part: {', '.join(unknown)}; there are {', '.join(_PARTS)}\n")
        return 2
    tidy_environment()
    with ThreadPoolExecutor(max_workers=2) as pool:
        missing = [why for why in pool.map(_missing, names or list(_PARTS)) if why]
    sys.stderr.write("".join(f"{why}\n" for why in missing))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
