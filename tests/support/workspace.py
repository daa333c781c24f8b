"""The folder that recorded sessions worked in, as far as the recordings show it."""

from pathlib import Path

FILES = {
    "README.md": "# Sums\n\nA small library that adds and subtracts.\n",
    "src/calc.py": (
        "def add(a, b):\n    return a + b\n\n\n"
        "def sub(a, b):\n    return a - b\n\n\n"
        "print(add(1, 2))\n"
    ),
    "src/mod.lua": "local M = {}\n\nfunction M.add(a, b)\n  return a + b\nend\n\nreturn M\n",
}


def make_workspace(folder: Path) -> Path:
    """Write the files into a new folder and return it."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder
