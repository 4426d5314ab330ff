"""The benchmarks run, once each and on the smallest maps, so that they do not rot."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def test_every_benchmark_runs():
    files = sorted(str(path) for path in HERE.glob("bench_*.py"))
    options = ["--benchmark-disable", "-q", "-p", "no:cacheprovider", "-k", "1000 or demo"]
    # As they are meant to run: on drawn maps, one after another.
    unwanted = {"BOTTOMUP_BENCH_DATA", "PYTEST_ADDOPTS"}
    environment = {name: value for name, value in os.environ.items() if name not in unwanted}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *files],
        capture_output=True,
        text=True,
        env=environment,
        cwd=HERE.parents[1],
    )
    assert run.returncode == 0, run.stdout
    summary = run.stdout.splitlines()[-1]
    assert "skipped" not in summary
    # Two maps for each benchmark, of which every file has several.
    assert int(summary.split(" passed")[0].split()[-1]) >= 2 * 4 * len(files)
