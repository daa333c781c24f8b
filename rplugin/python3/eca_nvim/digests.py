"""Digests of names and texts, and ids that nobody can guess."""

from hashlib import sha256


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text, whatever the form of its line ends, as Neovim does."""
    content = text.replace("\r\n", "\n").replace("\r", "\n").encode(errors="surrogateescape")
    return sha256(content).hexdigest()


def name_digest(name: bytes) -> str:
    """Return 16 hexadecimal digits of the SHA-256 of a short text."""
    return sha256(name).hexdigest()[:16]


def new_id() -> str:
    """Return a random UUID."""
    from uuid import uuid4  # noqa: PLC0415 - it loads `platform`: 1.5 ms of the start

    return str(uuid4())
