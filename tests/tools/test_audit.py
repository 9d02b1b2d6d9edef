"""What the audit says of pip-audit's findings."""

from tools.audit import judge

SOUND = {"name": "a", "version": "1", "vulns": []}
WEAK = {
    "name": "b",
    "version": "2",
    "vulns": [{"id": "PYSEC-1", "fix_versions": ["2.1"]}, {"id": "PYSEC-2", "fix_versions": []}],
}
SKIPPED = {"name": "c", "skip_reason": "not found"}


def test_sound_packages_pass_and_those_not_audited_are_counted() -> None:
    code, lines = judge({"dependencies": [SOUND, SKIPPED]})
    assert code == 0
    assert lines == ["1 of 2 packages audited, 0 weaknesses"]


def test_each_weakness_is_named_with_the_version_that_mends_it() -> None:
    code, lines = judge({"dependencies": [SOUND, WEAK]})
    assert code == 1
    assert lines == [
        "b 2: PYSEC-1, mended in 2.1",
        "b 2: PYSEC-2, mended in no version",
        "2 of 2 packages audited, 2 weaknesses",
    ]


def test_audit_of_nothing_does_not_pass() -> None:
    code, lines = judge({"dependencies": [SKIPPED]})
    assert code == 2
    assert "no package was audited" in lines[0]
