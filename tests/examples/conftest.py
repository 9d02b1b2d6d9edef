"""Add the folder of the examples to the import path."""

import sys
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
sys.path.insert(0, str(EXAMPLES))
