"""Digests of names."""

from hashlib import sha256

from eca_nvim.digests import name_digest

OF_BYTES = bytes(range(256))


def test_a_digest_begins_the_sha_256_of_the_name() -> None:
    assert name_digest(OF_BYTES) == sha256(OF_BYTES).hexdigest()[:16]
