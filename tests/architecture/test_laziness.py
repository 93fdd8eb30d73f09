"""The core imports quickly: heavy libraries are loaded by the call that needs them."""

import subprocess
import sys

import pytest

_HEAVY = ("boto3", "botocore", "numpy", "polars", "psycopg", "pyarrow", "scipy")


@pytest.mark.parametrize("module", ["grandstand.storage.tables", "grandstand.__main__"])
def test_importing_the_core_loads_no_heavy_library(module: str) -> None:
    code = f"import sys, {module}; print(*sorted(sys.modules.keys() & set({_HEAVY!r})))"

    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert said.stdout.split() == []
