"""Whether a visitor may name files of the machine that serves the page."""

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

__all__ = ["LOOPBACK", "allow_paths", "may_name_paths"]

LOOPBACK = "localhost"
"""The address at which only programs of the same machine reach the server."""
# Signs of a server in between, which would make everybody look like a neighbour.
_FORWARDED = ("forwarded", "via", "x-real-ip")
_allowed = False


def allow_paths() -> None:
    """Let visitors on this machine name its files; for a server that listens at :data:`LOOPBACK` alone."""
    global _allowed
    _allowed = True


def may_name_paths(request: Any) -> bool:
    """Whether a request comes from this machine, straight to its own name, and the server allows paths.

    Parameters
    ----------
    request : object or None
        Of Tornado or Bokeh, with ``headers`` and ``remote_ip``.
    """
    return _allowed and request is not None and _is_from_here(request.headers, _remote(request))


def _remote(request: Any) -> str:
    # Bokeh's stand-in for a request passes on what it does not know, where it has it.
    return str(getattr(request, "remote_ip", "") or "")


def _is_from_here(headers: Mapping[str, str], remote: str) -> bool:
    named = {name.lower(): value for name, value in headers.items()}
    if any(name in _FORWARDED or name.startswith("x-forwarded") for name in named):
        return False
    host = urlsplit(f"//{named.get('host', '')}").hostname or ""
    return _is_loopback(host) and _is_loopback(remote)


def _is_loopback(name: str) -> bool:
    if name == LOOPBACK:
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
