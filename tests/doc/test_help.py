"""The help is true: defaults, keys, links of highlight groups, signs, data of events."""

import re

from tests.doc import documents
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.launch import REPOSITORY

from eca_nvim.chat.model.display_settings import DEFAULT_ICONS


def test_defaults_of_options(nvim: Neovim) -> None:
    entries = nvim.lua(
        "return vim.tbl_map(function(entry) "
        "  return entry.default == nil and 'found' or ('`%s`'):format(vim.inspect(entry.default)) "
        "end, require('eca.config').entries)"
    )
    text = "\n".join(documents.help_lines()).replace("'", '"')
    assert dict(re.findall(r"(?m)^([a-z_.]+) {2,}.*default: ([^,\n]+)", text)) == entries


def test_default_keys(nvim: Neovim) -> None:
    actions = nvim.lua("return require('eca.keymaps.actions')")
    kinds = ("chat", "input", "insert", "changes", "panel", "preview", "answer")
    wanted = {
        name: {kind: set(action[kind]) for kind in kinds if action[kind]}
        for name, action in actions.items()
    }
    for name, action in actions.items():
        if action["pending"]:  # keys in the chat, too
            wanted[name]["chat"] = wanted[name].get("chat", set()) | set(action["pending"])
    assert {name: _keys(documents.told(f"<Plug>(Eca{name})")) for name in actions} == wanted


def _keys(paragraph: str) -> dict[str, set[str]]:
    """Read "Keys: chat <C-s>, input <CR> <C-s>"."""
    _, _, listed = paragraph.partition("Keys: ")
    places = [place.split() for place in listed.split("\n")[0].split(", ") if place]
    return {place[0]: set(place[1:]) for place in places if place[0] not in ("on", "the")}


def test_file_types() -> None:
    code = "\n".join(path.read_text() for path in (REPOSITORY / "lua").rglob("*.lua"))
    there = set(re.findall(r"'filetype', '(eca-\w+)'", code))
    there |= {f"eca-{kind}" for kind in ("chat", "input")}  # both by one line
    assert documents.things(r"ft-(eca-\w+)") == there
    assert set(re.findall(r"`(eca-\w+)`", documents.told("eca-filetypes"))) <= there


def test_links_of_highlight_groups(nvim: Neovim) -> None:
    groups = nvim.lua("return require('eca.ui.highlights').groups")
    told = {group["name"]: documents.told(f"hl-{group['name']}").split()[1] for group in groups}
    assert told == {group["name"]: group["link"] for group in groups}


def test_fields_of_the_status() -> None:
    declared = (REPOSITORY / "lua" / "eca" / "state" / "mirror.lua").read_text()
    status = declared.partition("---@class eca.Status\n")[2].partition("\n\n")[0]
    listed = "\n".join(re.findall(r"(?m)^ {8}.*", documents.told("eca.status()")))
    fields = re.findall(r"---@field (\w+)", status)
    assert set(re.findall(r"`(\w+)`", listed)) == set(fields)


def test_icons() -> None:
    listed = re.findall(r"`(\w+)` (\S)[,.]", documents.told("eca-option-icons"))
    assert dict(listed) == dict(DEFAULT_ICONS)


def test_data_of_events(start_nvim: StartNeovim, demo_server: list[str]) -> None:
    settings = {"server": {"command": demo_server}}
    nvim = start_nvim(settings=settings, columns=120, lines=40)
    nvim.lua(
        "fired = {} "
        "vim.api.nvim_create_autocmd('User', { pattern = 'Eca*', callback = function(event) "
        "  fired[event.match] = event.data "
        "end })"
    )
    nvim.keys(":EcaChat fix the greeting<CR>")
    nvim.wait_until("fired.EcaApprovalRequested")
    nvim.keys(":Eca approve<CR>")
    nvim.wait_until("fired.EcaTurnFinished")
    nvim.keys(":EcaChat ask me something<CR>")
    nvim.wait_until("fired.EcaQuestionAsked")
    nvim.keys(":Eca new<CR>")
    nvim.keys(":Eca delete!<CR>")
    nvim.wait_until("fired.EcaChatClosed")
    nvim.command("tabnew")
    nvim.lua("require('eca').rewrite({ prompt = 'as it was' })")
    nvim.keys(":Eca quit<CR>")
    nvim.wait_until("fired.EcaServerExited")
    nvim.lua("require('eca.view.ops').functions.jobs({ server = 'eca', jobs = {} })")  # it has none
    fired = nvim.lua("return fired")
    assert {name: set(data) for name, data in fired.items()} == {
        name: set(re.findall(r"{(\w+)}", documents.told(name))) for name in fired
    }
    assert documents.things(r"(Eca[A-Z]\w+)") == set(fired)
