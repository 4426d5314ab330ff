"""Imports point one way: data, then sampler, then dashboard; libraries stay in the layers that need them."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = ("data", "sampler", "dashboard")
ALLOWED_IN = {
    "geopandas": {"data", "dashboard"},
    "shapely": {"data", "dashboard"},
    "pandas": {"data", "dashboard"},
    "numba": {"sampler"},
    "panel": {"dashboard"},
    "bokeh": {"dashboard"},
    "holoviews": {"dashboard"},
    "geoviews": {"dashboard"},
    "param": {"dashboard"},
}
# In the demonstration's builder alone: the outlines are needed only when it is rebuilt.
BUILD_ONLY = {"bokeh.sampledata", "bokeh_sampledata"}


def imported_modules(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def modules():
    return [path for layer in LAYERS for path in sorted((ROOT / layer).rglob("*.py"))]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_what_its_layer_may(path):
    layer = path.relative_to(ROOT).parts[0]
    later = LAYERS[LAYERS.index(layer) + 1 :]
    for name in imported_modules(path):
        parts = name.split(".")
        assert parts[0] not in LAYERS, f"{name}: import bottomup.{name}"
        if parts[0] == "bottomup" and len(parts) > 1:
            assert parts[1] not in later, f"the {layer} layer imports {name}"
        if layer == "data" and ".".join(parts[:2]) in BUILD_ONLY:
            continue
        allowed = ALLOWED_IN.get(parts[0])
        assert allowed is None or layer in allowed, f"the {layer} layer imports {name}"


def test_kernels_know_numpy_and_each_other_only():
    allowed = ("numpy", "bottomup.sampler.jit", "bottomup.sampler.types", "bottomup.sampler.kernels")
    for path in (ROOT / "sampler" / "kernels").glob("*.py"):
        for name in imported_modules(path):
            assert name.startswith(allowed), f"{path.name} imports {name}"


def test_view_models_and_figures_do_not_import_panel():
    for name in ("state.py", "plots.py", "worker.py", "raster.py"):
        for module in imported_modules(ROOT / "dashboard" / name):
            assert module.split(".")[0] != "panel", f"{name} imports {module}"
