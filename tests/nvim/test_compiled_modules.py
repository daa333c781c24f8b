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
from importlib import import_module
sys.path[:0] = [sys.argv[1], sys.argv[1] + "/others"]
from eca_nvim.nvim import compiled_modules
compiled_modules.use(sys.argv[1] + "/eca_nvim", sys.argv[2])
for name in sys.argv[3:]:
    try:
        module = import_module(name)
    except ModuleNotFoundError:
        print("gone")
        continue
    assert module.__file__.endswith(f"/{name.replace('.', '/')}.py")
    print(module.TEXT, type(module.__loader__).__name__)
"""
FIRST, SECOND = "SourceFileLoader", "_Loader"
UPDATE = """
import atexit
import os
import eca_nvim.disk.replacing
from pathlib import Path
TEXT, pread = "two", os.pread
def update(*arguments):
    os.pread = pread
    Path({!r}).write_text("TEXT = 'changed'")
    return pread(*arguments)
atexit.register(setattr, os, "pread", update)
"""
"""A module that changes another one when the file is read at the exit."""


class Package:
    """A small copy of the package, with the modules `one` and `two`, and a file of modules.

    Beside it is a folder of the path with the module `other`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "package"
        self.file = folder / "cache" / "modules"
        for part in ("__init__.py", "nvim/__init__.py", "nvim/compiled_modules.py", "disk"):
            kept = self.folder / "eca_nvim" / part
            kept.parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if (PACKAGE / part).is_dir() else shutil.copy
            copy(PACKAGE / part, kept)
        self.others = self.folder / "others"
        self.others.mkdir()
        for name in ("eca_nvim.one", "eca_nvim.two", "other"):
            self.write(name, name.rpartition(".")[2])

    def place(self, name: str) -> Path:
        """Return the place of a module."""
        above = self.folder if "." in name else self.others
        return above / f"{name.replace('.', '/')}.py"

    def write(self, name: str, text: str) -> None:
        """Write a module that has a text."""
        self.place(name).write_text(f"TEXT = {text!r}\n")

    def damage(self, place: int) -> None:
        """Change a byte of the file of modules."""
        content = bytearray(self.file.read_bytes())
        content[place] ^= 0x41
        self.file.write_bytes(content)

    def start(self, *names: str) -> list[str]:
        """Import modules in a Python of its own; return the text and the loader of each."""
        python = [sys.executable, "-I", "-B", "-c", START]
        command = [*python, str(self.folder), str(self.file), *names]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        assert (ended.returncode, ended.stderr) == (0, "")
        return ended.stdout.splitlines()


@pytest.fixture
def package(tmp_path: Path) -> Package:
    return Package(tmp_path)


def test_the_second_start_reads_one_file(package: Package) -> None:
    assert package.start("eca_nvim.one") == [f"one {FIRST}"]
    assert package.file.stat().st_mode & 0o777 == 0o600
    written = package.file.stat().st_mtime_ns
    assert package.start("eca_nvim.one") == [f"one {SECOND}"]
    assert package.file.stat().st_mtime_ns == written


def test_modules_that_are_imported_later_join_it(package: Package) -> None:
    package.start("eca_nvim.one")
    assert package.start("eca_nvim.one", "eca_nvim.two") == [f"one {SECOND}", f"two {FIRST}"]
    assert package.start("eca_nvim.two", "eca_nvim.one") == [f"two {SECOND}", f"one {SECOND}"]


def test_a_changed_source_is_imported_as_it_is_now(package: Package) -> None:
    package.start("eca_nvim.one", "eca_nvim.two")
    package.write("eca_nvim.one", "changed")
    assert package.start("eca_nvim.one", "eca_nvim.two") == [f"changed {FIRST}", f"two {SECOND}"]
    assert package.start("eca_nvim.one") == [f"changed {SECOND}"]


def test_a_source_that_is_gone_is_not_imported(package: Package) -> None:
    package.start("eca_nvim.one", "eca_nvim.two")
    package.place("eca_nvim.two").unlink()
    assert package.start("eca_nvim.one", "eca_nvim.two") == [f"one {SECOND}", "gone"]


def test_modules_of_others_are_in_it_while_nothing_is_added_to_their_folders(
    package: Package,
) -> None:
    assert package.start("other") == [f"other {FIRST}"]
    assert package.start("other") == [f"other {SECOND}"]
    package.write("other", "changed")
    assert package.start("other") == [f"changed {FIRST}"]
    assert package.start("other") == [f"changed {SECOND}"]
    (package.others / "added.py").touch()
    assert package.start("other") == [f"changed {FIRST}"]


def test_a_module_that_comes_first_on_the_path_wins(package: Package) -> None:
    package.start("other")
    package.others, later = package.folder, package.others
    package.write("other", "earlier")
    assert package.start("other") == [f"earlier {FIRST}"]
    package.place("other").unlink()
    package.others = later
    assert package.start("other") == [f"other {FIRST}"]


def test_a_package_elsewhere_does_not_get_the_modules_of_this_one(
    package: Package, tmp_path: Path
) -> None:
    package.start("eca_nvim.one")
    other = Package(tmp_path / "other")
    other.file = package.file
    assert other.start("eca_nvim.one") == [f"one {FIRST}"]


@pytest.mark.parametrize("damage", [b"", b"nonsense", b"\xe9", b"N", b"i\0\0\0\0"])
def test_a_damaged_file_is_replaced(damage: bytes, package: Package) -> None:
    package.start("eca_nvim.one")
    package.file.write_bytes(damage)
    assert package.start("eca_nvim.one") == [f"one {FIRST}"]
    assert package.start("eca_nvim.one") == [f"one {SECOND}"]


def test_half_a_file_is_replaced(package: Package) -> None:
    package.start("eca_nvim.one")
    os.truncate(package.file, package.file.stat().st_size // 2)
    assert package.start("eca_nvim.one") == [f"one {FIRST}"]
    assert package.start("eca_nvim.one") == [f"one {SECOND}"]


@pytest.mark.parametrize("place", [0, 7, 8, 16, 17, 40, 200])
def test_a_damaged_table_is_replaced(place: int, package: Package) -> None:
    package.start("eca_nvim.one")
    package.damage(place)
    assert package.start("eca_nvim.one") == [f"one {FIRST}"]
    assert package.start("eca_nvim.one") == [f"one {SECOND}"]


def test_damaged_code_is_not_run_but_replaced(package: Package) -> None:
    package.start("eca_nvim.one", "eca_nvim.two")
    for place in range(-1, -100, -7):  # the code of the module that was imported last
        package.damage(place)
    assert package.start("eca_nvim.one", "eca_nvim.two") == [f"one {SECOND}", f"two {FIRST}"]
    assert package.start("eca_nvim.one", "eca_nvim.two") == [f"one {SECOND}", f"two {SECOND}"]


def test_a_source_that_changes_while_the_file_is_written_is_imported_as_it_is_now(
    package: Package,
) -> None:
    package.start("other", "eca_nvim.one")
    package.place("eca_nvim.two").write_text(UPDATE.format(str(package.place("eca_nvim.one"))))
    package.start("other", "eca_nvim.one", "eca_nvim.two")
    assert package.start("eca_nvim.one") == [f"changed {FIRST}"]


def test_a_second_name_of_a_module_is_no_module(package: Package) -> None:
    package.write("other", "other")
    with package.place("other").open("a") as source:
        source.write("import sys\nsys.modules['alias'] = sys.modules[__name__]\n")
    package.start("other")
    assert package.start("alias", "other") == ["gone", f"other {SECOND}"]


def test_the_file_of_another_version_of_the_plugin_is_not_read(package: Package) -> None:
    package.start("eca_nvim.one")
    os.utime(package.place("eca_nvim.nvim.compiled_modules"))
    assert package.start("eca_nvim.one") == [f"one {FIRST}"]


def test_the_folder_of_the_file_may_be_a_link(package: Package) -> None:
    folder = package.folder / "cache"
    folder.mkdir()
    link = package.folder / "link"
    link.symlink_to(folder)
    package.file = link / "eca" / "modules"
    assert package.start("eca_nvim.one") == [f"one {FIRST}"]
    assert package.start("eca_nvim.one") == [f"one {SECOND}"]


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_a_file_that_others_can_write_is_not_read_but_replaced(mode: int, package: Package) -> None:
    package.start("eca_nvim.one")
    package.file.chmod(mode)
    assert package.start("eca_nvim.one") == [f"one {FIRST}"]
    assert package.start("eca_nvim.one") == [f"one {SECOND}"]


def test_a_file_that_cannot_be_written_is_done_without(package: Package) -> None:
    package.file = Path("/dev/null/modules")
    assert package.start("eca_nvim.one") == package.start("eca_nvim.one") == [f"one {FIRST}"]


def test_what_is_not_a_file_is_left_alone(package: Package) -> None:
    """Somebody may name a device here, such as /dev/null."""
    package.file.parent.mkdir()
    os.mkfifo(package.file)
    assert package.start("eca_nvim.one") == [f"one {FIRST}"]
    assert package.file.is_fifo()
