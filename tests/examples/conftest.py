"""The folder of the examples on the path."""

import sys
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
sys.path.insert(0, str(EXAMPLES))
