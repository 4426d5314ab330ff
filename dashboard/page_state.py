"""What a visitor has set, as words: for the address of the page and for a saved session.

Every value is a field of text with a name. What is read is checked against the inputs: a value that cannot
be is left at its default, and a sentence says which.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable
from urllib.parse import quote, urlencode

from bottomup.dashboard.design import Design
from bottomup.dashboard.prepared import Prepared
from bottomup.dashboard.selection import Cluster, District, Pointed, Span, Testimony, Unit
from bottomup.dashboard.session import Session
from bottomup.dashboard.state import EPSILONS, Settings
from bottomup.sampler.naming import plan_digest

__all__ = [
    "DIGEST_LENGTH",
    "PageState",
    "Remembered",
    "first_values",
    "put_into_effect",
    "query_of",
    "read_fields",
    "state_of",
    "write_fields",
]

DIGEST_LENGTH = 16
"""Characters of a plan's digest that stand for a chosen plan."""

_NUMBER = re.compile(r"-?[0-9]{1,20}(\.[0-9]{1,30})?(e[-+]?[0-9]{1,3})?")
_WHOLE_NUMBER = re.compile(r"[0-9]{1,12}")
_DIGEST = re.compile(f"[0-9a-f]{{{DIGEST_LENGTH}}}")
_OF_VIEW = re.compile(r"[a-z][a-z_]{0,30}")
_MOST_CHARACTERS = 200
_SCORES = {"testimony", "cluster"}
_LARGEST_SCORE = 2.0


@runtime_checkable
class Remembered(Protocol):
    """A view that has choices of its own, which the address is to keep."""

    def state(self) -> dict[str, str]:
        """Return choices by name, in small letters; what is as at first is left out."""

    def restore(self, values: Mapping[str, str]) -> list[str]:
        """Take choices up again; return the names of those that cannot be."""


@dataclass(frozen=True)
class PageState:
    """Everything that a visitor has set.

    Attributes
    ----------
    epsilon, score, weighting, enacted, tolerance, compactness, seed, moves
        See `bottomup.dashboard.state.Settings`.
    view : str
        Name of the view that is open.
    plan : str
        ``"current"``, ``"enacted"``, or the first characters of the digest of a chosen plan.
    pointed : Pointed or None
    span : Span or None
    views : dict of str to dict of str to str
        Choices of single views, see `Remembered`.
    """

    epsilon: float
    score: str
    weighting: str
    enacted: str
    tolerance: float
    compactness: float
    seed: int
    moves: str
    view: str
    plan: str = "current"
    pointed: Pointed | None = None
    span: Span | None = None
    views: dict[str, dict[str, str]] = field(default_factory=dict)


_OF_SETTINGS = ("epsilon", "score", "weighting", "enacted", "tolerance", "compactness", "seed", "moves")


def state_of(session: Session, view: str, views: Mapping[str, Mapping[str, str]]) -> PageState:
    """What is set in a session whose page has a view open.

    Parameters
    ----------
    session : Session
    view : str
    views : mapping of str to mapping of str to str
        Choices of single views.
    """
    settings, shown = session.settings, session.shown
    plan = shown.kind
    if plan == "chosen" and shown.chosen is not None:
        plan = plan_digest(shown.chosen.plan.assignment)[:DIGEST_LENGTH]
    return PageState(
        **{name: getattr(settings, name) for name in _OF_SETTINGS},
        view=view,
        plan=plan,
        pointed=session.selection.pointed,
        span=session.selection.span,
        views={name: dict(own) for name, own in views.items() if own},
    )


def first_values(prepared: Prepared, view: str) -> PageState:
    """What is set when a page opens for the first time."""
    settings = Settings(list(prepared.inputs.plans), prepared.enacted)
    return PageState(**{name: getattr(settings, name) for name in _OF_SETTINGS}, view=view)


def put_into_effect(state: PageState, session: Session, source: str) -> list[str]:
    """Set a session as a state says, all but views; return what cannot be, in sentences.

    Parameters
    ----------
    state : PageState
        Valid for the session's inputs.
    session : Session
    source : str
        Who asks, as a sentence begins: ``"The address"``.
    """
    design = Design(**{name: getattr(state, name) for name in Design._fields})
    epsilon = session.reachable(state.epsilon, design)
    unmet = []
    if epsilon != state.epsilon:
        unmet.append(
            f"{source} asked for ε = {state.epsilon:g}; the stored plans go up to {epsilon:g}: left there."
        )
    session.settings.param.update(
        **{name: getattr(state, name) for name in _OF_SETTINGS} | {"epsilon": epsilon}
    )
    if state.plan in ("current", "enacted"):
        session.shown.kind = state.plan
    elif not session.choose_again(state.plan):
        unmet.append(
            f"{source} asked for a chosen plan, which cannot be met again without its recording: the walk's "
            "current plan is shown."
        )
        session.shown.kind = "current"
    session.selection.param.update(pointed=state.pointed, span=state.span)
    return unmet


def write_fields(state: PageState, prepared: Prepared) -> dict[str, str]:
    """All values of a state as text, by name; the other way round is `read_fields`."""
    fields = {name: _as_text(getattr(state, name)) for name in (*_OF_SETTINGS, "view", "plan")}
    fields["pointed"] = _write_pointed(state, prepared)
    span = state.span
    fields["span"] = "" if span is None else f"{span.score}:{span.low!r}:{span.high!r}"
    for view, own in sorted(state.views.items()):
        fields |= {f"{view}.{name}": value for name, value in sorted(own.items())}
    return fields


def query_of(state: PageState, defaults: Sequence[PageState], prepared: Prepared) -> str:
    """The values that differ from any of some defaults as the query of an address, without its question mark.

    A page that opens with any of the defaults then shows the state.
    """
    now = write_fields(state, prepared)
    changed: set[str] = set()
    for default in defaults:
        plain = write_fields(default, prepared)
        # A view's choice that is as at first is left out; where the default has another, that must be said.
        changed |= {name for name in {**now, **plain} if plain.get(name) != now.get(name)}
    names = sorted(changed, key=[*now, *sorted(changed - now.keys())].index)
    return urlencode({name: now.get(name, "") for name in names}, quote_via=quote, safe=":")


def read_fields(
    fields: Mapping[str, str], default: PageState, prepared: Prepared, views: Collection[str], source: str
) -> tuple[PageState, list[str]]:
    """Read values as `write_fields` writes them; names that mean nothing here are passed over.

    Parameters
    ----------
    fields : mapping of str to str
        Any of the values of a state.
    default : PageState
        Where a value is missing or cannot be.
    prepared : Prepared
        What the values must fit.
    views : collection of str
        Names of all views.
    source : str
        Who asks, as a sentence begins: ``"The address"``.

    Returns
    -------
    state : PageState
    unmet : list of str
        A sentence for each value that was left at its default.
    """
    state, unmet = default, []
    for name, (words, read) in _READERS.items():
        text = fields.get(name)
        if text is None:
            continue
        try:
            if len(text) > _MOST_CHARACTERS:
                raise ValueError("is too long")
            state = replace(state, **{name: read(text, prepared, views, state)})
        except ValueError as reason:
            left = write_fields(default, prepared)[name] or "nothing"
            unmet.append(f"{source} asked for {words} {_shorten(text)}, which {reason}: left at {left}.")
    if isinstance(default.pointed, District) and "pointed" not in fields:
        # Another plan may call its districts otherwise, or have fewer.
        state = replace(state, pointed=_same_district(default, state, prepared))
    of_views = {view: dict(own) for view, own in default.views.items()}
    for name, text in fields.items():
        view, dot, choice = name.partition(".")
        if not dot:
            continue
        if view not in views or not _OF_VIEW.fullmatch(choice) or len(text) > _MOST_CHARACTERS:
            unmet.append(f"{source} asked for {_shorten(name)}, which no view here knows.")
        elif text:
            of_views.setdefault(view, {})[choice] = text
        else:
            of_views.get(view, {}).pop(choice, None)
    return replace(state, views={view: own for view, own in of_views.items() if own}), unmet


def _as_text(value: object) -> str:
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)


def _shorten(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"


def _names_of(kind: type, prepared: Prepared, enacted: str) -> Sequence[str]:
    """What things of a kind are called, in the order of their places."""
    if kind is Testimony:
        return prepared.testimonies.ids
    if kind is Cluster:
        clusters = prepared.testimonies.clusters
        return () if clusters is None else clusters.names
    return prepared.inputs.geography.ids if kind is Unit else prepared.plan(enacted).labels


_KINDS: dict[str, type] = {"testimony": Testimony, "cluster": Cluster, "unit": Unit, "district": District}


def _write_pointed(state: PageState, prepared: Prepared) -> str:
    pointed = state.pointed
    if pointed is None:
        return ""
    names = _names_of(type(pointed), prepared, state.enacted)
    return f"{type(pointed).__name__.lower()}:{names[pointed.place]}"


def _same_district(default: PageState, state: PageState, prepared: Prepared) -> Pointed | None:
    """The district of the state's enacted plan that is called as the default's; None without one."""
    try:
        return _read_pointed(_write_pointed(default, prepared), prepared, (), state)
    except ValueError:
        return None


_Reader = Callable[[str, Prepared, Collection[str], PageState], Any]


def _read_epsilon(text: str, _prepared: Prepared, _views: Collection[str], _state: PageState) -> float:
    epsilon = _number(text)
    if epsilon not in EPSILONS:
        raise ValueError("is not on the slider")
    return epsilon


def _number(text: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise ValueError("is not a number")
    return float(text)


def _setting(name: str, is_whole: bool = False) -> _Reader:
    """Reader of a number with bounds."""

    def read(text: str, _prepared: Prepared, _views: Collection[str], _state: PageState) -> float | int:
        if is_whole and not _WHOLE_NUMBER.fullmatch(text):
            raise ValueError("is not a whole number")
        value = int(text) if is_whole else _number(text)
        low, high = Settings.param[name].bounds
        if not low <= value <= high:
            raise ValueError(f"is not from {low:g} to {high:g}")
        return value

    return read


def _read_score(text: str, prepared: Prepared, _views: Collection[str], _state: PageState) -> str:
    if text not in _SCORES:
        raise ValueError("is no score")
    if text == "cluster" and not prepared.has_clusters:
        raise ValueError("needs clusters, and the testimonies have none")
    return text


def _read_choice(name: str) -> _Reader:
    def read(text: str, _prepared: Prepared, _views: Collection[str], _state: PageState) -> str:
        if text not in Settings.param[name].objects:
            raise ValueError("cannot be chosen")
        return text

    return read


def _read_enacted(text: str, prepared: Prepared, _views: Collection[str], _state: PageState) -> str:
    if text not in prepared.inputs.plans:
        raise ValueError("is none of the plans here")
    return text


def _read_view(text: str, _prepared: Prepared, views: Collection[str], _state: PageState) -> str:
    if text not in views:
        raise ValueError("is no view")
    return text


def _read_plan(text: str, _prepared: Prepared, _views: Collection[str], _state: PageState) -> str:
    if text not in ("current", "enacted") and not _DIGEST.fullmatch(text):
        raise ValueError("is no plan")
    return text


def _read_pointed(text: str, prepared: Prepared, _views: Collection[str], state: PageState) -> Pointed | None:
    if not text:
        return None
    word, _, name = text.partition(":")
    kind = _KINDS.get(word)
    if kind is None:
        raise ValueError("is nothing that can be pointed at")
    try:
        return kind(_names_of(kind, prepared, state.enacted).index(name))
    except ValueError:
        raise ValueError("is not there") from None


def _read_span(text: str, _prepared: Prepared, _views: Collection[str], _state: PageState) -> Span | None:
    if not text:
        return None
    parts = text.split(":")
    if len(parts) != 3 or parts[0] not in _SCORES:
        raise ValueError("is no span of scores")
    low, high = _number(parts[1]), _number(parts[2])
    if not (math.isfinite(low) and -_LARGEST_SCORE <= low < high <= _LARGEST_SCORE):
        raise ValueError("is no span of scores")
    return Span(parts[0], low, high)


# What a name is called in sentences, and how its text is read. The plan comes before its districts.
_READERS: dict[str, tuple[str, _Reader]] = {
    "epsilon": ("ε =", _read_epsilon),
    "score": ("the score", _read_score),
    "weighting": ("the weighting", _read_choice("weighting")),
    "enacted": ("the enacted plan", _read_enacted),
    "tolerance": ("a tolerance of", _setting("tolerance")),
    "compactness": ("a compactness of", _setting("compactness")),
    "seed": ("the seed", _setting("seed", is_whole=True)),
    "moves": ("the moves", _read_choice("moves")),
    "view": ("the view", _read_view),
    "plan": ("the plan", _read_plan),
    "pointed": ("a look at", _read_pointed),
    "span": ("the plans with scores", _read_span),
}
