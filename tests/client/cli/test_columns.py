"""Tables of the command line."""

import pytest

from svddtune.client.cli.columns import Column, print_table

COLUMNS = (Column("name"), Column("due", rare=True), Column("state"))


@pytest.mark.parametrize(
    ("dues", "lines"),
    [
        (("", ""), ["name  state", "a     open", "b     open"]),
        (("", "today"), ["name  due    state", "a     -      open", "b     today  open"]),
    ],
)
def test_rare_column_is_there_where_some_cell_tells_something(
    dues: tuple[str, str], lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    print_table(COLUMNS, [(name, due, "open") for name, due in zip("ab", dues, strict=True)])
    assert capsys.readouterr().out.splitlines() == lines
