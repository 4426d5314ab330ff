"""Small studies, made as `bottomup sweep` makes them, but in the process of the test."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path

from bottomup.dashboard.cli import main
from bottomup.dashboard.study_file import read_study
from bottomup.dashboard.study_folder import describe_study, save_record


def make_study(text: str, base: Path, out: Path) -> Path:
    """Run every cell of a study whose files lie in a folder; return the folder of the study."""
    path = base / f"{out.name}.toml"
    path.write_text(text)
    study = read_study(path)
    cells = study.cells(out)
    out.mkdir()
    with chdir(base):
        record, _ = describe_study(study, out)
        for cell in cells:
            assert main([*cell.options, "--threads", "1", "--out", str(out / cell.name)]) == 0
    save_record(out, record, cells)
    return out
