"""Stamps: files that show that a step is finished.

A stamp is inside the result of its step, so removing the result removes the stamp.
"""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Stamp:
    """A file with the fingerprint of everything that the result of a step depends on."""

    path: Path
    fingerprint: str

    def is_valid(self) -> bool:
        """Return whether the step was finished, with the same fingerprint."""
        try:
            return self.path.read_text() == self.fingerprint
        except FileNotFoundError:
            return False

    def put(self) -> None:
        """Write the stamp, when the whole step is done."""
        self.path.write_text(self.fingerprint)


def fingerprint(*ingredients: str | bytes) -> str:
    """Digest what a step depends on.

    This always includes the series of Python, as an environment works only with its own.
    """
    digest = hashlib.sha256(f"{sys.version_info[:2]}".encode())
    for ingredient in ingredients:
        digest.update(b"\0")
        digest.update(ingredient if isinstance(ingredient, bytes) else ingredient.encode())
    return digest.hexdigest()
