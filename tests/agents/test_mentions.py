"""Where the files that a prompt names are put, so that the server reads them."""

from __future__ import annotations

from eca_nvim.agents.base import Prompt
from eca_nvim.agents.eca_mentions import Mentions
from eca_nvim.chat.contexts import (
    Context,
    CursorContext,
    DirectoryContext,
    FileContext,
    Position,
)

LINES = FileContext("/ws/src/io.py", 10, 20, token="@src/io.py:10-20")
FOLDER = DirectoryContext("/ws/src", token="@src/")
ODD = FileContext("/ws/my file.py", token="@my\\ file.py")
CURSOR = CursorContext("/ws/a.py", Position(1, 1), Position(1, 1))


def prompt(text: str, *contexts: Context, chat: str = "c") -> Prompt:
    return Prompt(chat, text, contexts)


def test_the_first_prompt_sends_contexts_and_the_words_as_typed() -> None:
    text, contexts = Mentions().write(prompt("fix @src/io.py:10-20", LINES, CURSOR))
    assert (text, contexts) == ("fix @src/io.py:10-20", (LINES, CURSOR))


def test_later_prompts_name_files_in_the_message_and_repeat_the_first_contexts() -> None:
    mentions = Mentions()
    mentions.write(prompt("fix @src/io.py:10-20", LINES))
    text, contexts = mentions.write(prompt("see @src/ now", FOLDER, CURSOR))
    assert (text, contexts) == ("see @/ws/src now", (LINES, CURSOR))


def test_lines_are_named_as_the_server_reads_them() -> None:
    mentions = Mentions()
    mentions.write(prompt("hello"))
    assert mentions.write(prompt("fix @src/io.py:10-20", LINES)) == (
        "fix @/ws/src/io.py:L10-L20",
        (),
    )


def test_a_path_the_server_cannot_find_in_a_message_stays_a_context() -> None:
    mentions = Mentions()
    mentions.write(prompt("hello"))
    assert mentions.write(prompt("see @my\\ file.py", ODD)) == ("see @my\\ file.py", (ODD,))


def test_every_chat_has_a_first_prompt() -> None:
    mentions = Mentions()
    mentions.write(prompt("hello"))
    _, contexts = mentions.write(prompt("@src/", FOLDER, chat="other"))
    assert contexts == (FOLDER,)


def test_an_echo_reads_as_the_user_typed_it_once() -> None:
    mentions = Mentions()
    mentions.write(prompt("hello"))
    sent, _ = mentions.write(prompt("see @src/", FOLDER))
    assert mentions.read(f"{sent}\n") == "see @src/"
    assert mentions.read("something else\n") == "something else\n"


def test_words_to_a_running_turn_name_files_and_are_echoed_as_typed() -> None:
    mentions = Mentions()
    sent = mentions.write_steer("see @src/ too", [FOLDER, CURSOR])
    assert sent == "see @/ws/src too"
    also = mentions.write_steer("and @src/io.py:10-20", [LINES])
    assert mentions.read(f"{sent}\n{also}\n") == "see @src/ too\nand @src/io.py:10-20\n"
    assert mentions.read(sent) == sent
