"""Where a benchmark writes its figures: between two marks of a page."""


def written(page: str, name: str, body: str) -> str:
    """A page with new text between the marks of a benchmark.

    Parameters
    ----------
    page : str
        The text of the page. It has the comments ``NAME: begin`` and ``NAME: end``.
    name : str
        The benchmark.
    body : str
        What comes between them.

    Raises
    ------
    ValueError
        The page does not have the marks.
    """
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, _, rest = page.partition(begin)
    _, mark, after = rest.partition(end)
    if not mark:
        raise ValueError(f"no place for the table: {begin} ... {end}")
    return f"{before}{begin}\n\n{body}\n\n{end}{after}"
