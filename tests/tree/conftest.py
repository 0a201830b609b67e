"""The random worlds of the tests of measures serve the tests of trees too."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "measures"))
