"""A session in one file: what is set, what it was made of, and every plan on record.

The file, ``NAME.bottomup``, is a zip archive (the form's version stands in ``about.json``):

- ``about.json``: names and digests of map, plan, testimonies and shares, versions of the packages, the
  options that name the inputs, the design, rungs, starts and counts of the ladders;
- ``state.json``: what is set on the page, see `bottomup.dashboard.page_state`;
- ``script.json``: the script of a hearing, see `bottomup.dashboard.script`;
- ``recordings/*.npy``: arrays of NumPy. Letters: ``L`` ladders, ``E`` rungs, ``R`` plans at each of them,
  ``T`` testimonies, ``n`` units, ``k`` districts. ``step`` (R,) int64; ``cut_edges`` (L, E, R) int32;
  ``testimony`` and ``cluster`` (L, E, R) float64; ``preserved`` (L, E, R, ceil(T / 8)) uint8;
  ``share_0`` … (L, E, R, k) float32 in the order of the shares; ``assignments`` uint8, the district of each
  unit in each plan, each plan compressed by zlib; ``ends`` (L * E * R,) int64, where each of them ends;
  ``counter`` (L, E, 4, 6) int64; ``starts`` (L, n), ``current`` (E or 0, n) and ``chosen`` (1 or 0, n) int32.

Plans that are recorded while a file is made are not in it: it holds what all rungs had in common.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bottomup.dashboard.design import Design
from bottomup.dashboard.frozen import SavedSession
from bottomup.dashboard.health import Workings
from bottomup.dashboard.page_state import DIGEST_LENGTH
from bottomup.dashboard.pool import MetPlan, Origin, RecordedLadders, StoredRun
from bottomup.dashboard.prepared import Prepared
from bottomup.dashboard.recording import Held, Plans, Recording
from bottomup.dashboard.script import Scene, read_scenes, write_scenes
from bottomup.dashboard.session import Session
from bottomup.dashboard.state import BarPlan, Draw, Settings, TakenPlan
from bottomup.dashboard.worker import Standing
from bottomup.data.errors import DataError, count
from bottomup.sampler.naming import plan_digest
from bottomup.sampler.types import Mixture

__all__ = ["ENDING", "Extent", "Moment", "SessionFile", "Snapshot", "read_session", "take_snapshot"]

ENDING = ".bottomup"
_FORM, _VERSION = "bottomup session", 1
_ABOUT, _STATE, _SCRIPT = "about.json", "state.json", "script.json"
# Far above what a page records; a file that claims more is none of ours.
_MOST_BYTES = 2_000_000_000
_COLUMNS = {"cut_edges": np.int32, "testimony": np.float64, "cluster": np.float64}


class Extent(NamedTuple):
    """How much a saved session lets out."""

    epsilon: float
    """Largest of any plan."""
    rungs: tuple[float, ...]
    n_plans: int
    """Drawn with testimony in sight: those on record, the current ones and the chosen one."""
    last_round: int
    """Of the plans on record."""


@dataclass(frozen=True, eq=False)
class Moment:
    """What a session is at a moment, taken at once; the rest is read in a thread.

    Attributes
    ----------
    standing : Standing
    state : dict of str to str
        See `bottomup.dashboard.page_state.write_fields`.
    chosen : BarPlan or TakenPlan or None
    lots : tuple of float
    arguments : tuple of str or None
        Options that name the inputs; None when no command line does.
    versions : dict of str to str
        Of the packages that made the plans.
    scenes : tuple of Scene
        The script of a hearing.
    """

    standing: Standing
    state: dict[str, str]
    chosen: BarPlan | TakenPlan | None
    lots: tuple[float, ...]
    arguments: tuple[str, ...] | None
    versions: dict[str, str]
    scenes: tuple[Scene, ...]

    @classmethod
    def of(cls, session: Session, state: dict[str, str]) -> Moment | None:
        """Take a session as it is; None before there are plans on record."""
        standing = session.worker.progress.standing
        if standing is None or not standing.recorded.n_recorded:
            return None
        if standing.recorded.design != session.settings.design:
            # Settings have just changed, and the walks have yet to start anew.
            return None
        chosen, lots = session.shown.chosen, tuple(session.lots)
        scenes = tuple(session.script.scenes)
        return cls(standing, state, chosen, lots, session.arguments, session.versions, scenes)

    def extent(self) -> Extent:
        """How much would be let out, if all walks stood still."""
        recorded = self.standing.recorded
        plans = recorded.recordings[0][0].read()
        assert plans is not None
        return self.extent_of(recorded.n_recorded, int(plans.step[-1]))

    def extent_of(self, n_recorded: int, last_step: int) -> Extent:
        """How much is let out with so many plans of each walk."""
        recorded = self.standing.recorded
        n_rungs = sum(epsilon > 0 for epsilon in recorded.epsilons)
        n_current = sum(plan.origin.epsilon > 0 for plan in self.standing.current)
        n_plans = len(recorded.starts) * n_rungs * n_recorded + n_current + (self.chosen is not None)
        rungs = recorded.epsilons
        return Extent(max(rungs), rungs, n_plans, recorded.round_of(last_step))


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A session that is ready to be written to a file.

    Attributes
    ----------
    moment : Moment
    held : tuple of tuple of Held
        By ladder and rung; the same steps everywhere.
    spacing : int
        Steps from one plan to the next.
    """

    moment: Moment
    held: tuple[tuple[Held, ...], ...]
    spacing: int

    def extent(self) -> Extent:
        """How much is let out."""
        step = self.held[0][0].plans.step
        return self.moment.extent_of(len(step), int(step[-1]))

    def words(self) -> str:
        """How many plans there are, and of which walks."""
        n_ladders, n_rungs = len(self.held), len(self.held[0])
        n = n_ladders * n_rungs * len(self.held[0][0].assignments)
        return f"{count(n, 'plan')} of {n_ladders} × {n_rungs} walks up to round {self.extent().last_round:,}"

    def to_bytes(self, prepared: Prepared) -> bytes:
        """Contents of the file."""
        about, moment = _describe(self, prepared), self.moment
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=4) as archive:
            archive.writestr(_ABOUT, json.dumps(_without_nan(about), ensure_ascii=False, indent=1))
            archive.writestr(_STATE, json.dumps(moment.state, ensure_ascii=False, indent=1))
            archive.writestr(_SCRIPT, write_scenes(moment.scenes))
            for name, values in _arrays_of(self, prepared).items():
                # They are compressed already.
                how = zipfile.ZIP_STORED if name == "assignments" else zipfile.ZIP_DEFLATED
                buffer = io.BytesIO()
                np.lib.format.write_array(buffer, np.ascontiguousarray(values), allow_pickle=False)
                archive.writestr(f"recordings/{name}.npy", buffer.getvalue(), how)
        return packed.getvalue()


def take_snapshot(moment: Moment) -> Snapshot | None:
    """Read all plans on record, while the walks go on; None while some walk has none.

    A recording that fills up meanwhile drops every second plan: what all have in common is taken.
    """
    recordings = moment.standing.recorded.recordings
    read = [[recording.read_all() for recording in row] for row in recordings]
    held = [[each for each in row if each is not None] for row in read]
    if sum(map(len, held)) < sum(map(len, recordings)):
        return None
    spacing = max(recording.spacing for row in recordings for recording in row)
    steps = reduce(np.intersect1d, [each.plans.step for row in held for each in row])
    if not len(steps):
        return None
    return Snapshot(moment, tuple(tuple(_take(each, steps) for each in row) for row in held), spacing)


def _take(held: Held, steps: NDArray[np.int64]) -> Held:
    rows = np.searchsorted(held.plans.step, steps)
    return Held(held.plans.take(rows), tuple(held.assignments[row] for row in rows), held.dtype)


def _without_nan(value: Any) -> Any:
    """The same with None for NaN, which JSON has no word for."""
    if isinstance(value, dict):
        return {key: _without_nan(own) for key, own in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(own) for own in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _digest_of_shares(prepared: Prepared) -> dict[str, str]:
    """By name, what the figures of each share rest on."""
    return {
        name: hashlib.sha256(
            share.numerator.astype("<f8").tobytes() + share.denominator.astype("<f8").tobytes()
        ).hexdigest()
        for name, share in prepared.shares.items()
    }


def _inputs_of(prepared: Prepared, enacted: str) -> dict[str, Any]:
    """Names and digests of what the plans were made of."""
    geography, testimonies = prepared.inputs.geography, prepared.testimonies
    plan = prepared.inputs.plans.get(enacted)
    digest = None if plan is None else plan_digest(plan.assignment)
    return {
        "map": {"name": geography.name, "units": geography.n_units, "digest": geography.digest},
        "plan": {"name": enacted, "digest": digest},
        "testimonies": {"number": testimonies.n_testimonies, "digest": testimonies.digest},
        "shares": _digest_of_shares(prepared),
    }


def _describe(snapshot: Snapshot, prepared: Prepared) -> dict[str, Any]:
    moment, standing = snapshot.moment, snapshot.moment.standing
    recorded, workings = standing.recorded, standing.workings
    chosen = moment.chosen
    return {
        "form": _FORM,
        "version": _VERSION,
        "saved": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "versions": moment.versions,
        "arguments": moment.arguments,
        **_inputs_of(prepared, recorded.design.enacted),
        "design": recorded.design._asdict(),
        "delta": recorded.delta,
        "starts": recorded.starts,
        "rungs": recorded.epsilons,
        "placings": recorded.placings,
        "steps_per_round": recorded.steps_per_round,
        "spacing": snapshot.spacing,
        # Of plans that were stored by runs without a page, and shown in place of walks of the page.
        "runs": recorded.runs,
        "n_unrecorded": recorded.n_unrecorded,
        "one_in": recorded.one_in,
        "counted": workings.counted,
        "stuck": [[*place, words] for place, words in workings.stuck.items()],
        "district": snapshot.held[0][0].dtype.name,
        "rounds": standing.rounds,
        "burn_in": standing.burn_in,
        "workings": {
            "rungs": workings.epsilons,
            "start_values": [dict(values) for values in workings.start_values],
            "mixture": workings.mixture._asdict(),
            "exchange_rates": workings.exchange_rates,
            "round_trips": workings.round_trips,
            "drift": workings.drift,
        },
        "current": [_describe_origin(plan.origin) for plan in standing.current],
        "chosen": None
        if chosen is None
        else {
            "title": chosen.title,
            "draw": chosen.draw._asdict(),
            "origin": _describe_origin(chosen.plan.origin),
        },
        "lots": moment.lots,
    }


def _describe_origin(origin: Origin) -> dict[str, Any]:
    described = {name: value for name, value in asdict(origin).items() if name not in ("design", "run")}
    # Ladders of several runs are one design here, but for their seeds.
    return {**described, "run": origin.run, "seed": origin.design.seed} if origin.run else described


def _arrays_of(snapshot: Snapshot, prepared: Prepared) -> dict[str, NDArray]:
    moment, held = snapshot.moment, snapshot.held
    n_units = prepared.inputs.geography.n_units
    packed = [plan for row in held for each in row for plan in each.assignments]

    def stack(column: str) -> NDArray:
        return np.array([[getattr(each.plans, column) for each in row] for row in held])

    def plans(assignments: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
        return np.array(assignments, dtype=np.int32).reshape(len(assignments), n_units)

    return {
        "step": held[0][0].plans.step,
        **{column: stack(column) for column in (*_COLUMNS, "preserved")},
        **{
            f"share_{number}": np.array([[each.plans.shares[name] for each in row] for row in held])
            for number, name in enumerate(prepared.shares)
        },
        "assignments": np.frombuffer(b"".join(packed), dtype=np.uint8),
        "ends": np.cumsum([len(plan) for plan in packed], dtype=np.int64),
        "counter": moment.standing.workings.counter,
        "starts": plans(moment.standing.start_plans),
        "current": plans([plan.assignment for plan in moment.standing.current]),
        "chosen": plans([] if moment.chosen is None else [moment.chosen.plan.assignment]),
    }


@dataclass(frozen=True, eq=False)
class SessionFile:
    """A saved session as it was read, before it is known whether it fits the inputs.

    Attributes
    ----------
    name : str
        Of the file.
    about : dict
    state : dict of str to str
    arrays : dict of str to array
    scenes : tuple of Scene
    """

    name: str
    about: dict[str, Any]
    state: dict[str, str]
    arrays: dict[str, NDArray]
    scenes: tuple[Scene, ...]

    @property
    def arguments(self) -> list[str] | None:
        """Options that name the inputs; None when the file does not say where they are."""
        arguments: list[str] | None = self.about["arguments"]
        return arguments

    def fit(self, prepared: Prepared) -> SavedSession:
        """Put the session together with its inputs.

        Raises
        ------
        DataError
            When the inputs are others than those that it was made of, or the file contradicts itself.
        """
        try:
            self._refuse_others(prepared)
            return _put_together(self, prepared)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, zlib.error) as error:
            if isinstance(error, DataError):
                raise
            raise _unreadable(self.name, str(error)) from error

    def _refuse_others(self, prepared: Prepared) -> None:
        enacted = self.about["design"]["enacted"]
        now = _inputs_of(prepared, enacted)
        differs = []
        for part in ("map", "plan", "testimonies"):
            before = self.about[part]
            if before["digest"] == now[part]["digest"]:
                continue
            if part == "map":
                differs.append(
                    f"the map (saved: {before['name']}, {before['units']:,} units; here: "
                    f"{now[part]['name']}, {now[part]['units']:,} units)"
                )
            elif part == "plan":
                is_here = now[part]["digest"] is not None
                differs.append(f"the plan {enacted!r} ({'another one here' if is_here else 'not here'})")
            else:
                differs.append(
                    f"the testimonies (saved: {before['number']:,}; here: {now[part]['number']:,}), their "
                    "units or their clusters"
                )
        if list(self.about["shares"].items()) != list(now["shares"].items()):
            differs.append(f"the shares ({_what_differs(self.about['shares'], now['shares'])})")
        if differs:
            raise DataError(
                "session",
                f"{self.name} was saved with other inputs. What differs: {'; '.join(differs)}.",
                remedy="Start with the same files and options as when it was saved.",
            )


def _what_differs(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    return ", ".join(names) or "in another order"


def _unreadable(name: str, why: str) -> DataError:
    return DataError(
        "session",
        f"{name} is no saved session that can be read: {why.rstrip('.')}.",
        remedy="Take the file that the page saved under “Share”, as it was saved.",
    )


def read_session(path: str | Path) -> SessionFile:
    """Read the file of a saved session.

    Raises
    ------
    DataError
        When it is none, is damaged, or was saved by a newer version.
    """
    path = Path(path)
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(member.file_size for member in archive.infolist()) > _MOST_BYTES:
                raise ValueError("it is too large")
            about = _read_object(archive, _ABOUT)
            if about.get("form") != _FORM:
                raise ValueError(f"{_ABOUT} does not say that it is one")
            _check_version(path.name, about.get("version"))
            state = _read_object(archive, _STATE)
            if not all(isinstance(value, str) for value in state.values()):
                raise ValueError(f"{_STATE} holds something other than text")
            scenes = tuple(read_scenes(archive.read(_SCRIPT)))
            arguments = about["arguments"]
            if arguments is not None and not all(isinstance(word, str) for word in arguments):
                raise ValueError("the options that name the inputs are no text")
            n_shares = len(about["shares"])
            names = [*_COLUMNS, "preserved", *(f"share_{number}" for number in range(n_shares)), "step"]
            names += ["assignments", "ends", "counter", "starts", "current", "chosen"]
            arrays = {name: _read_array(archive, f"recordings/{name}.npy") for name in names}
    except FileNotFoundError:
        raise DataError(
            "session", f"There is no file {path}.", remedy="Give the path of a saved session to --session."
        ) from None
    except OSError as error:
        raise _unreadable(path.name, error.strerror or str(error)) from error
    except zipfile.BadZipFile as error:
        raise _unreadable(path.name, "it is cut off, damaged or of another kind") from error
    except KeyError as error:
        raise _unreadable(path.name, f"a part is missing ({error.args[0]})") from error
    except (AttributeError, EOFError, NotImplementedError, TypeError, ValueError, zlib.error) as error:
        if isinstance(error, DataError):
            raise
        raise _unreadable(path.name, str(error)) from error
    return SessionFile(path.name, about, state, arrays, scenes)


def _check_version(name: str, version: object) -> None:
    if version == _VERSION:
        return
    raise DataError(
        "session",
        f"{name} has form {version} of a saved session; this version of bottomup reads form {_VERSION}.",
        remedy="Open it with the version of bottomup that saved it, or a newer one.",
    )


def _read_object(archive: zipfile.ZipFile, name: str) -> dict[str, Any]:
    found = json.loads(archive.read(name).decode("utf-8"))
    if not isinstance(found, dict):
        raise ValueError(f"{name} is not an object of JSON")
    return found


def _read_array(archive: zipfile.ZipFile, name: str) -> NDArray:
    found: NDArray = np.lib.format.read_array(io.BytesIO(archive.read(name)), allow_pickle=False)
    return found


def _put_together(file: SessionFile, prepared: Prepared) -> SavedSession:
    about, arrays = file.about, file.arrays
    design = _read_design(about["design"], prepared)
    geography, enacted = prepared.inputs.geography, prepared.plan(design.enacted)
    n_units, k = geography.n_units, enacted.n_districts
    rungs = tuple(float(epsilon) for epsilon in about["rungs"])
    n_ladders, n_rungs, n = len(about["starts"]), len(rungs), len(arrays["step"])
    if not (n_ladders and n) or list(rungs) != sorted(set(rungs)) or rungs[0] != 0:
        raise ValueError("its rungs are in disorder")
    each = (n_ladders, n_rungs, n)
    n_current = len(about["current"])
    forms: dict[str, tuple[type, tuple[int, ...]]] = {
        "step": (np.int64, (n,)),
        **{name: (dtype, each) for name, dtype in _COLUMNS.items()},
        "preserved": (np.uint8, (*each, -(-prepared.testimonies.n_testimonies // 8))),
        **{f"share_{number}": (np.float32, (*each, k)) for number in range(len(prepared.shares))},
        "assignments": (np.uint8, arrays["assignments"].shape[:1]),
        "ends": (np.int64, (n_ladders * n_rungs * n,)),
        "counter": (
            np.int64,
            (len(about.get("counted", ())) or n_ladders, len(about["workings"]["rungs"]), 4, 6),
        ),
        "starts": (np.int32, (n_ladders, n_units)),
        "current": (np.int32, (n_current, n_units)),
        "chosen": (np.int32, (about["chosen"] is not None, n_units)),
    }
    for name, (dtype, shape) in forms.items():
        if arrays[name].dtype != dtype or arrays[name].shape != shape:
            raise ValueError(f"the array {name} has another form than it should")
    for name in ("starts", "current", "chosen"):
        if arrays[name].size and not 0 <= arrays[name].min() <= arrays[name].max() < k:
            raise ValueError(f"the array {name} has districts that are not there")
    if (np.diff(arrays["step"]) <= 0).any():
        raise ValueError("its plans are in disorder")
    if len(about.get("runs", ())) not in (0, n_ladders):
        raise ValueError("its walks are of other runs than it says")
    dtype = np.dtype(about["district"])
    packed = _unpack(arrays["assignments"], arrays["ends"], dtype, n_units, k)

    def recording(ladder: int, rung: int) -> Recording:
        shares = {name: arrays[f"share_{i}"][ladder, rung] for i, name in enumerate(prepared.shares)}
        columns = {name: arrays[name][ladder, rung] for name in (*_COLUMNS, "preserved")}
        first = (ladder * n_rungs + rung) * n
        held = Held(Plans(arrays["step"], **columns, shares=shares), packed[first : first + n], dtype)
        return Recording.holding(held, spacing=int(about["spacing"]))

    recorded = RecordedLadders(
        design=design,
        delta=prepared.problem_of(design.weighting).sensitivity(design.score).delta,
        starts=tuple(map(str, about["starts"])),
        epsilons=rungs,
        placings=tuple(map(int, about["placings"])),
        steps_per_round=int(about["steps_per_round"]),
        recordings=tuple(tuple(recording(i, j) for j in range(n_rungs)) for i in range(n_ladders)),
        enacted=enacted.assignment,
        population=geography.population,
        runs=tuple(StoredRun(str(name), int(seed)) for name, seed in about.get("runs", ())),
        n_unrecorded=int(about.get("n_unrecorded", 0)),
        one_in=int(about.get("one_in", 1)),
    )
    current = tuple(
        _met(assignment, design, origin)
        for assignment, origin in zip(arrays["current"], about["current"], strict=True)
    )
    standing = Standing(
        rounds=int(about["rounds"]),
        burn_in=int(about["burn_in"]),
        current=current,
        recorded=recorded,
        workings=_read_workings(about, arrays["counter"]),
        start_plans=tuple(arrays["starts"]),
        source="A saved session",
    )
    chosen, digest = about["chosen"], ""
    taken = None
    if chosen is not None:
        plan = _met(arrays["chosen"][0], design, chosen["origin"])
        taken = TakenPlan(plan, Draw(**chosen["draw"]), str(chosen["title"]))
        digest = plan_digest(plan.assignment)[:DIGEST_LENGTH]
    return SavedSession(
        name=file.name,
        standings=(standing,),
        state=file.state,
        versions={str(name): str(version) for name, version in about["versions"].items()},
        chosen=taken,
        chosen_digest=digest,
        lots=tuple(float(epsilon) for epsilon in about["lots"]),
        scenes=file.scenes,
    )


def _read_design(values: dict[str, Any], prepared: Prepared) -> Design:
    plans = list(prepared.inputs.plans)
    settings = Settings(plans, values["enacted"], **{n: v for n, v in values.items() if n != "enacted"})
    return settings.design


def _read_workings(about: dict[str, Any], counter: NDArray[np.int64]) -> Workings:
    values = about["workings"]
    return Workings(
        epsilons=tuple(map(float, values["rungs"])),
        starts=tuple(map(str, about["starts"])),
        start_values=tuple(
            {name: _number(value) for name, value in own.items()} for own in values["start_values"]
        ),
        mixture=Mixture(**values["mixture"]),
        counter=counter,
        exchange_rates=tuple(map(_number, values["exchange_rates"])),
        round_trips=tuple(map(int, values["round_trips"])),
        drift=_number(values["drift"]),
        counted=tuple(map(str, about.get("counted", ()))),
        stuck={(int(ladder), int(rung)): str(words) for ladder, rung, words in about.get("stuck", ())},
    )


def _met(assignment: NDArray[np.int32], design: Design, origin: dict[str, Any]) -> MetPlan:
    assignment.flags.writeable = False
    seed = int(origin.get("seed", design.seed))
    own = {name: value for name, value in origin.items() if name != "seed"}
    made = Origin(design=design._replace(seed=seed), **own)
    # JSON has lists only.
    return MetPlan(assignment, replace(made, rungs=tuple(made.rungs), placings=tuple(made.placings)))


def _unpack(
    assignments: NDArray[np.uint8], ends: NDArray[np.int64], dtype: np.dtype, n_units: int, k: int
) -> tuple[bytes, ...]:
    """Take the compressed plans apart, and see that each is one."""
    if dtype not in (np.uint8, np.uint16) or len(assignments) != ends[-1]:
        raise ValueError("its plans are cut off")
    whole, size = assignments.tobytes(), n_units * dtype.itemsize
    packed = []
    begin = 0
    for end in ends.tolist():
        plan = whole[begin:end]
        inflate = zlib.decompressobj()
        labels = inflate.decompress(plan, size + 1)
        if len(labels) != size or np.frombuffer(labels, dtype=dtype).max() >= k:
            raise ValueError("a plan in it does not fit the map")
        packed.append(plan)
        begin = end
    return tuple(packed)
