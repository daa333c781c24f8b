"""The Python environment of the checkout, `.venv`: the package itself and what it needs.

`make chat` needs less than `make test`: groups of `[dependency-groups]` in pyproject.toml are added
as needed. If Debian's python3 has no ensurepip, pip comes from the package that ensurepip would
have used.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from scripts.setup import debian
from scripts.setup.progress import Progress, SetupError
from scripts.setup.stamp import Stamp, fingerprint

PIP_SUITE = "trixie"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")

# Debian's pip uses only the machine's certificates, and does not start without them.
RUN_DEBIAN_PIP = """
import sys
from pip._vendor import certifi
bundle = sys.argv.pop(1)
certifi.where = lambda: bundle
from pip._internal.cli.main import main
sys.exit(main())
"""


def stamp(root: Path, part: str, place: Path | None = None) -> Stamp:
    """Return the stamp of a part, `package` or a dependency group. It depends on pyproject.toml.

    place: as for `install`.
    """
    project = (root / "pyproject.toml").read_bytes()
    folder = place or root
    return Stamp(folder / ".venv" / f".set-up-{part}", fingerprint(str(folder), project))


def requirements(project: Mapping[str, object], groups: Sequence[str]) -> list[str]:
    """Return the requirements of dependency groups, including those of included groups."""
    tables = project["dependency-groups"]
    assert isinstance(tables, dict)
    found: list[str] = []
    for group in groups:
        for item in tables[group]:
            if isinstance(item, str):
                found.append(item)
            else:
                found += requirements(project, [item["include-group"]])
    return found


def install(
    progress: Progress, root: Path, groups: Sequence[str], place: Path | None = None
) -> None:
    """Make or complete the environment, and install the package in place.

    place: the folder for it, if nothing can be written in `root`: then it gets what the package
    needs. Raises SetupError.
    """
    venv = (place or root) / ".venv"
    python = str(venv / "bin" / "python")
    if not _has_pip(python):
        shutil.rmtree(venv, ignore_errors=True)
        _create(progress, venv)
    project = tomllib.loads((root / "pyproject.toml").read_text())
    package = ["--editable", str(root)] if place is None else project["project"]["dependencies"]
    wanted = [*package, *requirements(project, groups)]
    _pip(progress, [python, "-m", "pip"], wanted, dict(os.environ))
    if place is not None:
        return
    # pip compiles what it installs, but nothing that is installed in place: else the first chat
    # would open a third of a second later.
    compile_ours = [python, "-m", "compileall", "-q", str(root / "rplugin")]
    progress.run(compile_ours, "cannot compile the plugin: check the space on the disk")


def _has_pip(python: str) -> bool:
    """Return whether there is an environment of this Python series that can install packages."""
    say_series = "import pip, sys; print(sys.version_info[:2])"
    try:
        done = subprocess.run(
            [python, "-c", say_series], capture_output=True, text=True, check=False
        )
    except OSError:
        return False
    return done.stdout.strip() == str(sys.version_info[:2])


def _create(progress: Progress, venv: Path) -> None:
    create = [sys.executable, "-m", "venv", str(venv)]
    fault = "cannot make the Python environment: check the space on the disk"
    if importlib.util.find_spec("ensurepip") is not None:
        progress.run(create, fault)
        return
    progress.run([*create, "--without-pip"], fault)
    unpacked = venv.parent / ".cache" / "building" / "pip"
    try:
        debian.unpack(progress, PIP_SUITE, ["python3-pip-whl"], unpacked)
        _install_pip(progress, str(venv / "bin" / "python"), unpacked)
    finally:
        shutil.rmtree(unpacked, ignore_errors=True)


def _install_pip(progress: Progress, python: str, unpacked: Path) -> None:
    """Install pip with the wheel in an unpacked Debian package."""
    wheel = next((unpacked / "usr" / "share" / "python-wheels").glob("pip-*.whl"), None)
    if wheel is None:
        raise SetupError("Debian's python3-pip-whl brings no pip: install python3-venv")
    pip = [python, "-c", RUN_DEBIAN_PIP, str(_certificates(unpacked))]
    _pip(progress, pip, ["pip"], {**os.environ, "PYTHONPATH": str(wheel)})


def _certificates(unpacked: Path) -> Path:
    """Return the machine's certificates, else those that were unpacked with pip, joined."""
    if CERTIFICATES.exists():
        return CERTIFICATES
    bundle = unpacked / "certificates.pem"
    found = (unpacked / "usr" / "share" / "ca-certificates").rglob("*.crt")
    bundle.write_text("".join(path.read_text() for path in sorted(found)))
    return bundle


def _pip(
    progress: Progress, pip: Sequence[str], wanted: Sequence[str], env: Mapping[str, str]
) -> None:
    options = ["--disable-pip-version-check", "--no-input", "--no-warn-script-location"]
    progress.run(
        [*pip, "install", *options, *wanted],
        "cannot install the Python packages: check the network",
        env={**env, "PIP_USER": "0"},
    )
