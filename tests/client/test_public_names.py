import inspect
import subprocess
import sys

import pytest

import svddtune.client as package


def test_public_names_are_sorted_and_there() -> None:
    assert package.__all__ == sorted(package.__all__)
    assert set(package.__all__) == set(package._MODULES)
    for name in package.__all__:
        value = getattr(package, name)
        assert inspect.getdoc(value), name
        assert value.__module__.startswith(
            ("svddtune.client.", "svddtune.config.", "svddtune.cost")
        ), name
    assert set(package.__all__) <= set(dir(package))


@pytest.mark.parametrize("name", ["TuningClient", "Tuning"])
def test_both_clients_have_the_same_methods_parameters_and_attributes(name: str) -> None:
    blocking, of_asyncio = getattr(package, name), getattr(package, f"Async{name}")
    public = {member for member in dir(blocking) if not member.startswith("_")}
    assert public == {member for member in dir(of_asyncio) if not member.startswith("_")}
    methods = {member for member in public if callable(getattr(blocking, member))}
    assert methods
    for member in ("__init__", *methods):
        parameters = inspect.signature(getattr(blocking, member)).parameters.values()
        others = inspect.signature(getattr(of_asyncio, member)).parameters.values()
        assert [(p.name, p.kind, p.default) for p in parameters] == [
            (p.name, p.kind, p.default) for p in others
        ], member


def test_command_line_answers_without_the_heavy_packages() -> None:
    code = (
        "import sys\n"
        "from svddtune.client.cli.app import run\n"
        "assert run(['--help']) == 0\n"
        "heavy = {'grpc', 'numpy', 'pandas', 'pyarrow', 'matplotlib', 'scipy', 'sklearn'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stderr.strip() == "[]"
    assert "demo" in done.stdout
