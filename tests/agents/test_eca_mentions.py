"""Where contexts are put in a prompt, so that the server really reads them."""

from __future__ import annotations

import gc
import re
import tracemalloc
from pathlib import Path

import pytest

from eca_nvim.agents.eca.prompts import Mentions, user_text, wire_contexts
from eca_nvim.chat.vocabulary.contexts import (
    Context,
    CursorContext,
    DirectoryContext,
    FileContext,
    ImageContext,
    PathMention,
    Position,
    ResourceContext,
    TextContext,
    WebContext,
)
from eca_nvim.chat.vocabulary.effects import Prompt

LINES = FileContext("/ws/src/io.py", 10, 20, token="@src/io.py:10-20")
FOLDER = DirectoryContext("/ws/src", token="@src/")
ALWAYS = FileContext("/ws/src/io.py", 10, 20)
CURSOR = CursorContext("/ws/a.py", Position(1, 1), Position(1, 1))
PAGE = WebContext("https://example.org/x")
OUTPUT = TextContext("term://make", "boom")

SERVER = re.compile(r"@([/~\.][^\s:]+)(?::L(\d+)-L(\d+))?")
"""How the server finds what a message names, word for word."""


def prompt(text: str, *contexts: Context, chat: str = "c") -> Prompt:
    return Prompt(chat, text, contexts)


def read_by_server(message: str) -> list[tuple[str, str, str]]:
    """Return path, first and last line of all that the server reads with a message."""
    return SERVER.findall(message)


@pytest.fixture
def mentions() -> Mentions:
    """Begin a chat `c` with an answered prompt without contexts."""
    mentions = Mentions()
    mentions.write(prompt("hello"))
    mentions.answered("c")
    return mentions


def test_the_first_prompt_sends_contexts_and_the_words_as_typed() -> None:
    text, contexts = Mentions().write(prompt("fix @src/io.py:10-20", LINES, CURSOR))
    assert (text, contexts) == ("fix @src/io.py:10-20", (LINES, CURSOR))


def test_later_prompts_name_files_in_the_message_and_repeat_what_was_typed_first() -> None:
    mentions = Mentions()
    mentions.write(prompt("fix @src/io.py:10-20", LINES))
    text, contexts = mentions.write(prompt("see @src/ now", FOLDER, CURSOR))
    assert (text, contexts) == (
        "see @src/ now\n<contexts>\n@/ws/src\n</contexts>",
        (LINES, CURSOR),
    )


def test_tokens_are_named_whatever_stands_around_them(mentions: Mentions) -> None:
    """A comma would be part of the path, and one token may begin another."""
    whole = FileContext("/ws/src/io.py", token="@src/io.py")
    text, _ = mentions.write(
        prompt("(@src/io.py, @src/io.py:10-20) and @src/.", whole, LINES, FOLDER)
    )
    assert read_by_server(text) == [
        ("/ws/src/io.py", "", ""),
        ("/ws/src/io.py", "10", "20"),
        ("/ws/src", "", ""),
    ]


def test_what_a_message_names_already_is_not_named_twice(mentions: Mentions) -> None:
    whole = FileContext("/ws/a.py", token="@/ws/a.py")
    lines = FileContext("/ws/b.py", 2, 3, token="@/ws/b.py:2-3")
    text, _ = mentions.write(prompt("@/ws/a.py and @/ws/b.py:2-3, too", whole, lines))
    assert text == "@/ws/a.py and @/ws/b.py:L2-L3, too"
    assert mentions.read(f"{text}\n") == "@/ws/a.py and @/ws/b.py:2-3, too"


def test_lines_added_later_reach_the_model_once(mentions: Mentions) -> None:
    text, contexts = mentions.write(prompt("why?", ALWAYS, CURSOR))
    assert read_by_server(text) == [("/ws/src/io.py", "10", "20")]
    assert contexts == (CURSOR,)
    mentions.answered("c")
    assert mentions.write(prompt("and now?", ALWAYS, CURSOR)) == ("and now?", (CURSOR,))


def test_what_failed_before_the_answer_goes_again(mentions: Mentions) -> None:
    mentions.write(prompt("why?", ALWAYS, OUTPUT))
    text, contexts = mentions.write(prompt("why?", ALWAYS, OUTPUT))
    assert (read_by_server(text), contexts) == ([("/ws/src/io.py", "10", "20")], (OUTPUT,))


def test_what_the_model_lost_goes_again(mentions: Mentions) -> None:
    mentions.write(prompt("why?", ALWAYS, OUTPUT))
    mentions.answered("c")
    mentions.shortened("c")
    text, contexts = mentions.write(prompt("go on", ALWAYS, OUTPUT))
    assert (read_by_server(text), contexts) == ([("/ws/src/io.py", "10", "20")], (OUTPUT,))


def test_the_first_prompts_files_stay_when_messages_are_lost() -> None:
    """They are in the system prompt."""
    mentions = Mentions()
    mentions.write(prompt("why?", ALWAYS))
    mentions.shortened("c")
    assert mentions.write(prompt("go on", ALWAYS)) == ("go on", (ALWAYS,))


def test_an_emptied_chat_begins_anew(mentions: Mentions) -> None:
    mentions.emptied("c")
    assert mentions.write(prompt("why?", ALWAYS)) == ("why?", (ALWAYS,))


@pytest.mark.parametrize("lines", [(None, None), (1, 2)])
def test_a_file_that_changed_goes_again(
    mentions: Mentions, tmp_path: Path, lines: tuple[int | None, int | None]
) -> None:
    path = tmp_path / "a.py"
    path.write_text("one\ntwo\n")
    context = FileContext(str(path), *lines)
    mentions.write(prompt("why?", context))
    mentions.answered("c")
    assert mentions.write(prompt("again", context))[0] == "again"
    path.write_text("one\nanother\n")
    assert len(read_by_server(mentions.write(prompt("again", context))[0])) == 1


def test_what_the_model_has_is_not_kept_as_text(mentions: Mentions, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x" * 100_000)
    tracemalloc.start()
    lines = FileContext(str(tmp_path / "a"), 1, 1)
    mentions.write(prompt("see", TextContext("git diff", "y" * 100_000, "@diff"), lines))
    mentions.answered("c")
    gc.collect()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 50_000
    assert mentions.write(prompt("see", lines)) == ("see", ())


def test_what_changed_elsewhere_in_a_file_does_not_send_its_lines_again(
    mentions: Mentions, tmp_path: Path
) -> None:
    path = tmp_path / "a.py"
    path.write_text("one\ntwo\n")
    mentions.write(prompt("why?", FileContext(str(path), 1, 1)))
    mentions.answered("c")
    path.write_text("one\nanother line\n")
    assert mentions.write(prompt("again", FileContext(str(path), 1, 1)))[0] == "again"


def test_what_was_taken_away_is_not_repeated() -> None:
    mentions = Mentions()
    mentions.write(prompt("why?", ALWAYS, OUTPUT))
    assert mentions.write(prompt("again", CURSOR)) == ("again", (CURSOR,))


@pytest.mark.parametrize("name", ["my file.py", "a:b.py"])
def test_a_path_the_server_cannot_find_in_a_message_goes_as_text(
    mentions: Mentions, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    path.write_text("one\ntwo\nthree\n")
    text, contexts = mentions.write(
        prompt(
            "see", FileContext(str(path)), FileContext(str(path), 2, 3), DirectoryContext("/a b")
        )
    )
    whole, lines, folder = contexts
    assert text == "see"
    assert whole == TextContext(str(path), "one\ntwo\nthree")
    assert lines == TextContext(f"{path}:2-3", "two\nthree")
    assert isinstance(folder, TextContext)
    assert folder.label == "/a b"


def test_a_large_file_goes_by_its_name_where_it_would_go_as_text(
    mentions: Mentions, tmp_path: Path
) -> None:
    path = tmp_path / "my log.txt"
    path.write_text("x" * 1_000_001)
    _, (context,) = mentions.write(prompt("see", FileContext(str(path))))
    assert isinstance(context, TextContext)
    assert "tools" in context.content


def test_pictures_are_contexts_always(mentions: Mentions) -> None:
    """The server shows them with the prompt, and leaves out those that a message names."""
    typed = ImageContext("/ws/shot.PNG", token="@shot.PNG")
    for _ in range(2):
        assert mentions.write(prompt("see @shot.PNG", typed)) == (
            "see @shot.PNG",
            (ImageContext("/ws/shot.PNG"),),
        )
        mentions.answered("c")


def test_pictures_of_the_first_prompt_are_not_repeated() -> None:
    mentions = Mentions()
    picture = ImageContext("/ws/shot.png", token="@shot.png")
    mentions.write(prompt("see @shot.png", picture))
    assert mentions.write(prompt("and?")) == ("and?", ())


def test_the_model_is_told_of_pages_that_nobody_typed() -> None:
    mentions = Mentions()
    text, contexts = mentions.write(prompt("read it", PAGE))
    assert (text, contexts) == (
        "read it\n<contexts>\nhttps://example.org/x\n</contexts>",
        (PAGE,),
    )
    mentions.answered("c")
    assert mentions.write(prompt("go on", PAGE))[0] == "go on"
    typed = "see @https://example.org/x."
    assert mentions.write(prompt(typed, PAGE, chat="other"))[0] == typed


def test_a_command_takes_words_alone_and_contexts_wait(mentions: Mentions) -> None:
    assert mentions.write(prompt("/costs", ALWAYS, OUTPUT, CURSOR))[0] == "/costs"
    assert mentions.write(prompt("/check @src/io.py:10-20", LINES))[0] == (
        "/check @/ws/src/io.py:L10-L20"
    )
    text, contexts = mentions.write(prompt("/usr/bin is full, why?", ALWAYS, OUTPUT))
    assert (read_by_server(text), contexts) == ([("/ws/src/io.py", "10", "20")], (OUTPUT,))


def test_every_chat_has_a_first_prompt(mentions: Mentions) -> None:
    _, contexts = mentions.write(prompt("@src/", FOLDER, chat="other"))
    assert contexts == (FOLDER,)


def test_an_echo_reads_as_the_user_typed_it(mentions: Mentions) -> None:
    sent, _ = mentions.write(prompt("see @src/", FOLDER))
    replayed = f'\n{sent}\n<contexts description="x">\n<file>x</file>\n</contexts>'
    assert mentions.read(user_text(f"{sent}\n")) == "see @src/\n"
    assert user_text(replayed).strip() == "see @src/"
    assert mentions.read("something else\n") == "something else\n"


def test_words_to_a_running_turn_name_files_and_are_echoed_as_typed(mentions: Mentions) -> None:
    sent = mentions.write_steer("see @src/ too", [FOLDER, CURSOR])
    assert sent == "see @/ws/src too"
    also = mentions.write_steer("and @src/io.py:10-20", [LINES])
    assert mentions.read(f"{sent}\n{also}\n") == "see @src/ too\nand @src/io.py:10-20\n"
    assert mentions.read(sent) == sent


def test_a_token_that_begins_another_word_is_left_in_words_to_a_turn(mentions: Mentions) -> None:
    whole = FileContext("/ws/src/io.py", token="@src/io.py")
    text = mentions.write_steer(
        "@src/io.py @src/io.py:10-20 @src/new.py @src/", [whole, LINES, FOLDER]
    )
    assert text == "@/ws/src/io.py @/ws/src/io.py:L10-L20 @src/new.py @/ws/src"


SPACED = FileContext("/ws/my docs/a b.py", 1, 2, token="@my\\ docs/a\\ b.py:1-2")
DOTTED = FileContext("/ws/my docs/x", token="@./my\\ docs/x")


def test_the_model_reads_a_path_with_blanks_without_backslashes(mentions: Mentions) -> None:
    typed = r"see (@my\ docs/a\ b.py:1-2), and @./my\ docs/x"
    wanted = 'see ("my docs/a b.py:1-2"), and "./my docs/x"'
    first, _ = Mentions().write(prompt(typed, SPACED, DOTTED))
    later, _ = mentions.write(prompt(typed, SPACED, DOTTED))
    command, _ = mentions.write(prompt(f"/do {typed}", SPACED, DOTTED))
    steer = mentions.write_steer(typed, [SPACED, DOTTED])
    assert [first, later, command, steer] == [wanted, wanted, f"/do {wanted}", wanted]
    assert read_by_server(first) == []
    assert mentions.read(f"{steer}\n") == typed


def test_a_path_that_is_only_named_has_no_backslashes_either(mentions: Mentions) -> None:
    plain = PathMention("/ws/a.py", token="#a.py")
    blank = PathMention("/ws/my docs", token="#my\\ docs/")
    text, contexts = mentions.write(prompt(r"see #a.py and #my\ docs/, #1", plain, blank))
    assert text == 'see #a.py and "my docs/", #1'
    assert wire_contexts(contexts) == ()


def test_the_server_does_not_read_what_is_too_large(mentions: Mentions) -> None:
    """It would read all files below a folder that the message names."""
    large = TextContext("/usr", "A folder: use your tools", token="@/usr/")
    first, _ = Mentions().write(prompt("look in @/usr/, please", large))
    steer = mentions.write_steer("look in @/usr/, please", [large])
    assert [first, steer] == ['look in "/usr/", please'] * 2


def test_resources_are_sent_with_each_prompt_they_belong_to(mentions: Mentions) -> None:
    """The server forgets them with the prompt."""
    for _ in range(2):
        assert mentions.write(prompt("why?", ResourceContext("mock://r1")))[1] == (
            ResourceContext("mock://r1"),
        )
        mentions.answered("c")


def test_a_typed_text_is_sent_with_its_prompt_each_time(mentions: Mentions) -> None:
    typed = TextContext("quickfix list", "boom", token="@quickfix")
    for _ in range(2):
        _, contexts = mentions.write(prompt("fix @quickfix", typed))
        assert contexts == (TextContext("quickfix list", "boom"),)
        mentions.answered("c")
