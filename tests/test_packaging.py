"""What is installed is what is in the folders."""

import subprocess
import tomllib
from importlib import resources
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_every_package_is_listed():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    found = {
        "bottomup." + ".".join(path.parent.relative_to(ROOT).parts)
        for layer in ("data", "sampler", "dashboard")
        for path in (ROOT / layer).rglob("__init__.py")
    }
    assert set(settings["packages"]) == found


def test_every_file_is_installed():
    for layer in ("data", "sampler", "dashboard"):
        installed = resources.files(f"bottomup.{layer}")
        for path in (ROOT / layer).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                inside = installed.joinpath(*path.relative_to(ROOT / layer).parts)
                assert inside.is_file(), f"{path.relative_to(ROOT)} is not installed"


def test_only_the_agreed_names_stand_at_the_top():
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listing.returncode:
        pytest.skip("not a git checkout")
    top = {line.split("/")[0] for line in listing.stdout.splitlines()}
    names = {name for name in top if not name.startswith(".")}
    folders = {"dashboard", "sampler", "data", "tests"}
    assert names == folders | {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"}
