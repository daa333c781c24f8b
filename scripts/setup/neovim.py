"""The Neovims: the user's own if it is new enough, else ones unpacked from Debian.

An unpacked Neovim has its own libc: the binary's interpreter and rpath point into its folder, which
does not affect the programs it starts, as LD_LIBRARY_PATH would. `bin/nvim` is a wrapper that sets
the place of the runtime files and the bundled parsers.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from scripts.setup import debian
from scripts.setup.progress import Progress, SetupError

OLDEST = (0, 10)


@dataclass(frozen=True)
class Release:
    """A Neovim and the Debian suite that contains it."""

    version: str
    suite: str

    @property
    def series(self) -> tuple[int, int]:
        """Major and minor number: any later patch is fine."""
        major, minor = self.version.split(".")[:2]
        return int(major), int(minor)


FOR_CHAT = Release("0.12.4", "forky")
RELEASES = (Release("0.10.4", "trixie"), FOR_CHAT)


def parse_version(text: str) -> tuple[int, int] | None:
    """Return major and minor from the output of `nvim --version`; None if it is not Neovim."""
    found = re.search(r"^NVIM v(\d+)\.(\d+)", text, re.MULTILINE)
    return (int(found[1]), int(found[2])) if found else None


def version_of(nvim: Path) -> tuple[int, int] | None:
    """Return the version of a binary; None if it does not start or print one."""
    try:
        done = subprocess.run(
            [str(nvim), "--version"], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse_version(done.stdout)


def on_path(path: str | None = None) -> Path | None:
    """Return the user's own Neovim, unless it is older than 0.10."""
    found = shutil.which("nvim", path=path)
    if found is None:
        return None
    version = version_of(Path(found))
    return Path(found) if version is not None and version >= OLDEST else None


def install(progress: Progress, release: Release, cache: Path, patchelf: Path) -> None:
    """Unpack a release into `{cache}/neovim/{version}`.

    Raises SetupError, and leaves nothing there, if the suite has another series.
    """
    building, folder = cache / "building" / release.version, folder_of(release, cache)
    debian.unpack(progress, release.suite, ["neovim"], building)
    _relocate(progress, building, folder, patchelf)
    _write_wrapper(building / "bin" / "nvim")
    folder.parent.mkdir(exist_ok=True)  # on the same disk as `building`: the rename is atomic
    shutil.rmtree(folder, ignore_errors=True)
    building.rename(folder)
    found = version_of(folder / "bin" / "nvim")
    if found != release.series:
        shutil.rmtree(folder)
        actual = "one that does not start" if found is None else f"{found[0]}.{found[1]}"
        raise SetupError(
            f"Debian {release.suite} should have Neovim {release.version} but has {actual}: "
            "put a Neovim on PATH, or change RELEASES in scripts/setup/neovim.py"
        )


def folder_of(release: Release, cache: Path) -> Path:
    """Return the folder of an installed release; its binary is `bin/nvim`."""
    return cache / "neovim" / release.version


def _relocate(progress: Progress, building: Path, folder: Path, patchelf: Path) -> None:
    """Make the binary use the libc and the libraries that will be in `folder`."""
    libraries = next((building / "usr" / "lib").glob("*-linux-gnu*"))
    interpreter = next(libraries.glob("ld-linux*.so.*"))
    rpath = folder / libraries.relative_to(building)
    # RPATH, not RUNPATH: only RPATH is also used for the libraries of libraries.
    options = ["--set-interpreter", str(rpath / interpreter.name), "--force-rpath"]
    nvim = str(building / "usr" / "bin" / "nvim")
    fault = "cannot adapt the unpacked Neovim: put a Neovim on PATH"
    progress.run([str(patchelf), *options, "--set-rpath", str(rpath), nvim], fault)


def _write_wrapper(path: Path) -> None:
    """Write the script that starts the unpacked Neovim from any folder.

    Neovim finds the bundled parsers in `../lib/nvim` beside its binary.
    """
    path.parent.mkdir()
    path.write_text(
        "#!/bin/sh\n"
        "path=$0\n"
        'if [ -L "$path" ]; then path=$(readlink -f "$path"); fi\n'  # else it costs no program
        'root=$(CDPATH= cd -P -- "${path%/*}/.." && pwd)\n'
        'export VIMRUNTIME="$root/usr/share/nvim/runtime"\n'
        'exec "$root/usr/bin/nvim" "$@"\n'
    )
    path.chmod(0o755)
