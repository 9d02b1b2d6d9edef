"""The mapping that tests of tickets share, as a file."""

from pathlib import Path

import pytest
from tests.client.tickets.exports import mapping_file


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    return mapping_file(tmp_path)
