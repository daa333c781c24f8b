"""The Python environment: its packages, and pip without ensurepip."""

import importlib.util
import io
import sys
import zipfile
from pathlib import Path

import pytest

from scripts.setup import debian, environment
from scripts.setup.progress import Progress, SetupError

# Instead of Debian's pip: writes down its certificates and its command, and installs `pip` as a
# module that writes down the command, too.
FAKE_PIP = """
import pathlib, sys, sysconfig
from pip._vendor import certifi
def main():
    site = pathlib.Path(sysconfig.get_path("purelib"))
    trusted = pathlib.Path(certifi.where()).read_text()
    (site / "bootstrap.txt").write_text(f"{trusted} {sys.argv[1:]}")
    (site / "pip").mkdir()
    (site / "pip" / "__init__.py").touch()
    note = "import sys; open(__file__ + '.txt', 'w').write(' '.join(sys.argv[1:]))"
    (site / "pip" / "__main__.py").write_text(note)
"""


def test_requirements_follow_included_groups() -> None:
    groups = {"dev": ["pytest", {"include-group": "lint"}], "lint": ["ruff>=1"], "more": ["x"]}
    found = environment.requirements({"dependency-groups": groups}, ["more", "dev"])
    assert found == ["x", "pytest", "ruff>=1"]


def test_stamp_depends_on_the_project_and_its_place(tmp_path: Path) -> None:
    stamps = []
    for folder, text in (("a", "one"), ("a", "two"), ("b", "two")):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "pyproject.toml").write_text(text)
        stamps.append(environment.stamp(tmp_path / folder, "dev").fingerprint)
    assert len(set(stamps)) == 3


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project on a machine without ensurepip and without certificates."""
    project = "[dependency-groups]\ndev = ['tool']\n"
    (tmp_path / "pyproject.toml").write_text(project)
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "ensurepip" else find_spec(name)
    )
    monkeypatch.setattr(environment, "CERTIFICATES", tmp_path / "none.crt")
    monkeypatch.setattr(debian, "unpack", _unpack_fake_pip)
    return tmp_path


def test_without_ensurepip_pip_comes_from_debian(root: Path) -> None:
    environment.install(_progress(root), root, ["dev"])
    series = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    site = root / ".venv" / "lib" / series / "site-packages"
    assert (site / "bootstrap.txt").read_text().startswith("CERTIFICATE ['install', ")
    assert (site / "bootstrap.txt").read_text().endswith("'pip']")
    words = (site / "pip" / "__main__.py.txt").read_text()
    assert words.endswith(f"--editable {root} tool")
    assert not (root / ".cache" / "building" / "pip").exists()


def test_half_made_environment_is_made_anew(root: Path) -> None:
    (root / ".venv" / "bin").mkdir(parents=True)
    (root / ".venv" / "bin" / "python").write_text("half of it")
    environment.install(_progress(root), root, [])
    assert (root / ".venv" / "bin" / "python").is_symlink()


def test_debian_package_without_pip(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debian, "unpack", lambda *_: None)
    with pytest.raises(SetupError, match="install python3-venv"):
        environment.install(_progress(root), root, [])


def _unpack_fake_pip(progress: Progress, suite: str, packages: list[str], into: Path) -> None:
    assert packages == ["python3-pip-whl"]
    wheels = into / "usr" / "share" / "python-wheels"
    wheels.mkdir(parents=True)
    certificates = into / "usr" / "share" / "ca-certificates" / "mozilla"
    certificates.mkdir(parents=True)
    (certificates / "a.crt").write_text("CERTIFICATE")
    with zipfile.ZipFile(wheels / "pip-1-py3-none-any.whl", "w") as wheel:
        for module in ("pip", "pip/_vendor", "pip/_internal", "pip/_internal/cli"):
            wheel.writestr(f"{module}/__init__.py", "")
        wheel.writestr("pip/_vendor/certifi.py", "")
        wheel.writestr("pip/_internal/cli/main.py", FAKE_PIP)


def _progress(root: Path) -> Progress:
    return Progress(root / "setup.log", io.StringIO())
