"""Handlers: what each request of the user does; loaded with the first one. Logins, folders."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import PurePath
from typing import Any

from eca_nvim.chat.text.safe_text import one_line, truncate
from eca_nvim.chat.vocabulary import completion, events, login, ops, panels, query_intents
from eca_nvim.chat.vocabulary.bases import Intent
from eca_nvim.path_risks import Folders, UnfitFolder
from eca_nvim.review.ledger import Ledger
from eca_nvim.session.chats import Chats, now
from eca_nvim.session.completion.code import CodeCompletion
from eca_nvim.session.completion.completion import Completion
from eca_nvim.session.files.checkpoints import Checkpoints
from eca_nvim.session.files.turn_recorder import TurnRecorder
from eca_nvim.session.installs import Installs
from eca_nvim.session.login_dialog import LONGEST_TEXT
from eca_nvim.session.panels import Panels
from eca_nvim.session.panels.panel import Panel, Scene
from eca_nvim.session.previews.commits import Commits
from eca_nvim.session.previews.meanwhile import Meanwhile
from eca_nvim.session.previews.questions import Questions
from eca_nvim.session.previews.rewrites import Rewrites
from eca_nvim.session.proposals.diff_tab import EditorFiles
from eca_nvim.session.proposals.hunk_requests import HunkRequests
from eca_nvim.session.requests.comments import CommentRequests
from eca_nvim.session.requests.contexts import Contexts
from eca_nvim.session.requests.images import Images
from eca_nvim.session.requests.review import ReviewRequests
from eca_nvim.session.requests.saved_chats import SavedChats
from eca_nvim.session.requests.search import ChatContent
from eca_nvim.session.requests.templates import Templates
from eca_nvim.session.servers import NamedServer, Servers
from eca_nvim.session.view import Refused, View


def _panel_kinds() -> Mapping[str, type[Panel]]:
    from eca_nvim.session.requests.panel_kinds import KINDS  # noqa: PLC0415 - few requests need them

    return KINDS


class LoginRequests:
    """Handles the user's requests to log in and out."""

    def __init__(self, chats: Chats, servers: Servers) -> None:
        self._chats = chats
        self._servers = servers
        self.table: Mapping[type[Intent], Callable[[Any], object]] = {
            login.ListLogins: self._list,
            login.LogIn: self._log_in,
            login.LogOut: self._log_out,
        }

    def _server(self, chat_id: str) -> NamedServer:
        return self._servers.of(self._chats.get(chat_id))

    async def _list(self, intent: login.ListLogins) -> Sequence[Mapping[str, object]]:
        ways = await (await self._server(intent.chat).process.ready()).login_ways()
        return [
            {
                "id": way.id,
                "name": truncate(one_line(way.name), LONGEST_TEXT),
                "about": truncate(one_line(way.about), LONGEST_TEXT),
                "logged_in": way.logged_in,
            }
            for way in ways
        ]

    async def _log_in(self, intent: login.LogIn) -> None:
        self._server(intent.chat).login.log_in(self._chats.get(intent.chat), intent.way)

    async def _log_out(self, intent: login.LogOut) -> None:
        line = await self._server(intent.chat).login.log_out(intent.way)
        self._chats.apply(self._chats.get(intent.chat), [events.NoticeReceived(line)])


def _change_folder(
    folders: Folders, chats: Chats, servers: Servers, view: View, intent: query_intents.ChangeFolder
) -> Sequence[str]:
    """Add a folder to the workspace or remove it, for all who ask what is in it."""
    try:
        change = folders.drop if intent.removed else folders.add
        folder = change(intent.path)
    except UnfitFolder as fault:
        raise Refused(str(fault)) from fault
    chats.folders_changed()
    name, told = one_line(PurePath(folder).name), list[str]()
    for server in servers:
        agent = server.process.agent
        if agent and (line := agent.folder_changed(folder, removed=intent.removed)):
            told.append(f"{server.name} {line} {name}")
    done = f"the workspace {'no longer has' if intent.removed else 'has'} {one_line(folder)}"
    view.push([ops.Notify("info", "; ".join(told) or done)])
    return [*folders.added]


def request_handlers(
    folders: Folders,
    chats: Chats,
    servers: Servers,
    view: View,
    ledger: Ledger,
    recorder: TurnRecorder,
    files: EditorFiles,
    images: Images,
    contexts: Contexts,
    templates: Templates,
    do: Callable[[Intent], Awaitable[Any]],
    checkpoints: Callable[[], Checkpoints],
) -> Mapping[type[query_intents.Intent], Callable[[Any], Any]]:
    """Return what handles each request; what a handler returns, or after a while, answers it.

    do: does what any intent says.
    """

    async def restore(intent: panels.RestoreCheckpoint) -> object:
        from eca_nvim.session.panels.checkpoints import restore_for_script  # noqa: PLC0415 - as above

        return await restore_for_script(scene, intent)

    code = CodeCompletion(servers, chats.folders)
    installs = cache(partial(Installs, servers, chats.changed))
    meanwhile = Meanwhile(servers, view, checkpoints)
    scene = Scene(chats, servers, view, ledger, do, checkpoints, installs)
    return {
        query_intents.ChangeFolder: partial(_change_folder, folders, chats, servers, view),
        query_intents.CheckContext: contexts.check,
        query_intents.MeasureContexts: contexts.measure,
        query_intents.ReadDiff: contexts.read_diff,
        query_intents.PasteImage: images.paste,
        completion.Complete: Completion(chats, servers, view, templates.items).answer,
        completion.CompleteCode: code.complete,
        completion.CancelCode: code.cancel,
        completion.ListTemplates: templates.list,
        completion.PrepareTemplate: templates.prepare,
        completion.ExpandTemplate: templates.expand,
        **LoginRequests(chats, servers).table,
        **ChatContent(chats, images, view).table,
        **SavedChats(chats, servers, view, checkpoints).table,
        **HunkRequests(chats.get, chats.show, now, ledger.snapshot).table,
        **CommentRequests(servers.persistence, chats, ledger, files, view).table,
        **ReviewRequests(ledger, recorder, checkpoints, chats, files, view).table,
        **Commits(servers, view, lambda: chats.folders).table,
        **Rewrites(servers, view, lambda: chats.folders, contexts.read, meanwhile).table,
        **Questions(servers, chats, view, contexts.read, meanwhile).table,
        panels.RestoreCheckpoint: restore,
        **Panels(scene, _panel_kinds).table,
    }
