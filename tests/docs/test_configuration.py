"""``docs/configuration.md`` describes the settings that there are."""

from tools.describe_configuration import PAGE, page

from svddtune.service.settings import Settings as ServiceSettings
from svddtune.worker.settings import Settings as WorkerSettings


def test_page_is_current() -> None:
    assert PAGE.read_text() == page(), "run make protos"


def test_page_has_every_setting_once() -> None:
    lines = page().partition("## Command line")[0].splitlines()
    for name in ServiceSettings.model_fields | WorkerSettings.model_fields:
        assert sum(line.startswith(f"| `SVDDTUNE_{name.upper()}` |") for line in lines) == 1, name


def test_page_is_the_same_for_every_user() -> None:
    assert "/root" not in page()
    assert "/home" not in page()
