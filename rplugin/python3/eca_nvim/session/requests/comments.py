"""Comments: keeps the user's comments, finds where they stand now, and hands them out to be sent.

Rules kept here:
- A comment is for the agent of its chat. If no open chat has it, because its Neovim has ended, it
  is for whichever chat asks, until its own is open again.
- Those that are addressed go when the next ones are sent.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from eca_nvim.chat.model.comments import (
    Comment,
    CommentState,
    Texts,
    present,
    prompt,
    sent,
    to_send,
)
from eca_nvim.chat.vocabulary import ops, query_intents, states
from eca_nvim.review.change_list import Present
from eca_nvim.review.ledger import Ledger
from eca_nvim.session.chats import Chats
from eca_nvim.session.persistence import Persistence
from eca_nvim.session.proposals.diff_tab import EditorFiles
from eca_nvim.session.requests.review import present_files
from eca_nvim.session.view import View

NOTHING = "no comments to send"
_SHOWN = ("id", "text", "paths", "line", "count", "before", "subject", "turn", "state")


class CommentRequests:
    """Handles what the user does with comments."""

    def __init__(
        self, persistence: Persistence, chats: Chats, ledger: Ledger, files: EditorFiles, view: View
    ) -> None:
        self._persistence = persistence
        self._chats = chats
        self._ledger = ledger
        self._files = files
        self._view = view
        self.table: Mapping[type[query_intents.Intent], Callable[[Any], object]] = {
            query_intents.PutComment: self._put,
            query_intents.CheckComments: self._check,
            query_intents.SendComments: self._send,
        }

    def _of(self, chat: str) -> Sequence[Comment]:
        return [
            it
            for it in self._persistence.comments
            if it.chat == chat
            or (it.chat not in self._chats.table and it.state is not CommentState.ADDRESSED)
        ]

    def _show(self, chat: str) -> None:
        items = [{name: getattr(it, name) for name in _SHOWN} for it in self._of(chat)]
        self._view.push([ops.SetComments(chat, items)])

    def _put(self, intent: query_intents.PutComment) -> None:
        self._persistence.put_comment(intent)
        self._show(self._chats.get(intent.chat).id)  # not of one that was deleted

    async def _texts(self, comments: Sequence[Comment]) -> Texts:
        paths = [path for it in comments for path in it.paths]
        files = await present_files(paths, self._files, self._ledger)
        return Texts({path: _text(it) for path, it in files.items()})

    async def _check(self, intent: query_intents.CheckComments) -> None:
        texts = await self._texts(self._of(intent.chat))
        comments = self._of(intent.chat)  # of now
        is_running = self._chats.get(intent.chat).turn.state is not states.Turn.IDLE
        found = {it.id: present(it, texts, is_running=is_running) for it in comments}
        changed = {it.id: found[it.id] for it in comments if it != found[it.id]}
        self._persistence.keep_comments(changed)
        self._show(intent.chat)

    async def _send(self, intent: query_intents.SendComments) -> Mapping[str, object] | None:
        texts = await self._texts(self._of(intent.chat))
        comments, chat = self._of(intent.chat), self._chats.get(intent.chat)
        chosen = [sent(it, texts) for it in to_send(comments)]
        if not chosen:
            self._view.push([ops.Notify("info", NOTHING)])
            return None
        done = [it.id for it in comments if it.state is CommentState.ADDRESSED]
        kept = {it.id: replace(it, chat=chat.id) for it in chosen}
        self._persistence.keep_comments({**dict.fromkeys(done), **kept})
        self._show(chat.id)
        return {
            "text": prompt(chosen, chat.settings.relative),
            "typed": "\n".join(it.text for it in chosen),
            "count": len(chosen),
        }


def _text(file: Present) -> str | None:
    """Return the text of a file; of one that has none, a digest."""
    return None if file.disk.is_absent and file.unsaved is None else file.text or file.fingerprint
