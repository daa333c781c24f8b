"""Two ids of a chat: ours, and that of a server that makes its own."""

from eca_nvim.agents.eca.older.chat_ids import ChatIds


def test_a_server_that_honours_our_ids_is_read_as_it_speaks() -> None:
    chats = ChatIds()
    chats.prompted("ours")
    assert chats.ours("ours", adopt=True) == "ours"
    assert chats.theirs("ours") == "ours"


def test_the_first_word_of_an_older_server_pairs_its_id_with_ours() -> None:
    chats = ChatIds()
    chats.prompted("ours")
    assert chats.ours("minted", adopt=True) == "ours"
    assert chats.theirs("ours") == "minted"
    chats.prompted("ours")
    assert chats.ours("minted", adopt=True) == "ours"


def test_the_answer_to_a_prompt_pairs_them_too() -> None:
    chats = ChatIds()
    chats.prompted("ours")
    assert chats.answered("ours", "minted")
    assert chats.ours("minted") == "ours"
    assert chats.theirs("ours") == "minted"


def test_an_id_is_doubtful_while_several_chats_wait_for_theirs() -> None:
    chats = ChatIds()
    chats.prompted("one")
    assert not chats.is_doubtful("b")
    chats.prompted("two")
    assert chats.is_doubtful("b")
    assert not chats.is_doubtful("subagent-1")
    chats.answered("two", "b")
    assert not chats.is_doubtful("a")
    assert (chats.ours("b", adopt=True), chats.ours("a", adopt=True)) == ("two", "one")


def test_an_answer_corrects_a_guess_and_nothing_else() -> None:
    chats = ChatIds()
    chats.prompted("one")
    assert chats.ours("b", adopt=True) == "one"
    chats.prompted("two")
    chats.answered("two", "b")
    chats.answered("one", "a")
    assert (chats.ours("b"), chats.ours("a")) == ("two", "one")
    assert (chats.theirs("one"), chats.theirs("two")) == ("a", "b")
    chats.prompted("three")
    chats.answered("three", "b")
    assert (chats.ours("b"), chats.theirs("three")) == ("two", "three")


def test_nothing_is_adopted_from_a_server_that_honours_our_ids() -> None:
    chats = ChatIds()
    chats.prompted("one")
    assert chats.ours("one", adopt=True) == "one"
    chats.prompted("two")
    assert chats.ours("somebody elses", adopt=True) == "somebody elses"
    assert chats.theirs("two") == "two"


def test_a_chat_is_paired_once() -> None:
    chats = ChatIds()
    chats.prompted("ours")
    chats.ours("minted", adopt=True)
    chats.prompted("ours")
    assert chats.ours("somebody elses", adopt=True) == "somebody elses"
    assert chats.theirs("ours") == "minted"


def test_a_subagents_chat_is_never_ours() -> None:
    chats = ChatIds()
    chats.prompted("ours")
    assert chats.ours("subagent-1", adopt=True) == "subagent-1"
    assert chats.ours("minted", adopt=True) == "ours"


def test_talk_of_other_chats_pairs_nothing() -> None:
    chats = ChatIds()
    chats.prompted("ours")
    assert chats.ours("deleted long ago") == "deleted long ago"
    assert chats.theirs("ours") == "ours"


def test_a_chat_met_before_any_prompt_may_still_be_paired() -> None:
    chats = ChatIds()
    assert chats.ours("early", adopt=True) == "early"
    chats.prompted("ours")
    assert chats.ours("early", adopt=True) == "ours"


def test_an_answer_says_whether_it_was_the_first_word() -> None:
    chats = ChatIds()
    chats.prompted("ours")
    chats.ours("ours", adopt=True)
    assert not chats.answered("ours", "ours")
    chats.prompted("ours")
    assert chats.answered("ours", None)


def test_only_a_prompted_chat_is_known_to_the_server() -> None:
    chats = ChatIds()
    assert not chats.was_prompted("ours")
    chats.prompted("ours")
    assert chats.was_prompted("ours")


def test_a_server_has_made_no_id_before_its_first_word() -> None:
    chats = ChatIds()
    chats.prompted("ours")
    assert chats.minted("ours") is None
    chats.ours("minted", adopt=True)
    assert chats.minted("ours") == "minted"


def test_a_chat_that_is_forgotten_begins_anew() -> None:
    chats = ChatIds()
    chats.prompted("ours")
    chats.ours("minted", adopt=True)
    chats.forgotten("ours")
    assert (chats.minted("ours"), chats.was_prompted("ours")) == (None, False)
    chats.prompted("ours")
    assert chats.ours("minted again", adopt=True) == "ours"
    assert chats.theirs("ours") == "minted again"


def test_the_chat_of_a_replaced_prompt_is_left() -> None:
    chats = ChatIds()
    chats.prompted("ours", starts_chat=True)
    chats.prompted("ours", starts_chat=True)
    assert chats.is_doubtful("first")
    assert chats.is_replaced("ours")
    chats.leave("ours", "first")
    assert (chats.is_left("first"), chats.is_replaced("ours")) == (True, False)
    assert not chats.is_doubtful("second")
    assert chats.ours("second", adopt=True) == "ours"
    assert (chats.theirs("ours"), chats.is_left("second")) == ("second", False)


def test_a_chat_that_the_server_has_named_replaces_nothing() -> None:
    chats = ChatIds()
    chats.prompted("ours")
    chats.ours("minted", adopt=True)
    chats.prompted("ours")
    assert not chats.is_replaced("ours")
    assert not chats.is_doubtful("somebody elses")


def test_a_server_that_is_sent_our_id_has_one_chat_for_it() -> None:
    chats = ChatIds()
    chats.prompted("ours")
    chats.prompted("ours")
    assert not chats.is_replaced("ours")
    assert not chats.is_doubtful("somebody elses")
