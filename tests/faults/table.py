"""The faults that the plugin survives: what each could cost, and the tests that it costs nothing.

`test_table.py` holds that the tests exist and are run, and writes the rows to doc/reliability.md.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Row(NamedTuple):
    """A fault; what is counted after it, none of which is lost; and the tests that count it."""

    fault: str
    counted: str
    tests: tuple[str, ...]


_CUTS: Final = "tests/faults/test_cuts.py"
_FLOODS: Final = f"{_CUTS}::test_too_much_or_too_little_at_once_costs_nothing"
_BUSY: Final = "tests/ui/test_busy_neovim.py"
_LOST: Final = "tests/ui/test_nothing_lost.py"
_SIZES: Final = "tests/ui/test_screen_sizes.py"

FAULTS: Final = (
    Row(
        "The server or agent is killed at any message, or inside of one",
        "prompts that were sent or wait, the draft, the answer so far, requests that nobody can "
        "answer any more, files, and the next prompt, which starts it again",
        (
            f"{_CUTS}::test_a_server_that_dies_anywhere_costs_nothing",
            "tests/ui/test_recordings.py::test_a_recorded_server_that_dies_is_told_and_can_be_replaced",
            "tests/session/test_server.py::test_a_server_that_never_gets_ready_gives_the_prompts_back",
            "tests/session/test_late_contexts.py::test_a_server_that_ends_meanwhile_loses_nothing",
            "tests/chat/test_told_plainly.py::test_the_next_process_may_use_the_ids_of_thoughts_and_hooks_again",
            "tests/ui/test_acp_chats.py::test_a_chat_goes_on_whatever_ends",
        ),
    ),
    Row(
        "The server or agent crashes while nothing runs and nothing waits for the user",
        "what it was asked: it is started again, a few times, and only where none of that is lost",
        (
            "tests/session/test_restarts.py::test_nothing_is_started_where_something_may_be_lost",
            "tests/ui/test_restarts.py::test_it_is_back_before_the_next_prompt",
        ),
    ),
    Row(
        "Bytes come one at a time",
        "all messages of both protocols",
        (
            _FLOODS,
            "tests/jsonrpc/test_framing.py::test_messages_come_whole_byte_by_byte",
            "tests/jsonrpc/test_line_framing.py::test_messages_come_whole_wherever_the_stream_is_cut",
            "tests/agents/acp/test_recordings_in_one_process.py::test_pieces_and_noise_change_nothing",
        ),
    ),
    Row(
        "A message of 50 MB",
        "its text, and the rest of the conversation",
        (
            _FLOODS,
            "tests/nvim/test_frame_queue.py::test_five_megabytes_arrive_whole",
            "tests/jsonrpc/test_framing.py::test_a_large_message_is_put_together_in_linear_time",
        ),
    ),
    Row(
        "A line of 200 KB",
        "its text, in the answer, on the screen, and outside of any message",
        (
            _FLOODS,
            "tests/ui/test_many.py::test_a_line_without_an_end_is_shown_in_rows_that_are_quickly_drawn",
            "tests/ui/test_markdown.py::test_very_long_lines_stay_plain",
            "tests/jsonrpc/test_framing_faults.py::test_junk_is_told_and_the_messages_around_it_come",
        ),
    ),
    Row(
        "Invalid JSON, UTF-8 and lengths",
        "the messages around them",
        (
            "tests/jsonrpc/test_framing_faults.py::test_junk_is_told_and_the_messages_around_it_come",
            "tests/jsonrpc/test_framing_faults.py::test_a_length_that_is_no_size_costs_one_message",
            "tests/jsonrpc/test_framing_faults.py::test_a_length_that_is_too_long_costs_no_other_message",
            "tests/jsonrpc/test_framing_faults.py::test_a_length_that_is_too_short_costs_no_other_message",
            "tests/jsonrpc/test_framing_faults.py::test_no_bytes_raise",
            "tests/jsonrpc/test_line_framing.py::test_a_line_over_the_limit_is_told_and_the_next_one_comes",
            "tests/jsonrpc/test_messages.py::test_what_is_no_message_says_why",
            "tests/protocol/test_body.py::test_what_is_no_message_is_a_value_error",
            "tests/transport/test_connection.py::test_what_cannot_be_read_is_logged_and_skipped",
            "tests/agents/acp/test_recordings_in_one_process.py::test_pieces_and_noise_change_nothing",
        ),
    ),
    Row(
        "100,000 notifications at once",
        "the text of each, and what is typed meanwhile",
        (
            _FLOODS,
            "tests/ui/test_conversation.py::test_typing_while_it_streams_loses_nothing",
            "tests/nvim/test_frame_queue.py::test_nothing_is_lost_while_no_frame_is_drawn",
        ),
    ),
    Row(
        "Ids that are used twice",
        "answers, approvals and calls: each is for the one that was shown",
        (
            _FLOODS,
            "tests/jsonrpc/test_peer.py::test_a_request_with_the_id_of_an_open_one_is_malformed",
            "tests/jsonrpc/test_peer.py::test_only_the_first_answer_to_an_open_request_is_expected",
            "tests/chat/test_call_ids.py::test_of_two_lanes_with_one_id_just_the_one_is_answered",
            "tests/chat/test_call_ids.py::test_an_id_that_is_asked_for_again_is_another_call",
            "tests/agents/acp/test_acp_tool_calls.py::test_an_agent_that_was_started_again_begins_to_count_again",
        ),
    ),
    Row(
        "Events of chats that are gone",
        "the text of the others; no chat comes back by itself",
        (
            "tests/session/test_saved_chats.py::test_what_comes_of_a_deleted_chat_is_dropped",
            "tests/session/test_saved_chats.py::test_words_about_one_nobody_sees_make_none",
            "tests/session/test_saved_chats.py::test_one_that_is_deleted_meanwhile_is_not_drawn_again",
            "tests/session/test_servers.py::test_a_server_cannot_write_into_a_chat_of_another",
            "tests/agents/acp/test_acp_life.py::test_each_chat_has_a_session_until_it_is_forgotten",
            "tests/ui/test_conversation.py::test_a_deleted_chat_keeps_its_text",
        ),
    ),
    Row(
        "Neovim is busy: getchar(), “Press ENTER”, the command line, locked text, a macro that is "
        "recorded or runs, a terminal, `:sleep`",
        "the answer that comes meanwhile, a request for approval, the keys, the window",
        (
            f"{_BUSY}::test_nothing_goes_while_neovim_is_busy",
            "tests/nvim/test_frame_sender.py::test_a_frame_that_meets_locked_text_is_drawn_when_it_is_free",
            "tests/nvim/test_frame_sender.py::test_text_locked_from_the_command_line_is_waited_for_too",
            "tests/nvim/test_frame_sender.py::test_frames_are_drawn_whatever_the_user_is_at",
            "tests/nvim/test_diagnostics.py::test_diagnostics_are_answered_whatever_the_user_does",
        ),
    ),
    Row(
        "The terminal changes its size, whatever windows are open",
        "windows on the screen, all of them; the place in a chat",
        (
            f"{_SIZES}::test_whatever_is_open_all_windows_are_on_the_screen",
            f"{_SIZES}::test_a_tab_page_that_was_not_shown_meanwhile_has_all_windows",
            f"{_SIZES}::test_a_float_for_which_there_is_room_again_is_read_on",
        ),
    ),
    Row(
        "`:%bd!`, `:%bw!`, `<C-w>o` and windows of one row or column while an answer comes",
        "the answer and the draft",
        (
            f"{_BUSY}::test_nothing_goes_with_windows_and_buffers",
            f"{_LOST}::test_an_input_that_is_taken_away",
            f"{_LOST}::test_an_input_that_is_taken_away_without_a_host",
        ),
    ),
    Row(
        "The host, the server or Neovim is stopped and goes on",
        "the answer, the keys, the prompt",
        (
            f"{_BUSY}::test_nothing_goes_while_a_process_is_stopped",
            f"{_LOST}::test_what_a_host_has_taken_is_kept_by_it",
            f"{_LOST}::test_a_host_that_hangs_at_the_end",
            "tests/nvim/test_hanging_host.py::test_a_restart_ends_a_host_that_does_not_answer",
        ),
    ),
    Row(
        "The disk is full",
        "the file as it was, prompts and drafts, the chat",
        (
            "tests/session/test_full_disk.py::test_a_full_disk_is_said_and_the_chat_goes_on",
            "tests/disk/test_replacing.py::test_a_limit_of_bytes_leaves_the_file_as_it_was",
            "tests/disk/test_replacing.py::test_a_full_disk_leaves_the_file_as_it_was",
            "tests/test_store.py::test_a_write_that_fails_leaves_no_half",
            "tests/ui/test_kept.py::test_a_full_disk_and_a_lack_of_handles_are_told_once_each",
            "tests/session/test_persistence.py::test_who_cannot_write_at_the_end_leaves_a_file",
        ),
    ),
    Row(
        "The state folder is missing, or nothing can be written there",
        "the conversation, changes of files and their undo, what can be saved later",
        (
            "tests/ui/test_comfort.py::test_without_any_folder_a_conversation_is_held",
            "tests/ui/test_comfort.py::test_the_line_names_the_folder_and_what_is_wrong_with_it",
            "tests/session/test_persistence.py::test_where_nothing_can_be_written_it_is_told_once_and_tried_again",
            "tests/disk/test_replacing.py::test_a_disk_that_is_read_only_is_said_to_be",
            "tests/session/test_persistence.py::test_a_draft_whose_file_was_removed_is_written_at_the_end",
        ),
    ),
    Row(
        "Two or more Neovims in one project",
        "the prompts and drafts of each, the turns of each, its server",
        (
            f"{_LOST}::test_five_that_end_at_once",
            "tests/test_store.py::test_two_neovims_write_together",
            "tests/session/test_persistence.py::test_no_two_neovims_take_the_same_draft",
            "tests/session/test_turns_kept.py::test_commands_of_two_neovims_at_once_are_uncertain_in_both",
            "tests/ui/test_kept.py::test_prompts_of_a_neovim_that_runs_are_there_too",
            "tests/ui/test_lifecycle.py::test_two_neovims_have_a_server_each",
        ),
    ),
    Row(
        "Neovim is suspended and resumed",
        "the draft, the keys, the answer",
        (
            f"{_BUSY}::test_nothing_goes_while_a_process_is_stopped",
            f"{_LOST}::test_a_draft_is_told_when_something_is_left",
        ),
    ),
    Row(
        "64 file handles, of which none may be free",
        "the prompt, which comes back, and goes through once there are handles; what is saved",
        (
            "tests/faults/test_handles.py::test_without_file_handles_nothing_is_lost",
            "tests/transport/test_terminal.py::test_nothing_stays_open_if_there_are_too_many_files",
            "tests/ui/test_kept.py::test_a_full_disk_and_a_lack_of_handles_are_told_once_each",
        ),
    ),
    Row(
        "The clock is set back",
        "what is typed and sent then, the draft once, files that a command changed or deleted; "
        "what seems older than the command, and may be yours, is not deleted",
        (
            "tests/session/test_clock_set_back.py::test_what_is_typed_and_sent_is_the_newest",
            "tests/session/test_clock_set_back.py::test_a_draft_is_there_once",
            "tests/session/test_clock_set_back.py::test_what_a_command_changed_or_deleted_comes_back",
        ),
    ),
)

KILLS: Final = (
    Row(
        "Neovim ends: `:qa!`, SIGTERM, SIGHUP",
        "all that was typed, waits or is about to be sent",
        (
            f"{_LOST}::test_words_typed_without_a_pause",
            f"{_LOST}::test_words_after_a_draft_that_is_kept",
            f"{_LOST}::test_what_stands_for_something_else_is_kept_as_well",
            f"{_LOST}::test_a_prompt_for_a_server_that_is_not_ready",
        ),
    ),
    Row(
        "Neovim is killed (SIGKILL)",
        "all but the last words that were typed",
        (
            f"{_LOST}::test_a_kill_loses_only_the_last_words",
            "tests/nvim/test_stranded.py::test_what_waits_outlives_a_neovim_that_is_killed",
        ),
    ),
    Row(
        "The host is killed, at work, while it is stopped, or before it has read a prompt",
        "prompts, drafts, comments, answers that were typed, in their order",
        (
            f"{_LOST}::test_what_a_host_has_not_taken_when_it_ends",
            f"{_LOST}::test_what_waited_for_a_host_that_ends_comes_back_in_order",
            f"{_LOST}::test_what_a_host_has_not_taken_when_neovim_ends",
            f"{_LOST}::test_a_draft_is_told_to_the_next_host",
            f"{_LOST}::test_a_comment_that_no_host_has_confirmed_is_told",
            "tests/ui/test_lifecycle.py::test_killing_the_host_ends_the_server_and_a_restart_goes_on",
        ),
    ),
    Row(
        "A process is killed while it replaces a file",
        "the old content or the new one, whole",
        (
            "tests/disk/test_replacing.py::test_a_kill_at_any_step_leaves_one_content_or_the_other",
            "tests/disk/test_replacing.py::test_a_kill_while_a_file_is_written_in_place_leaves_a_copy",
        ),
    ),
    Row(
        "Neovim is killed while turns and users change files",
        "every file as it was before any prompt, byte for byte",
        (
            "tests/session/test_any_turns.py::test_turns_are_undone_in_a_later_neovim",
            "tests/session/test_any_turns.py::test_the_files_before_any_prompt_come_back",
        ),
    ),
    Row(
        "Neovim, the host, the server or the guardian ends in any way, at any stage",
        "processes and temporary files that are left: none",
        (
            "tests/ui/test_nothing_left.py::test_nothing_is_left_whoever_is_ended",
            "tests/ui/test_nothing_left.py::test_nothing_is_left_of_an_agent_of_the_other_protocol",
            "tests/ui/test_nothing_left.py::test_nothing_is_left_without_the_guardian",
            "tests/ui/test_nothing_left.py::test_nothing_is_left_of_a_start_that_was_cut_short",
            "tests/ui/test_acp_terminals.py::test_nothing_is_left_of_a_command_whoever_is_killed",
        ),
    ),
)
