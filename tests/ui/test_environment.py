"""The environment of the server and its processes has nothing that leads to Neovim."""

from pathlib import Path

from tests.support.factories import StartNeovim

from eca_nvim.guardian import MARK
from eca_nvim.spawn import LINKS, LINKS_FROM, LINKS_PYTHON, OPENERS

OF_SHELLS = {"_", "OLDPWD", "PWD", "SHLVL"}
SERVER = """
env -0 > "$SEEN/server"
(sh -c 'env -0' > "$SEEN/begun" && mv "$SEEN/begun" "$SEEN/grandchild") &
exec cat > /dev/null
"""


def variables(path: Path) -> dict[str, str]:
    """Read what `env -0` or the system tells of a process."""
    entries = (entry.partition("=") for entry in path.read_text().split("\0") if entry)
    return {name: value for name, _, value in entries if name not in OF_SHELLS}


def test_no_process_of_the_server_can_find_neovim(start_nvim: StartNeovim, tmp_path: Path) -> None:
    outer = {"NVIM_LISTEN_ADDRESS": f"{tmp_path}/socket", "MYVIMRC": "/outer", "VIM": "/outer"}
    users = {"PYTHONPATH": "/mine", "ECA_CONFIG": "{}", "SEEN": str(tmp_path)}
    own = {"VIMRUNTIME": "as the user says", "ONE_MORE": "1"}
    server = {"command": ["sh", "-c", SERVER], "env": own}
    nvim = start_nvim(settings={"server": server}, environment={**outer, **users})
    nvim.keys(":EcaChat<CR>")
    nvim.wait_for((tmp_path / "grandchild").exists, "the grandchild")
    begun = variables(Path(f"/proc/{nvim.pid}/environ"))
    log = begun.pop("NVIM_LOG_FILE")
    wanted = {name: value for name, value in begun.items() if name not in outer} | own
    for process in ("server", "grandchild"):
        found = variables(tmp_path / process)
        assert found.pop(MARK)
        assert found.pop(LINKS_FROM) == "eca"
        assert found.pop(LINKS).endswith("/socket")
        assert found.pop(LINKS_PYTHON).endswith("python")
        assert found.pop("BROWSER") == f"{OPENERS}/xdg-open"
        assert found == wanted | {"PATH": f"{OPENERS}:{wanted['PATH']}"}
    assert nvim.eval("$NVIM_LOG_FILE") == log
    assert nvim.eval("v:servername")
