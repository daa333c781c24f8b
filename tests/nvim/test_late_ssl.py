"""OpenSSL is left out of the start, and there for whoever uses it."""

import subprocess
import sys

import pytest

IMPORTS = """
import sys
from eca_nvim.nvim.late_ssl import without_ssl
with without_ssl():
    import asyncio
import anyio._backends._asyncio, pynvim
assert "_ssl" not in sys.modules
"""


@pytest.mark.parametrize(
    "use",
    [
        "import ssl; assert isinstance(ssl.create_default_context(), ssl.SSLContext)",
        "from ssl import SSLError; assert SSLError is sys.modules['ssl'].SSLError",
        "from anyio.streams import tls; tls.ssl.MemoryBIO(); assert tls.ssl.SSLContext.wrap_bio",
        "import ssl; assert not hasattr(ssl, 'nonsense')",
    ],
)
def test_it_is_loaded_by_its_first_use(use: str) -> None:
    code = f"{IMPORTS}\n{use}\nassert '_ssl' in sys.modules"
    ended = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")
