"""Names are digested without OpenSSL, which the start of the host does without."""

import subprocess
import sys
from hashlib import sha256

import pytest

from eca_nvim import digests
from eca_nvim.digests import name_digest

OF_BYTES = bytes(range(256))
START = """
import sys
from eca_nvim.nvim.late_ssl import without_ssl
with without_ssl():
    import pynvim
import eca_nvim.nvim.app
from pathlib import Path
from eca_nvim.server.find import ServerCommand
from eca_nvim.store import Store
Store(Path("/tmp"), "/project")
ServerCommand(("eca",), "eca", {}).identity
print(*sys.modules)
"""


def test_a_digest_begins_the_sha_256_of_the_name() -> None:
    assert name_digest(OF_BYTES) == sha256(OF_BYTES).hexdigest()[:16]


def test_a_python_without_a_sha_256_of_its_own_has_hashlib(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("_sha2", "_sha256"):
        monkeypatch.setitem(sys.modules, module, None)
    digests._module.cache_clear()
    assert name_digest(OF_BYTES) == sha256(OF_BYTES).hexdigest()[:16]
    digests._module.cache_clear()


def test_nothing_at_the_start_loads_openssl() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", START], capture_output=True, text=True, check=True
    )
    assert not {"hashlib", "_hashlib", "_ssl"} & set(ended.stdout.split())
