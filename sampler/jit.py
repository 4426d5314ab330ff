"""The one decorator of every compiled kernel, and the folder that its machine code is cached in.

numba looks only at a kernel's own file when it decides whether a cached kernel is still good, so an edit to
a kernel that it calls goes unnoticed. The cache folder is therefore named by a hash of all sources that are
compiled: any edit starts an empty one. It lies in the user's cache folder, never in ``site-packages``.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import platformdirs

__all__ = ["kernel"]


def _fingerprint() -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    here = Path(__file__)
    for source in (here, here.with_name("types.py"), *sorted(here.with_name("kernels").glob("*.py"))):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> str | None:
    """First folder that can be written to, or None: numba raises at import when it has nowhere to write."""
    for base in (platformdirs.user_cache_path("bottomup"), Path(tempfile.gettempdir()) / "bottomup"):
        folder = base / f"kernels-{_fingerprint()}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return str(folder)
        except OSError:
            continue
    return None


_HAS_CACHE = True
if not os.environ.get("NUMBA_CACHE_DIR"):
    _folder = _cache_folder()
    _HAS_CACHE = _folder is not None
    if _folder is not None:
        setattr(numba.config, "CACHE_DIR", _folder)  # noqa: B010 (numba makes its settings at import)


def kernel(function: Callable[..., Any]) -> Any:
    """Compile ``function`` without the GIL and with a cache; never parallel, never fast-math.

    Kernels make no arrays, and whoever calls them holds the arrays that they work on, so they are compiled
    without reference counts (``_nrt``): on small maps those took two thirds of the time.
    """
    options: dict[str, Any] = {"nogil": True, "cache": _HAS_CACHE, "_nrt": False}
    return numba.njit(**options)(function)
