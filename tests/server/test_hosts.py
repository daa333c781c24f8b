"""One file names the hosts that the product asks for anything: the list of servers."""

import re

from tests.support.launch import REPOSITORY

HOST = re.compile(r"""https?://(?!example\.com|neovim\.io|host/)[\w-]+\.[\w.-]+""")
"""An address, but not those of examples: in a message, and what the demo agent says."""
OTHER = re.compile(r"\b(?:api\.github\.com|githubusercontent|registry\.npmjs|pypi\.org)")


def test_no_other_file_names_a_host() -> None:
    homes = (REPOSITORY / "rplugin", REPOSITORY / "lua", REPOSITORY / "plugin")
    files = [
        it for home in homes for it in home.rglob("*") if it.suffix in (".py", ".lua", ".json")
    ]
    naming = {
        str(it.relative_to(REPOSITORY))
        for it in files
        if HOST.search(text := it.read_text(encoding="utf-8")) or OTHER.search(text)
    }
    assert naming == {"rplugin/python3/eca_nvim/server/known.json"}
