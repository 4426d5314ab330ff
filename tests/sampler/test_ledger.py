from __future__ import annotations

import csv
import errno
import math
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottomup.sampler import ledger as ledger_module
from bottomup.sampler.accounting import (
    ALREADY_RELEASED,
    BY_LOT,
    CHARTS,
    COUNTED,
    CURRENT_PLAN,
    FROM_CHART,
    ONLY_NOTED,
    PLAN,
    SHOWING,
    SLACK,
    WHOLE_SAMPLE,
    Entry,
    Release,
    add_up,
    is_released,
)
from bottomup.sampler.ledger import Ledger, LedgerError
from bottomup.sampler.promise import Promise, compose

OURS, OTHERS = "a" * 64, "b" * 64


def release(plan: str = "p1", epsilon: float = 1.0, **changes: object) -> Release:
    made = Release(
        what=PLAN,
        how="districts file",
        chosen=BY_LOT,
        epsilon=epsilon,
        draws=1,
        plan=plan,
        run=f"run of {plan}",
        score="testimony",
        delta="1/T",
        looks_at_data=False,
        clusters="",
        testimonies=OURS,
    )
    return replace(made, **changes)


# No surrogates, no control characters, no separators of lines.
texts = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=30)
releases = st.builds(
    Release,
    what=st.sampled_from([PLAN, CHARTS, SHOWING]),
    how=texts,
    chosen=st.sampled_from([CURRENT_PLAN, BY_LOT, FROM_CHART, WHOLE_SAMPLE]),
    epsilon=st.floats(0, 50),
    draws=st.integers(1, 5000),
    plan=texts,
    run=texts,
    score=texts,
    delta=texts,
    looks_at_data=st.booleans(),
    clusters=texts,
    testimonies=st.sampled_from([OURS, OTHERS]),
)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(releases, st.booleans()), max_size=5))
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[Release, bool]]
) -> None:
    path = tmp_path_factory.mktemp("ledger") / "ledger.csv"
    written = tuple(Ledger(path).write(each, counts=counts) for each, counts in rows)
    assert Ledger(path).read() == written
    assert [entry.release for entry in written] == [each for each, _ in rows]
    with open(path, newline="", encoding="utf-8") if rows else open(os.devnull) as file:
        table = list(csv.DictReader(file))
    assert [float(row["adds"]) for row in table] == [entry.adds for entry in written]


def test_the_file_is_made_by_the_first_release_and_has_one_header(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.csv")
    assert ledger.read() == ()
    assert not ledger.path.exists()
    ledger.write(release())
    first = ledger.path.read_bytes()
    ledger.write(release("p2", 0.5))
    assert ledger.path.read_bytes().startswith(first)
    lines = ledger.path.read_text().splitlines()
    assert [line.startswith("time,") for line in lines] == [True, False, False]
    assert [entry.adds for entry in ledger.read()] == [1.0, 0.5]


def test_the_same_draw_adds_nothing_a_second_time(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.csv")
    noted = ledger.write(release(), counts=False)
    assert (noted.status, noted.adds) == (ONLY_NOTED, 0.0)
    assert ledger.write(release()).status == COUNTED
    again = ledger.write(release(how="table file"))
    assert (again.status, again.adds) == (ALREADY_RELEASED, 0.0)
    assert is_released(ledger.read(), release())
    for other in (release("p2"), release(run="another"), release(testimonies=OTHERS)):
        assert not is_released(ledger.read(), other)
        assert ledger.write(other).status == COUNTED
    assert add_up(ledger.read(), OURS).epsilon == 3.0


WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, {folder!r})
from test_ledger import release
from bottomup.sampler.ledger import Ledger
go = Path({go!r})
while not go.exists():
    pass
for number in range({n}):
    Ledger({path!r}).write(release(f"{{sys.argv[1]}}-{{number}}", 0.25))
    Ledger({path!r}).write(release(f"all-{{number}}", 2.0))
"""


def test_processes_that_write_at_once_lose_nothing_and_count_nothing_twice(tmp_path: Path) -> None:
    path, go, n, n_writers = tmp_path / "ledger.csv", tmp_path / "go", 8, 4
    code = WRITER.format(folder=str(Path(__file__).parent), path=str(path), go=str(go), n=n)
    writers = [subprocess.Popen([sys.executable, "-c", code, str(name)]) for name in range(n_writers)]
    go.touch()
    assert [writer.wait(timeout=120) for writer in writers] == [0] * n_writers
    entries = Ledger(path).read()
    assert len(entries) == 2 * n * n_writers
    own = sorted(entry.release.plan for entry in entries if entry.adds == 0.25)
    assert own == sorted(f"{name}-{number}" for name in range(n_writers) for number in range(n))
    shared = [entry for entry in entries if entry.release.epsilon == 2.0]
    assert sum(entry.status == COUNTED for entry in shared) == n
    assert {entry.status for entry in shared} == {COUNTED, ALREADY_RELEASED}
    assert [entry.time for entry in entries] == sorted(entry.time for entry in entries)


def cut_off(lines: list[bytes]) -> list[bytes]:
    return [*lines[:-1], lines[-1][: len(lines[-1]) // 2]]


def cut_off_before_the_break(lines: list[bytes]) -> list[bytes]:
    return [*lines[:-1], lines[-1].rstrip(b"\n")]


def with_value(column: int, value: bytes) -> Callable[[list[bytes]], list[bytes]]:
    def damage(lines: list[bytes]) -> list[bytes]:
        values = lines[1].rstrip(b"\n").split(b",")
        values[column] = value
        return [lines[0], b",".join(values) + b"\n", *lines[2:]]

    return damage


@pytest.mark.parametrize(
    ("damage", "line", "told"),
    [
        (cut_off, 4, "cut off"),
        (cut_off_before_the_break, 4, "cut off"),
        (lambda lines: [lines[0][:20]], 1, "cut off"),
        (lambda lines: lines[1:], 1, "columns must be time, what"),
        (lambda _: [b"id,district\n", b"001,1\n"], 1, "got id, district"),
        (lambda _: [b"\xff\xfe\x00\n"], 1, "decode"),
        (lambda lines: [*lines[:2], b"\n", *lines[2:]], 3, "15 values; got 0"),
        (lambda lines: [*lines[:2], b'"open,1\n', *lines[2:]], 3, "unexpected end"),
        (with_value(0, b"yesterday"), 2, "time must be like"),
        (with_value(1, b"rumour"), 2, "what must be one of plan, charts"),
        (with_value(3, b"guessed"), 2, "chosen must be one of"),
        (with_value(4, b"lots"), 2, "epsilon must be a number; got 'lots'"),
        (with_value(4, b"nan"), 2, "epsilon must be finite"),
        (with_value(4, b"-1.0"), 2, "not negative; got -1"),
        (with_value(5, b"1.5"), 2, "draws must be a whole number"),
        (with_value(5, b"0"), 2, "draws must be at least 1"),
        (with_value(5, b"1" + 400 * b"0"), 2, "int too large"),
        (with_value(6, b"0.0"), 2, "adds must be 1, draws times epsilon"),
        (with_value(7, b"forgotten"), 2, "status must be one of"),
        (with_value(12, b"perhaps"), 2, "looks_at_data must be one of yes, no"),
    ],
)
def test_a_damaged_ledger_is_refused_by_line_and_left_alone(
    tmp_path: Path, damage: Callable[[list[bytes]], list[bytes]], line: int, told: str
) -> None:
    path = tmp_path / "ledger.csv"
    for number in range(3):
        Ledger(path).write(release(f"p{number}"))
    damaged = b"".join(damage(path.read_bytes().splitlines(keepends=True)))
    path.write_bytes(damaged)
    for use in (Ledger(path).read, lambda: Ledger(path).write(release("p9"))):
        with pytest.raises(LedgerError, match=f"line {line}: .*{told}") as caught:
            use()
        assert caught.value.line == line
        assert path.read_bytes() == damaged


def test_a_ledger_that_a_spreadsheet_has_saved_is_read_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "ledger.csv"
    Ledger(path).write(release(how='a "quoted", word'))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n").replace(b"1.0", b"1"))
    Ledger(path).write(release("p2"))
    assert [entry.release.how for entry in Ledger(path).read()] == ['a "quoted", word', "districts file"]


def test_an_empty_file_becomes_a_ledger(tmp_path: Path) -> None:
    path = tmp_path / "ledger.csv"
    path.touch()
    assert Ledger(path).read() == ()
    entry = Ledger(path).write(release())
    assert Ledger(path).read() == (entry,)


def test_without_its_folder_nothing_is_made(tmp_path: Path) -> None:
    path = tmp_path / "absent" / "ledger.csv"
    assert Ledger(path).read() == ()
    with pytest.raises(LedgerError, match=r"no folder .*absent.* Make the folder"):
        Ledger(path).write(release())
    assert not path.parent.exists()


def test_a_folder_in_its_place_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="directory"):
        Ledger(tmp_path).read()
    with pytest.raises(LedgerError, match="keep the ledger in another file"):
        Ledger(tmp_path).write(release())


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(LedgerError, match="permission denied"):
            Ledger(tmp_path / "ledger.csv").write(release())
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize("fails", ["lock", "sync"])
def test_what_the_system_refuses_is_said_and_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    ledger = Ledger(tmp_path / "ledger.csv")
    ledger.write(release())
    before = ledger.path.read_bytes()

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    owner, name = (ledger_module, "FileLock") if fails == "lock" else (ledger_module.os, "fsync")
    monkeypatch.setattr(owner, name, refuse)
    with pytest.raises(LedgerError, match="cannot be written: read-only file system"):
        ledger.write(release("p2"))
    assert ledger.path.read_bytes() == before


def write_within(limit: int, path: Path) -> None:
    """Write, in a process of its own, with files that may not grow beyond a number of bytes."""
    # Only POSIX has these.
    import resource
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        Ledger(path).write(release("p2"))
    except LedgerError as error:
        print(error)


@pytest.mark.skipif(os.name != "posix", reason="files can be kept small only on POSIX")
def test_half_a_line_is_taken_back_when_there_is_no_room(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.csv")
    ledger.write(release())
    before = ledger.path.read_bytes()
    code = (
        f"import sys, pathlib; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        f"from test_ledger import write_within\n"
        f"write_within({len(before) + 40}, pathlib.Path({str(ledger.path)!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "file too large" in done.stdout
    assert ledger.path.read_bytes() == before
    assert ledger.write(release("p2")).status == COUNTED


def test_a_lock_that_is_never_given_back_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_module, "_WAIT_SECONDS", 0.05)
    path = tmp_path / "ledger.csv"
    with (
        ledger_module.FileLock(f"{path}.lock"),
        pytest.raises(LedgerError, match=r"another program has held .*ledger\.csv\.lock for 0\.05 seconds"),
    ):
        Ledger(path).write(release())
    assert not path.exists()


@given(st.lists(st.tuples(st.floats(0, 10), st.integers(1, 400), st.sampled_from([OURS, OTHERS]))))
def test_the_sum_is_that_of_the_draws_one_by_one(rows: list[tuple[float, int, str]]) -> None:
    entries = [
        Entry("2025-03-01T14:05:09Z", release(f"p{i}", epsilon, draws=draws, testimonies=whose), COUNTED)
        for i, (epsilon, draws, whose) in enumerate(rows)
    ]
    ignored = [
        replace(entry, status=status) for entry in entries for status in (ALREADY_RELEASED, ONLY_NOTED)
    ]
    draws = [epsilon for epsilon, n, whose in rows if whose == OURS for _ in range(n)]
    found = add_up(entries + ignored, OURS)
    assert found.n_plans == sum(whose == OURS for *_, whose in rows)
    assert found.epsilon == pytest.approx(math.fsum(draws))
    rho = math.fsum(epsilon**2 / 8 for epsilon in draws)
    concentrated = rho + 2 * math.sqrt(rho * math.log(1 / SLACK))
    assert found.epsilon_with_slack == pytest.approx(min(concentrated, math.fsum(draws)))


def test_the_sum_says_what_it_rests_on() -> None:
    def entry(number: int, **changes: object) -> Entry:
        return Entry("2025-03-01T14:05:09Z", release(f"p{number}", **changes), COUNTED)

    plain = [entry(1), entry(2, what=CHARTS, chosen=WHOLE_SAMPLE, draws=300)]
    assert not add_up(plain, OURS).is_conditional
    assert (add_up(plain, OURS).n_plans, add_up(plain, OURS).n_charts, add_up(plain, OURS).n_picked) == (
        1,
        1,
        0,
    )
    assert add_up([*plain, entry(3, looks_at_data=True)], OURS).is_conditional
    assert add_up([*plain, entry(3, clusters="conditional")], OURS).is_conditional
    assert not add_up([*plain, entry(3, epsilon=0.0, clusters="conditional")], OURS).is_conditional
    assert not add_up([*plain, entry(3, clusters="public geography")], OURS).is_conditional
    assert add_up([*plain, entry(3, chosen=FROM_CHART, draws=300)], OURS).n_picked == 1


def test_composing_like_promises_is_the_promise_of_their_number() -> None:
    for releases_, epsilon in ((3, 0.5), (40, 0.2)):
        one_by_one = [Promise(epsilon, group_size=2)] * releases_
        together = Promise(epsilon, releases=releases_, group_size=2)
        assert compose(one_by_one) == pytest.approx(together.basic())
        # The other theorem that the homogeneous sum knows is never the better one here.
        assert compose(one_by_one, SLACK) == pytest.approx(together.advanced(SLACK))
    loose = [Promise(0.1, delta=1e-3)] * 200
    assert compose(loose, SLACK) == pytest.approx((20.0, 0.2))
    with pytest.raises(ValueError, match="slack must lie between 0 and 1; got 0"):
        compose(loose, 0)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"what": "gossip"}, "what must be one of"),
        ({"how": "two\nlines"}, "how must be plain text on one line"),
        ({"epsilon": math.inf}, "epsilon must be finite"),
        ({"draws": 0}, "draws must be at least 1; got 0"),
    ],
)
def test_a_release_that_makes_no_sense_is_refused(changes: dict[str, object], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        release(**changes)
