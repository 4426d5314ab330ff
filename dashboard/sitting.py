"""The folder of ``bottomup sample`` while it runs, with checkpoints, and what is said when the disk fails."""

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from bottomup.data.errors import DataError, count

if TYPE_CHECKING:
    from bottomup.data.geography import Geography
    from bottomup.sampler.checkpoints import Checkpoint, Checkpoints
    from bottomup.sampler.memory import Memory
    from bottomup.sampler.runs import RunFolder

__all__ = ["Sitting", "resume_command"]


def resume_command(out: Path) -> str:
    """What to enter to go on with a run."""
    return f"bottomup sample --resume --out {out}"


class Sitting:
    """One stretch of a run from its start, or from where it was broken off, to its end or the next break.

    Errors of the disk leave it as :class:`DataError`, which says what is safe and how to go on.

    Parameters
    ----------
    out : path
        Folder of the run.
    """

    def __init__(self, out: Path) -> None:
        self.out = out
        self.folder: RunFolder
        self._checkpoints: Checkpoints | None = None
        self._about: dict[str, Any] = {}
        self._n_saved: int | None = None
        self._is_writing = False
        self._stack = ExitStack()

    def __enter__(self) -> "Sitting":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._stack.__exit__(kind, error, trace)
        except OSError as failure:
            raise self._explain(failure) from failure
        is_of_disk = isinstance(error, OSError) and not isinstance(error, BrokenPipeError)
        if is_of_disk and self._is_writing:
            raise self._explain(error) from error  # type: ignore[arg-type]

    def find(self) -> "Checkpoint":
        """Where the run in the folder stands; nobody else can go on with it from now on."""
        from bottomup.sampler.checkpoints import Checkpoints, read_manifest

        read_manifest(self.out)
        self._checkpoints = self._stack.enter_context(Checkpoints(self.out))
        found = self._checkpoints.load()
        self._about, self._n_saved = found.about, found.n_rows
        return found

    def begin(self, about: dict[str, Any]) -> None:
        """Make the folder of a new run, with a checkpoint before anything else.

        Parameters
        ----------
        about : dict
            What it takes to go on, ready for JSON.
        """
        from bottomup.sampler.checkpoints import Checkpoints

        self._about, self._is_writing = about, True
        self.out.mkdir(parents=True, exist_ok=True)
        self._checkpoints = self._stack.enter_context(Checkpoints(self.out))
        self._checkpoints.save(about, 0, {})
        self._n_saved = 0

    def open(self, geography: "Geography", n_districts: int, description: dict[str, Any]) -> None:
        """Open the folder for records, those of the last checkpoint first."""
        from bottomup.sampler.runs import RunFolder

        self._is_writing = True
        folder = RunFolder(self.out, geography, n_districts, description, self._n_saved)
        self.folder = self._stack.enter_context(folder)

    def keep(self, memory: "Memory") -> None:
        """Save a checkpoint; what the folder holds must be on the disk."""
        assert self._checkpoints is not None  # begun or found
        self._checkpoints.save(self._about, self.folder.n_rows, memory)
        self._n_saved = self.folder.n_rows

    def end(self, outcome: dict[str, Any], is_complete: bool) -> None:
        """Write down how it ended."""
        assert self._checkpoints is not None  # begun or found
        self.folder.finish(outcome)
        if is_complete:
            self._checkpoints.clear()

    def _explain(self, error: OSError) -> DataError:
        reason = (error.strerror or str(error) or type(error).__name__).lower()
        if self._n_saved is None:
            safe = "Nothing has been recorded yet."
            remedy = "Make room or let the folder be written to, or name another one with --out."
        else:
            safe = f"What was recorded up to the last checkpoint is safe: {count(self._n_saved, 'plan')}."
            remedy = (
                f"Make room or let the folder be written to, and go on with `{resume_command(self.out)}`."
            )
        message = f"{self.out} could not be written to: {reason}. {safe}"
        return DataError("not_written", message, remedy=remedy)
