"""`python3 -m scripts.release v0.1.0` prints the notes of a release: its section of the changelog.

The version in `pyproject.toml` must be the same.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def notes(tag: str, changelog: str, version: str) -> str:
    """Return the section of a version; exits with a message if there is none, or it is empty."""
    wanted = tag.removeprefix("v")
    if wanted != version:
        sys.exit(f"{tag} is not the version in pyproject.toml, {version}: set it there")
    sections = re.split(r"(?m)^## \[(.+?)\].*$", changelog)
    found = dict(zip(sections[1::2], sections[2::2], strict=True)).get(wanted, "").strip()
    if not found:
        sys.exit(f"CHANGELOG.md says nothing of {wanted}: give its section that name")
    return found


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python3 -m scripts.release TAG")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    print(notes(sys.argv[1], (ROOT / "CHANGELOG.md").read_text(), project["version"]))
