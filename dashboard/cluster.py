"""Segments of runs on the workers of a Dask cluster. The queue, and what is lost with a worker, are Dask's.

A worker needs nothing but this package in the same versions: all that decides a segment travels with its
task, and its records come back with the next state. So a task whose worker is lost is done again by another
one, which costs that segment and no more, and no worker has to hold anything from one segment to the next.
"""

import functools
import importlib.metadata
import logging
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from bottomup.data.errors import DataError

if TYPE_CHECKING:
    from distributed import Client, Future

    from bottomup.sampler.segments import Perform, Segment, Task

__all__ = ["Cluster", "connected"]

CONNECT_SECONDS = 10.0
NO_WORKER_SECONDS = 60.0
"""A cluster may be without workers for so long, as when they are started after the sweep."""
LOOK_SECONDS = 5.0
"""Between two looks at who is there."""
PATIENCE = 0.5
"""Seconds in which a wait notices that it is stopped."""


@contextmanager
def connected(address: str | None) -> Iterator["Cluster | None"]:
    """A cluster while it is in use; None without an address.

    Raises
    ------
    DataError
        When Dask is not installed, nobody answers at the address, or no worker can be used.
    """
    if address is None:
        yield None
        return
    try:
        import dask
        from distributed import Client
    except ImportError as error:
        raise DataError(
            "no_dask",
            "--scheduler needs Dask, which is not installed.",
            remedy='pip install "bottomup[dask]"',
        ) from error
    # What goes wrong is said in words here; Dask would add its own to the terminal.
    for name in ("client", "comm", "core", "batched"):
        logging.getLogger(f"distributed.{name}").setLevel(logging.CRITICAL)
    # Tasks are large on purpose: the state goes with them.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TiB"}):
        try:
            with warnings.catch_warnings():
                # Of packages that decide no plan; those that do are compared below.
                warnings.filterwarnings("ignore", message="(?s).*Mismatched versions")
                client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise DataError(
                "no_scheduler",
                f"No Dask scheduler answers at {address}.",
                remedy="Start one with `dask scheduler`, which says its address, or correct --scheduler.",
            ) from error
        try:
            cluster = Cluster(client, address)
            cluster.wait_for_worker()
            yield cluster
        finally:
            client.close(timeout=CONNECT_SECONDS)


class _Sent(NamedTuple):
    """A task on its way."""

    future: "Future"
    n_refused: int
    """Workers that were refused before."""
    workers: frozenset[str]
    """Those that may do it; any when there are none."""


class Cluster:
    """The workers behind a scheduler.

    Parameters
    ----------
    client : distributed.Client
    address : str
        As the user named it.
    """

    def __init__(self, client: "Client", address: str) -> None:
        self._client = client
        self._address = address
        self._refused: set[str] = set()
        self._n_threads: dict[str, int] = {}
        self._looked = 0.0
        self._seen = time.monotonic()

    @property
    def n_threads(self) -> int:
        """Tasks that its workers do at a time, as of a moment ago.

        Raises
        ------
        DataError
            When the scheduler has gone, or all workers have.
        """
        self._look(LOOK_SECONDS)
        return sum(self._n_threads.values())

    def wait_for_worker(self) -> None:
        """Name the workers that cannot be used, and wait for one that can.

        Raises
        ------
        DataError
            When none comes.
        """
        self._compare()
        self._look()
        if not self._n_threads:
            print(f"Waiting for a worker of {self._address} ...", flush=True)
        while not self._n_threads:
            time.sleep(PATIENCE)
            self._compare()
            self._look()

    def performer(self, name: str, is_stopped: Callable[[], bool]) -> "Perform":
        """What does the segments of a run here.

        Parameters
        ----------
        name : str
            Of the run, in the names of its tasks.
        is_stopped : callable
            Once it says so, tasks that are not done are dropped.
        """
        return functools.partial(self._perform, name, is_stopped)

    def _perform(
        self, name: str, is_stopped: Callable[[], bool], tasks: "Sequence[Task]"
    ) -> "list[Segment] | None":
        arrived = threading.Event()
        done: dict[int, Segment] = {}
        sent = {number: self._send(name, task, arrived) for number, task in enumerate(tasks)}
        try:
            while sent:
                if is_stopped():
                    return None
                arrived.wait(PATIENCE)
                arrived.clear()
                self._look(LOOK_SECONDS)
                for number, each in list(sent.items()):
                    found = self._receive(each) if each.future.done() else None
                    if found is not None:
                        done[number] = found
                        del sent[number]
                    elif each.future.done() or (each.workers and not each.workers & self._n_threads.keys()):
                        sent[number] = self._send(name, tasks[number], arrived)
        finally:
            if sent and self._client.status == "running":
                self._client.cancel([each.future for each in sent.values()])
        return [done[number] for number in range(len(tasks))]

    def _send(self, name: str, task: "Task", arrived: threading.Event) -> _Sent:
        from bottomup.sampler.segments import run_segment

        title, *arguments = task
        workers = frozenset(self._n_threads) if self._refused else frozenset[str]()
        future = self._client.submit(
            run_segment,
            *arguments,
            # The end of it tells tasks of the same title apart, such as those of another study.
            key=f"{name}: {title} ({uuid.uuid4().hex[:8]})",
            workers=sorted(workers) or None,
            pure=False,
        )
        future.add_done_callback(lambda _: arrived.set())
        return _Sent(future, len(self._refused), workers)

    def _receive(self, sent: _Sent) -> "Segment | None":
        """What has become of a task; None when another worker is to do it."""
        from distributed import KilledWorker

        if sent.future.status == "finished":
            try:
                found: Segment = sent.future.result()
                return found
            except (OSError, CancelledError) as error:
                raise self._lost() from error
        if sent.future.status != "error":
            raise self._lost()
        failure = sent.future.exception()
        if isinstance(failure, KilledWorker):
            raise DataError(
                "workers_lost",
                f"{failure.allowed_failures + 1} workers were lost one after the other while they did the "
                "same segment.",
                remedy="Their logs say why; perhaps they have too little memory.",
            )
        self._compare()
        if len(self._refused) > sent.n_refused:
            self._look()
            return None
        raise DataError("segment_failed", f"A worker failed: {type(failure).__name__}: {failure}")

    def _compare(self) -> None:
        """Refuse workers that might draw other plans of the same seed, and name them."""
        from bottomup.sampler.naming import package_versions

        others: dict[str, list[str]] = {}
        for package, version in package_versions().items():
            # A function of Python itself, so that workers without this package can be asked.
            found = self._ask(self._client.run, importlib.metadata.version, package, on_error="return")
            for worker, other in found.items():
                if isinstance(other, importlib.metadata.PackageNotFoundError):
                    others.setdefault(worker, []).append(f"no {package}")
                elif isinstance(other, str) and other != version:
                    others.setdefault(worker, []).append(f"{package} {other} instead of {version}")
        for worker, differences in others.items():
            if worker not in self._refused:
                self._refused.add(worker)
                print(f"Worker {worker} is not used, for it has {', '.join(differences)}", flush=True)

    def _look(self, after: float = 0.0) -> None:
        """See which workers there are, unless that was seen a moment ago."""
        now = time.monotonic()
        if now - self._looked < after:
            return
        self._looked = now
        found = self._ask(self._client.nthreads)
        self._n_threads = {worker: n for worker, n in found.items() if worker not in self._refused}
        if self._n_threads:
            self._seen = now
        elif now - self._seen > NO_WORKER_SECONDS:
            those = "none but those with other versions" if found else "none"
            raise DataError(
                "no_workers",
                f"The Dask cluster at {self._address} has no worker that can be used: {those} for "
                f"{NO_WORKER_SECONDS:.0f} seconds.",
                remedy=f"Start some with `dask worker {self._address}` where the same bottomup is installed, "
                "and enter the command again to go on.",
            )

    def _ask(self, question: Callable[..., Any], *arguments: Any, **more: Any) -> dict[str, Any]:
        if self._client.status != "running":
            raise self._lost()
        try:
            return dict(question(*arguments, **more))
        except (OSError, CancelledError) as error:
            raise self._lost() from error

    def _lost(self) -> DataError:
        return DataError(
            "scheduler_lost",
            f"The Dask scheduler at {self._address} does not answer any more.",
            remedy="What was recorded up to the last checkpoint is safe. Start the scheduler again and enter "
            "the command again to go on, or go on without --scheduler.",
        )
