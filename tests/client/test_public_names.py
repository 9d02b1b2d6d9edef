import inspect
import subprocess
import sys

import svddtune.client as package


def test_public_names_are_sorted_and_there() -> None:
    assert package.__all__ == sorted(package.__all__)
    assert set(package.__all__) == set(package._MODULES)
    for name in package.__all__:
        value = getattr(package, name)
        assert inspect.getdoc(value), name
        assert value.__module__.startswith("svddtune.client."), name
    assert set(package.__all__) <= set(dir(package))


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
