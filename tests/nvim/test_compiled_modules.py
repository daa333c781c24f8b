"""The file of compiled modules: what a start reads from it, and when it does not."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.launch import REPOSITORY

PACKAGE = REPOSITORY / "rplugin" / "python3" / "eca_nvim"
START = """
import sys
sys.path.insert(0, sys.argv[1])
from eca_nvim.nvim import compiled_modules
compiled_modules.use(sys.argv[1] + "/eca_nvim", sys.argv[2])
for name in sys.argv[3:]:
    module = __import__("eca_nvim." + name, fromlist=["TEXT"])
    print(module.TEXT, type(module.__loader__).__name__, module.__file__)
"""
FIRST, SECOND = "SourceFileLoader", "_Compiled"


class Package:
    """A small copy of the package, with modules `one` and `two`, and a file of its modules."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "package"
        self.file = folder / "cache" / "modules"
        for part in ("__init__.py", "nvim/__init__.py", "nvim/compiled_modules.py", "disk"):
            kept = self.folder / "eca_nvim" / part
            kept.parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if (PACKAGE / part).is_dir() else shutil.copy
            copy(PACKAGE / part, kept)
        for name in ("one", "two"):
            self.write(name, name)

    def write(self, name: str, text: str) -> None:
        """Write a module that has a text."""
        (self.folder / "eca_nvim" / f"{name}.py").write_text(f"TEXT = {text!r}\n")

    def start(self, *names: str) -> list[str]:
        """Import modules in a Python of its own; return the text and the loader of each."""
        command = [sys.executable, "-I", "-c", START, str(self.folder), str(self.file), *names]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        assert (ended.returncode, ended.stderr) == (0, "")
        rows = [line.split() for line in ended.stdout.splitlines()]
        assert [row[2] for row in rows] == [f"{self.folder}/eca_nvim/{it}.py" for it in names]
        return [f"{text} {loader}" for text, loader, _ in rows]


@pytest.fixture
def package(tmp_path: Path) -> Package:
    return Package(tmp_path)


def test_the_second_start_reads_one_file(package: Package) -> None:
    assert package.start("one") == [f"one {FIRST}"]
    assert package.file.stat().st_mode & 0o777 == 0o600
    written = package.file.stat().st_mtime_ns
    assert package.start("one") == [f"one {SECOND}"]
    assert package.file.stat().st_mtime_ns == written


def test_modules_that_are_imported_later_join_it(package: Package) -> None:
    package.start("one")
    assert package.start("one", "two") == [f"one {SECOND}", f"two {FIRST}"]
    assert package.start("two", "one") == [f"two {SECOND}", f"one {SECOND}"]


def test_a_changed_source_is_imported_as_it_is_now(package: Package) -> None:
    package.start("one", "two")
    package.write("one", "changed")
    assert package.start("one", "two") == [f"changed {FIRST}", f"two {FIRST}"]
    assert package.start("one") == [f"changed {SECOND}"]


def test_a_source_that_is_gone_is_not_imported(package: Package) -> None:
    package.start("one", "two")
    (package.folder / "eca_nvim" / "two.py").unlink()
    assert package.start("one") == [f"one {FIRST}"]


def test_a_package_elsewhere_does_not_get_the_modules_of_this_one(
    package: Package, tmp_path: Path
) -> None:
    package.start("one")
    other = Package(tmp_path / "other")
    other.file = package.file
    assert other.start("one") == [f"one {FIRST}"]


@pytest.mark.parametrize("damage", [b"", b"nonsense", b"\xe9", b"N", b"i\0\0\0\0"])
def test_a_damaged_file_is_replaced(damage: bytes, package: Package) -> None:
    package.start("one")
    package.file.write_bytes(damage)
    assert package.start("one") == [f"one {FIRST}"]
    assert package.start("one") == [f"one {SECOND}"]


def test_half_a_file_is_replaced(package: Package) -> None:
    package.start("one")
    os.truncate(package.file, package.file.stat().st_size // 2)
    assert package.start("one") == [f"one {FIRST}"]
    assert package.start("one") == [f"one {SECOND}"]


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_a_file_that_others_can_write_is_not_read(mode: int, package: Package) -> None:
    package.start("one")
    package.file.chmod(mode)
    assert package.start("one") == [f"one {FIRST}"]


def test_a_file_that_cannot_be_written_is_done_without(package: Package) -> None:
    package.file = Path("/dev/null/modules")
    assert package.start("one") == package.start("one") == [f"one {FIRST}"]
