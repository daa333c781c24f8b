"""The notes of a release come from the changelog."""

import pytest

from scripts.release import notes

CHANGELOG = """# Changelog

## [Unreleased]

## [0.2.0] - 2026-12-01

### Added

- One.

## [0.1.0]

- First.
"""


def test_the_section_of_the_version() -> None:
    assert notes("v0.2.0", CHANGELOG, "0.2.0") == "### Added\n\n- One."
    assert notes("v0.1.0", CHANGELOG, "0.1.0") == "- First."


@pytest.mark.parametrize(
    ("tag", "version", "fault"),
    [
        ("v0.3.0", "0.2.0", "v0.3.0 is not the version in pyproject.toml, 0.2.0: set it there"),
        ("v0.3.0", "0.3.0", "CHANGELOG.md says nothing of 0.3.0: give its section that name"),
    ],
)
def test_what_is_missing_is_said(tag: str, version: str, fault: str) -> None:
    with pytest.raises(SystemExit, match=fault):
        notes(tag, CHANGELOG, version)
