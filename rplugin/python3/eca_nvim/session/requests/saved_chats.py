"""The chats that the agent keeps: listed, resumed, paged, renamed, cleared and deleted."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from typing import Any, Final, NamedTuple

from anyio import move_on_after
from anyio.lowlevel import checkpoint
from msgspec.structs import asdict

from eca_nvim.agents.abilities import AgentRefused, Archive, ChatSummary, CursorExpired, OpenedChat
from eca_nvim.agents.base import AgentFault
from eca_nvim.chat.model.attempts import kept_chats
from eca_nvim.chat.model.blocks import Changes, TextBlock
from eca_nvim.chat.model.chat import Chat, TitleOwner
from eca_nvim.chat.text.safe_text import one_line, truncate
from eca_nvim.chat.user_actions.earlier_messages import (
    FOLLOWS,
    show_above,
    show_in_parts,
    show_incomplete,
    show_loading,
    show_older,
)
from eca_nvim.chat.user_actions.prompts import tell_with_prompt
from eca_nvim.chat.vocabulary import events, ops
from eca_nvim.chat.vocabulary import query_intents as intents
from eca_nvim.chat.vocabulary.previews import ASIDE
from eca_nvim.review.git import GitFailed
from eca_nvim.session.chats import Chats, now
from eca_nvim.session.files.checkpoints import Checkpoints
from eca_nvim.session.requests import history_edits
from eca_nvim.session.requests.attempts import Attempts
from eca_nvim.session.requests.history_edits import ChangingHistories
from eca_nvim.session.servers import NamedServer, Servers
from eca_nvim.session.view import View

CHECKPOINTS_SECONDS: Final = 2.0
"""Time for the list of checkpoints: a tree may be under way."""
LONGEST_LAST: Final = 1000
LAST_CELLS: Final = 100
PAGE = 100
"""Messages that are loaded at once."""


class KeptPrompts(NamedTuple):
    """The prompts of a chat that checkpoints have, newest first, and the files it has changed."""

    texts: list[str]
    files: set[str]


class SavedChats:
    """Handles the user's requests about saved chats and histories."""

    def __init__(
        self,
        chats: Chats,
        servers: Servers,
        view: View,
        checkpoints: Callable[[], Checkpoints],
    ) -> None:
        self._checkpoints = checkpoints
        self._chats = chats
        self._servers = servers
        self._view = view
        self._histories = ChangingHistories(chats, servers)
        self.table: Mapping[type[intents.Intent], Callable[[Any], object]] = {
            intents.ListChats: self._list,
            intents.ResumeChat: self._resume,
            intents.LoadOlder: self._load_older,
            intents.RenameChat: self._rename,
            intents.ClearMessages: self._clear,
            intents.DeleteChat: self._delete,
            **history_edits.HistoryEdits(chats, servers, self._histories).table,
            **Attempts(chats, servers, self._histories).table,
        }

    async def _archive(self, chat: Chat) -> Archive:
        return await self._archive_of(self._servers.of(chat).name)

    async def _archive_of(self, server: str | None) -> Archive:
        return (await self._servers.get(server).process.ready()).archive

    async def _list(self, wanted: intents.ListChats) -> Sequence[Mapping[str, object]]:
        chats = await (await self._archive_of(wanted.server)).list_chats()
        kept = await self._kept_prompts()
        listed = [it for it in chats if not it.id.startswith(ASIDE)]
        if words := wanted.words.casefold().split():
            seen = {it.id: self._seen(it, kept.get(it.id)).casefold() for it in listed}
            listed = [it for it in listed if all(word in seen[it.id] for word in words)]
        return [self._row(it, kept.get(it.id)) for it in listed]

    async def _kept_prompts(self) -> Mapping[str, KeptPrompts]:
        """Return what checkpoints know of chats; nothing if they are off, or take too long."""
        checkpoints, found = self._checkpoints(), dict[str, KeptPrompts]()
        last = dict[str, int]()
        with move_on_after(CHECKPOINTS_SECONDS), suppress(GitFailed):
            await checkpoints.load()
        for each in checkpoints.known or ():  # the newest first
            chat = found.setdefault(str(each.about.get("chat", "")), KeptPrompts([], set()))
            if each.about.get("kind") == "prompt":
                chat.texts.append(str(each.about.get("prompt", "")))
                turn = each.about.get("turn")
                last.setdefault(str(each.about["chat"]), turn if isinstance(turn, int) else 0)
            elif isinstance(files := each.about.get("files"), list):
                chat.files.update(map(str, files))
        self._chats.follow(last)  # another Neovim may have gone on with a chat meanwhile
        return found

    def _texts(self, chat_id: str) -> Iterator[str]:
        """Yield the texts of a chat that is here, the last one first."""
        chat = self._chats.table.get(chat_id)
        for block in reversed([] if chat is None else [*chat.blocks.values()]):
            if isinstance(block, TextBlock) and block.text.strip():
                yield block.text

    def _seen(self, summary: ChatSummary, kept: KeptPrompts | None) -> str:
        texts = kept.texts if kept is not None else ()
        return "\n".join([summary.title or "", *texts, *self._texts(summary.id)])

    def _row(self, summary: ChatSummary, kept: KeptPrompts | None) -> Mapping[str, object]:
        row = asdict(summary) | {"open": self._is_open(summary.id)}
        prompts = kept.texts if kept is not None else ()
        last = next(chain(self._texts(summary.id), prompts), None)
        row["last"] = None if last is None else truncate(one_line(last[:LONGEST_LAST]), LAST_CELLS)
        row["files"] = (len(kept.files) if kept is not None else 0) or None
        row["created"], row["updated"] = row.pop("created_ms"), row.pop("updated_ms")
        return {
            key: one_line(value) if isinstance(value, str) and key != "id" else value
            for key, value in row.items()
            if value is not None
        }

    def _is_open(self, chat_id: str) -> bool:
        chat = self._chats.table.get(chat_id)
        return chat is not None and not chat.is_blank

    async def _resume(self, intent: intents.ResumeChat) -> None:
        chat = self._chats.table.get(intent.chat)
        server = self._servers.get(intent.server if chat is None else chat.server_name)
        with server.options.loading(intent.chat):
            async with self._histories.change(intent.chat):
                is_open = self._is_open(intent.chat)  # by the same request, made twice
                rest = None if is_open else await self._open(intent, chat, server)
            if rest is not None:
                await self._show_rest(history_edits.known(self._chats, intent.chat), rest)

    async def _open(
        self, intent: intents.ResumeChat, known: Chat | None, server: NamedServer
    ) -> Iterator[Changes] | None:
        """Open a chat and show its newest page; return what `_show_rest` shows, if it is there.

        known: the chat when the user asked, if it was there; nothing is shown if it is gone now.
        """
        try:
            archive = await self._archive_of(server.name)
            with server.options.opened_again(intent.chat):
                opened = await archive.open_chat(intent.chat, PAGE)
        except AgentRefused:
            if not intent.quiet:
                raise
            return None
        if known is not None and known.forgotten:
            return None
        chat = self._chats.get(intent.chat, intent.server, again=not intent.quiet)
        rest = self._show(chat, opened)
        if note := self._servers.persistence.kept("note", chat.id):
            self._servers.persistence.keep_note(chat.id, "")
            self._chats.show(tell_with_prompt(chat, note, now()))
        if intent.instead != chat.id:
            self._forget_blank(intent.instead)
        return rest

    def _forget_blank(self, chat_id: str | None) -> None:
        """Remove a chat if it has no messages, and none waits to be sent."""
        chat = self._chats.table.get(chat_id) if chat_id is not None else None
        if chat is not None and chat.is_blank and not chat.queue:
            self._servers.of(chat).forget(chat)
            self._chats.forget(chat.id)

    def _show(self, chat: Chat, opened: OpenedChat, *, replaces: bool = False) -> Iterator[Changes]:
        """Show the newest page of a chat, its title and options; return what `_show_rest` shows.

        replaces: instead of what is shown. Else that was said meanwhile, and stays below.
        """
        if replaces or chat.is_blank:
            parts = show_in_parts(chat, opened.page, now())
        else:
            parts = iter([show_above(chat, opened.page, now())])
        self._chats.show(next(parts))
        if opened.title is not None:
            self._chats.apply(chat, [events.TitleChanged(opened.title)])
        self._servers.of(chat).options.open_chat(chat)
        return parts

    async def _show_rest(self, chat: Chat, rest: Iterator[Changes]) -> None:
        """Show the earlier parts of a long page, each while Neovim draws the one before."""
        await checkpoint()
        with self._drawn_again_if_it_fails(chat):
            for part in rest:
                if chat.forgotten:
                    return
                self._chats.show(part)
                await checkpoint()

    @contextmanager
    def _drawn_again_if_it_fails(self, chat: Chat) -> Iterator[None]:
        """Draw what there is of a chat again if a page of it fails, and raise that fault."""
        try:
            yield
        except Exception:
            self._chats.show(show_incomplete(chat, now()))
            raise

    async def _load_older(self, intent: intents.LoadOlder) -> None:
        chat = history_edits.known(self._chats, intent.chat)
        older = chat.older
        if older is None or older.block.loading:
            return
        if older.cursor == FOLLOWS:  # the page before it could not be shown
            await self._reload(chat)
            return
        self._chats.show(show_loading(chat, now(), loading=True))
        try:
            page = await (await self._archive(chat)).history(chat.id, older.cursor, PAGE)
        except CursorExpired:
            await self._reload(chat)
        except (AgentRefused, AgentFault):
            self._chats.show(show_loading(chat, now(), loading=False))
            raise
        else:
            if chat.older is older:
                with self._drawn_again_if_it_fails(chat):
                    self._chats.show(show_older(chat, page, now()))

    async def _reload(self, chat: Chat) -> None:
        """Show the newest page of a chat again, after its history was changed elsewhere."""
        self._chats.show(show_loading(chat, now(), loading=False))
        async with self._histories.change(chat.id):
            history_edits.require_idle(chat)
            opened = await (await self._archive(chat)).open_chat(chat.id, PAGE)
            if chat.forgotten:
                return
            rest = self._show(chat, opened, replaces=True)
        line = "this chat's history has changed: its newest messages are shown again"
        self._view.push([ops.Notify("info", line)])
        await self._show_rest(chat, rest)

    async def _rename(self, intent: intents.RenameChat) -> None:
        chat = history_edits.known(self._chats, intent.chat)
        if chat.is_blank:
            raise AgentRefused("the server does not have this chat yet: send a prompt first")
        archive = await self._archive(chat)
        chat.title_owner = TitleOwner.AGENT  # the agent announces the new title
        await archive.rename(chat.id, intent.title)

    async def _clear(self, intent: intents.ClearMessages) -> None:
        chat = history_edits.known(self._chats, intent.chat)
        async with self._histories.change(chat.id):
            history_edits.require_idle(chat)
            if not chat.is_blank:
                archive = await self._archive(chat)
                await archive.clear(chat.id)
                await self._delete_attempts(chat, archive)
            self._chats.apply(chat, [events.ChatCleared(usage=True)])
            self._servers.of(chat).incoming.show_welcome(chat)

    async def _delete_attempts(self, chat: Chat, archive: Archive) -> None:
        """Delete the answers of a chat that are put aside, unless the user has opened them."""
        for kept in kept_chats(chat.root.blocks):
            if kept not in self._chats.table:
                with suppress(AgentRefused):
                    await archive.delete(kept)

    async def _delete(self, intent: intents.DeleteChat) -> None:
        chat = history_edits.known(self._chats, intent.chat)
        if not chat.is_blank and not chat.deleted:  # else the agent does not have it
            archive = await self._archive(chat)
            left = await archive.delete(chat.id)
            await self._delete_attempts(chat, archive)
            self._view.push([ops.Notify("warn", left)] if left else [])
        announced = chat.deleted
        if not announced:
            self._chats.apply(chat, [events.ChatDeleted()])
        self._servers.of(chat).forget(chat)
        self._chats.forget(chat.id, announced=announced)
