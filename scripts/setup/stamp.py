"""Stamps: how a finished step is recognised the next time, for the price of reading a file.

A stamp lies inside what it vouches for, so that removing the one removes the other.
"""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Stamp:
    """A file that holds the fingerprint of what a step was made from."""

    path: Path
    fingerprint: str

    def is_valid(self) -> bool:
        """Return whether the step was finished, from the same ingredients."""
        try:
            return self.path.read_text() == self.fingerprint
        except FileNotFoundError:
            return False

    def put(self) -> None:
        """Vouch for the step; to be called when all of it is done."""
        self.path.write_text(self.fingerprint)


def fingerprint(*ingredients: str | bytes) -> str:
    """Digest what a step depends on.

    The series of Python is always one: an environment serves only its own.
    """
    digest = hashlib.sha256(f"{sys.version_info[:2]}".encode())
    for ingredient in ingredients:
        digest.update(b"\0")
        digest.update(ingredient if isinstance(ingredient, bytes) else ingredient.encode())
    return digest.hexdigest()
