import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

REAL_FILES = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture
def real_files() -> Path:
    """Folder of the real files that lie beside the project on some machines."""
    if not REAL_FILES.is_dir():
        pytest.skip("the real files are not beside the project")
    return REAL_FILES
