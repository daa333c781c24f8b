"""Which session a chat is bound to, kept for the next Neovim and seen by others."""

import os
import subprocess
import sys
from pathlib import Path

import msgpack
from tests.session.rig import Recorder

from eca_nvim.agents.eca.older.chat_ids import ChatIds
from eca_nvim.nvim.agents import KeptChatIds, KeptSessions
from eca_nvim.session import Persistence
from eca_nvim.store import MOST_SESSIONS, SavedSession, SavedState, Store, StoreChanges, merge


def neovim(folder: Path, owner: int = os.getpid()) -> Persistence:
    """Return what one Neovim knows of the project."""
    persistence = Persistence(Store(folder, "project"), Recorder(), owner)
    persistence.load()
    return persistence


def test_a_chat_is_bound_in_the_next_neovim(tmp_path: Path) -> None:
    first = neovim(tmp_path)
    assert KeptSessions("qwen", first).keep("chat", "s1") is None
    KeptSessions("codex", first).keep("other", "s1")
    for title in ("one", "two", ""):
        KeptSessions("qwen", first).keep("chat", "s1", title)
    first.close()
    later = KeptSessions("qwen", neovim(tmp_path))
    assert (later.session_of("chat"), later.session_of("other")) == ("s1", None)
    assert [it[:3] for it in later.used()] == [("chat", "s1", "one")]
    bound, free = later.chats_of(["s1", "s\ud800"])
    assert bound == "chat"
    assert [free] == [*KeptSessions("qwen", neovim(tmp_path)).chats_of(["s\ud800"])]
    assert [free] != [*KeptSessions("codex", neovim(tmp_path)).chats_of(["s\ud800"])]


def test_a_chat_that_got_a_new_session_does_not_hide_its_old_one(tmp_path: Path) -> None:
    sessions = KeptSessions("qwen", neovim(tmp_path))
    [chat] = sessions.chats_of(["old"])
    sessions.keep(chat, "new")
    old, new = sessions.chats_of(["old", "new"])
    assert new == chat
    assert old != chat
    assert sessions.session_of(old) is None


def test_a_chat_that_is_gone_is_forgotten(tmp_path: Path) -> None:
    first = neovim(tmp_path)
    sessions = KeptSessions("qwen", first)
    sessions.keep("chat", "s1")
    sessions.keep("stays", "s2")
    first.write()
    KeptSessions("codex", first).drop("chat")  # a server forgets its own chats alone
    assert sessions.session_of("chat") == "s1"
    sessions.drop("chat")
    first.close()
    later = KeptSessions("qwen", neovim(tmp_path))
    assert (later.session_of("chat"), later.session_of("stays")) == (None, "s2")


def test_a_session_that_another_neovim_uses_is_noticed_once(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        other = neovim(tmp_path, process.pid)
        for session in ("s1", "s2"):
            KeptSessions("qwen", other).keep(f"chat of {session}", session)
        KeptSessions("codex", other).keep("third", "s3")
        other.write()
        here = KeptSessions("qwen", neovim(tmp_path))
        assert [here.keep("a", "s1"), here.keep("a", "s1")] == [process.pid, None]
        assert here.keep("c", "s3") is None
    assert here.keep("b", "s2") is None, "it has ended"


def test_nothing_is_noticed_without_a_file(tmp_path: Path) -> None:
    assert KeptSessions("qwen", Persistence(None, Recorder(), 1)).keep("a", "s") is None
    damaged = neovim(tmp_path)
    Store(tmp_path, "project").path.write_bytes(b"no such thing")
    assert KeptSessions("qwen", damaged).keep("a", "s") is None


def test_the_sessions_used_last_are_kept() -> None:
    saved = SavedState()
    for number in range(MOST_SESSIONS + 3):
        used = SavedSession("qwen", f"s{number}", float(number), 1)
        saved = merge(saved, StoreChanges(sessions={f"chat{number}": used}))
    assert len(saved.sessions) == MOST_SESSIONS
    assert "chat2" not in saved.sessions


def test_a_file_without_sessions_is_read(tmp_path: Path) -> None:
    store = Store(tmp_path, "project")
    store.write(StoreChanges({"a prompt": 1.0}))
    table = msgpack.unpackb(store.path.read_bytes())
    del table["sessions"]
    store.path.write_bytes(msgpack.packb(table))
    assert store.read() == SavedState({"a prompt": 1.0})


def test_a_session_without_a_title_is_read(tmp_path: Path) -> None:
    """The first files had none."""
    store = Store(tmp_path, "project")
    store.write(StoreChanges(sessions={"chat": SavedSession("qwen", "s1", 1.0, 1, "title")}))
    table = msgpack.unpackb(store.path.read_bytes())
    del table["sessions"]["chat"][-1]
    store.path.write_bytes(msgpack.packb(table))
    assert store.read().sessions == {"chat": SavedSession("qwen", "s1", 1.0, 1)}


def test_chats_of_a_server_that_exchanged_their_ids_have_them_in_the_next_neovim(
    tmp_path: Path,
) -> None:
    first = neovim(tmp_path)
    ids = ChatIds(KeptChatIds(KeptSessions("eca", first)))
    for chat in ("chat", "copy", "gone"):
        ids.opened(chat)
    ids.exchange("chat", "copy")
    ids.exchange("gone", "other")
    ids.forgotten("gone")
    ChatIds(KeptChatIds(KeptSessions("another", first))).exchange("a", "b")
    first.close()
    later = ChatIds(KeptChatIds(KeptSessions("eca", neovim(tmp_path))))
    assert [later.theirs(it) for it in ("chat", "copy", "gone")] == ["copy", "chat", "gone"]
    assert [later.ours(it) for it in ("chat", "copy", "new")] == ["copy", "chat", "new"]
    assert len(KeptChatIds(KeptSessions("eca", neovim(tmp_path)))) == 3
