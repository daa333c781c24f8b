"""Sessions of the real server, relived through the whole plugin in a real Neovim."""

from pathlib import Path

import pytest
from tests.support.factories import StartNeovim
from tests.support.golden import assert_golden
from tests.ui.recorded import User, prepare, told

GOLDEN = Path(__file__).parent / "golden" / "recordings"
RECORDINGS = [
    *("handshake", "hello", "hello_nochatid", "think", "read", "edit_approved", "edit_rejected"),
    *("shell", "diagnostics", "stop_stream", "commands", "init_minimal", "old_client"),
    *("framing_ctype", "framing_lf", "framing_short", "framing_split", "prompt_early"),
    *("prompt_early_model", "broken_config", "no_models", "task", "mcp", "navigation", "trust"),
    *("login_command", "approval_config", "double_approve", "jobs", "compact_cmd", "contexts"),
    *("default_trust", "project_config", "image_context", "uri_odd", "uri_space"),
    *("uri_trailing_slash", "ask", "subagent"),
]
HARMLESS = {"chat/selectedModelChanged", "chat/selectedAgentChanged"}
"""What the plugin may say that was not recorded: what the user chose."""


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_recorded_session_is_relived(name: str, start_nvim: StartNeovim, tmp_path: Path) -> None:
    story = prepare(name, tmp_path)
    nvim = start_nvim(settings={"server": {"command": story.replay.command}}, columns=120, lines=40)
    User(nvim, story).relive()
    assert_golden(told(nvim), GOLDEN / f"{name}.txt")
    story.replay.assert_as_recorded(nvim)
    report = story.replay.report() or {}
    assert not set(report["unexpected"]) - HARMLESS
