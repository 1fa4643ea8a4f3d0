"""Features of the terminal client, and the scenarios in a real terminal that exercise them. The tests fail if a
scenario is missing or doesn't use a real terminal."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent

FEATURES: dict[str, dict[str, tuple[str, ...]]] = {
    "the conversation": {
        "Markdown, streamed": (
            "test_real_terminal::test_markdown_is_rendered_while_it_streams",
            "scenarios/test_conversation::test_messages_are_shown_while_they_stream",
        ),
        "code highlighted, tables, links": (
            "scenarios/test_conversation::test_code_is_highlighted_tables_are_aligned_and_links_work",
        ),
        "thoughts folded": ("scenarios/test_conversation::test_a_thought_is_one_line_until_opened",),
        "pictures named": (
            "test_real_terminal::test_an_image_shows_its_name",
            "scenarios/test_images::test_without_colors_only_the_name_of_an_image_is_shown",
        ),
        "pictures drawn": (
            "scenarios/test_images::test_an_image_is_rendered_as_blocks_and_scrolls_with_the_text",
            "scenarios/test_images::test_a_graphics_terminal_gets_the_image_once_and_it_is_deleted_on_exit",
        ),
        "replayed history": (
            "scenarios/test_conversation::test_a_reopened_session_shows_its_history",
            "scenarios/test_turns::test_a_session_is_continued",
        ),
        "thousands of messages": ("scenarios/test_sizes::test_ten_thousand_messages_scroll_while_more_arrive",),
    },
    "tool calls": {
        "kind, title, status, elapsed time": (
            "test_real_terminal::test_tool_calls_of_every_kind_and_status_are_lines_that_open",
            "scenarios/test_conversation::"
            "test_a_tool_call_shows_kind_status_and_duration_and_opens_to_input_and_output",
        ),
        "input and output": (
            "scenarios/test_conversation::"
            "test_a_tool_call_shows_kind_status_and_duration_and_opens_to_input_and_output",
        ),
        "changes, side by side and unified, with words and colors": (
            "scenarios/test_conversation::test_diffs_are_shown_side_by_side_or_inline_with_changed_words",
        ),
        "live output of commands with colors": (
            "test_real_terminal::test_a_command_runs_in_a_terminal_with_its_colors",
            "scenarios/test_work::test_command_output_is_shown_live",
        ),
        "locations in the editor": (
            "scenarios/test_editor::test_the_editor_shows_a_complete_message",
            "scenarios/test_editor::test_the_location_of_a_tool_call_opens_at_its_line",
            "scenarios/test_work::test_the_user_chooses_which_file_to_open",
        ),
        "calls that nobody ends": (
            "scenarios/test_work::test_an_unfinished_call_is_abandoned_and_a_late_result_is_accepted",
        ),
        "follow mode": ("scenarios/test_work::test_the_follow_panel_tracks_the_agent_s_location",),
        "stopping one of them, and what goes on in the background": (
            "scenarios/test_work::test_stopping_one_tool_call_continues_the_turn",
            "scenarios/test_work::test_background_work_is_listed_and_can_be_stopped",
            "scenarios/test_work::test_a_subagent_opens_in_a_tab_and_can_be_stopped",
        ),
    },
    "permissions": {
        "the change, the command, the path": (
            "test_real_terminal::test_a_change_is_shown_in_its_permission_request",
            "scenarios/test_bell_and_copy::test_a_permission_request_is_between_the_transcript_and_the_prompt",
            "scenarios/test_answer_scope::test_an_answer_lasts_an_hour_and_the_action_is_visible_at_40_by_12",
        ),
        "numbers": ("scenarios/test_answers::test_every_number_from_one_to_nine_chooses_its_answer",),
        "y, n, a": (
            "scenarios/test_questions::test_permission_requests_are_queued_and_answered_by_letters_and_numbers",
            "scenarios/test_answers::test_a_number_without_an_answer_does_nothing",
            "scenarios/test_questions::test_an_always_answer_is_remembered",
        ),
        "remembered choices": ("scenarios/test_questions::test_an_always_answer_is_remembered",),
        "several that wait": (
            "scenarios/test_questions::test_permission_requests_are_queued_and_answered_by_letters_and_numbers",
        ),
    },
    "at a glance": {
        "plan": (
            "test_real_terminal::test_the_side_panel_shows_plan_and_context",
            "scenarios/test_work::test_the_plan_is_one_line_in_a_narrow_window_and_a_key_opens_it",
        ),
        "context and cost": ("test_real_terminal::test_the_side_panel_shows_plan_and_context",),
        "mode and model": ("test_real_terminal::test_modes_and_options_are_set",),
        "options": ("scenarios/test_questions::test_options_can_be_switched_and_notices_and_compaction_are_shown",),
        "running, waiting, idle": (
            "scenarios/test_conversation::test_messages_are_shown_while_they_stream",
            "scenarios/test_bell_and_copy::test_a_permission_request_is_between_the_transcript_and_the_prompt",
        ),
    },
    "the prompt": {
        "several lines and earlier prompts": (
            "scenarios/test_prompt::test_a_prompt_can_be_sent_during_a_turn",
            "scenarios/test_turns::test_a_prompt_is_found_in_a_later_run",
        ),
        "commands with hints": (
            "test_real_terminal::test_commands_and_files_are_completed",
            "scenarios/test_prompt::test_commands_have_hints_and_several_lines_can_be_pasted",
        ),
        "files, which git does not ignore, embedded or linked": (
            "test_real_terminal::test_commands_and_files_are_completed",
            "scenarios/test_prompt::test_mentioned_files_are_sent_with_the_prompt",
            "scenarios/test_prompt::test_a_missing_file_is_reported_and_a_tab_waits_for_the_list",
        ),
        "pictures and files pasted": (
            "scenarios/test_conversation::test_a_pasted_image_and_file_are_sent_with_the_prompt",
            "scenarios/test_paste::test_a_clipboard_image_is_mentioned_and_sent",
            "scenarios/test_paste::test_a_dropped_file_is_mentioned_and_can_have_line_numbers",
        ),
        "queueing: list, edit, remove": ("scenarios/test_prompt::test_queued_prompts_are_listed_edited_and_removed",),
        "steering": (
            "scenarios/test_prompt::test_a_prompt_can_be_sent_during_a_turn",
            "scenarios/test_turns::test_a_prompt_sent_during_a_turn_is_shown_until_accepted_and_can_be_withdrawn",
        ),
        "Esc stops the turn": ("scenarios/test_conversation::test_messages_are_shown_while_they_stream",),
        "Ctrl-C twice quits": ("test_real_terminal::test_ctrl_c_twice_quits_and_the_draft_is_restored",),
        "in the editor": (
            "scenarios/test_editor::test_an_editor_error_is_reported_and_the_prompt_stays",
            "scenarios/test_editor::test_the_prompt_can_be_edited_in_the_editor",
        ),
    },
    "sessions": {
        "in tabs, of several agents": (
            "test_real_terminal::test_sessions_in_tabs_can_be_listed_loaded_and_renamed",
            "scenarios/test_sessions::test_an_agent_in_another_tab_keeps_running",
        ),
        "searched, loaded, resumed, forked, renamed, deleted": (
            "scenarios/test_sessions::test_a_session_is_renamed_forked_resumed_loaded_and_deleted",
        ),
        "gone on with from the command line": (
            "scenarios/test_turns::test_a_session_is_continued",
            "scenarios/test_turns::test_a_missing_session_is_reported_and_one_key_opens_a_new_one",
        ),
        "found by what was said": ("scenarios/test_turns::test_a_session_is_found_by_its_text_and_exported",),
        "exported": ("scenarios/test_sessions::test_an_export_contains_messages_and_diffs",),
        "rewound, and that undone": ("scenarios/test_sessions::test_files_can_be_rewound_and_the_rewind_undone",),
    },
    "what agents ask and tell": {
        "forms with every kind of field": (
            "scenarios/test_answers::test_every_kind_of_field_is_filled_in_with_keys",
            "scenarios/test_questions::test_a_form_returns_every_type_of_value_and_a_page_shows_its_host",
            "scenarios/test_answers::test_a_form_can_be_declined_and_dismissed",
        ),
        "logins of the agent": (
            "test_real_terminal::test_a_required_login_is_done_inside_the_client",
            "scenarios/test_questions::test_the_palette_can_log_in",
        ),
        "logins in the terminal": (
            "scenarios/test_questions::test_the_agent_s_login_program_runs_in_the_terminal",
            "scenarios/test_agent_start::test_a_prompt_continues_after_a_login",
            "scenarios/test_agent_start::test_ctrl_c_cancels_only_the_login",
        ),
        "notices": ("scenarios/test_questions::test_options_can_be_switched_and_notices_and_compaction_are_shown",),
        "MCP servers": (
            "scenarios/test_servers::test_mcp_server_status_is_in_the_side_panel_and_on_a_screen",
            "scenarios/test_questions::test_the_status_of_an_mcp_server_is_reported",
        ),
    },
    "agents": {
        "configured, of a registry, by command line": (
            "scenarios/test_start_page::test_with_several_agents_the_client_opens_on_the_start_page",
            "scenarios/test_start_page::test_a_registry_agent_is_installed_inside_the_client",
            "scenarios/test_agents::test_the_start_page_lists_agents_and_saves_a_command_line",
        ),
        "that hang while they start": ("scenarios/test_agent_start::test_a_hanging_agent_can_be_cancelled",),
        "the doctor": ("scenarios/test_agents::test_the_doctor_examines_an_agent_that_does_not_start",),
        "what it printed": ("scenarios/test_agents::test_the_log_is_filtered",),
        "the wire, live and filtered": (
            "scenarios/test_conversation::test_the_wire_is_watched_live_and_filtered",
            "scenarios/test_logs::test_the_log_has_the_handshake_and_a_message_opens_and_the_log_is_saved",
        ),
        "the built-in one": ("test_real_terminal::test_the_built_in_agent_is_the_default",),
    },
    "comfort": {
        "keys": ("scenarios/test_comfort::test_the_keys_are_shown_and_settings_last",),
        "the palette": ("scenarios/test_conversation::test_the_palette_finds_commands_by_their_words",),
        "light and dark": (
            "scenarios/test_background::test_the_theme_is_light_in_a_light_terminal",
            "scenarios/test_comfort::test_the_keys_are_shown_and_settings_last",
        ),
        "no color": (
            "test_real_terminal::test_no_color_disables_colors",
            "scenarios/test_answers::test_everything_is_readable_without_colors",
            "scenarios/test_text_selection::test_a_selection_is_visible_without_colors",
        ),
        "the mouse": (
            "scenarios/test_mouse::test_a_click_chooses_completions_and_rows",
            "scenarios/test_mouse::test_a_click_edits_a_queued_prompt",
            "scenarios/test_text_selection::test_a_double_click_selects_a_word_and_a_click_still_opens",
            "scenarios/test_mouse::test_clicks_open_and_close_a_tool_call_and_the_prompt_keeps_the_focus",
            "scenarios/test_mouse::test_the_wheel_scrolls_and_following_resumes_at_the_end",
            "scenarios/test_mouse::test_a_click_on_the_scrollbar_scrolls_there",
            "scenarios/test_mouse::test_a_click_switches_tabs",
            "scenarios/test_mouse::test_a_click_answers_a_permission_request",
            "scenarios/test_text_selection::test_dragging_selects_text_to_copy",
        ),
        "windows that change": (
            "test_real_terminal::test_the_window_can_change_its_size",
            "scenarios/test_sizes::test_the_window_can_be_resized_during_a_turn",
        ),
        "wide letters": (
            "scenarios/test_sizes::test_wide_characters_stay_aligned",
            "scenarios/test_comfort::test_a_message_is_copied_and_wide_characters_stay_aligned",
        ),
        "an order that can be read aloud": (
            "scenarios/test_screen_reader::test_a_screen_reader_gets_one_column_of_text_and_a_visible_cursor",
            "scenarios/test_bell_and_copy::"
            "test_the_layout_is_transcript_queue_prompt_status_with_the_cursor_in_the_prompt",
        ),
        "copies by OSC 52": (
            "scenarios/test_bell_and_copy::test_copied_text_reaches_the_terminal_s_clipboard",
            "scenarios/test_comfort::test_a_message_is_copied_and_wide_characters_stay_aligned",
        ),
        "bells and notifications": (
            "scenarios/test_bell_and_copy::test_the_end_of_a_turn_rings_only_if_the_terminal_is_unfocused",
            "scenarios/test_bell_and_copy::test_the_end_of_a_turn_in_another_tab_rings_and_marks_the_tab",
            "scenarios/test_bell_and_copy::test_a_permission_request_in_a_hidden_tab_is_announced_and_a_key_goes_there",
            "scenarios/test_notification::test_a_notification_and_the_bell_reach_the_terminal_around_tmux",
        ),
        "settings that last": (
            "scenarios/test_comfort::test_the_keys_are_shown_and_settings_last",
            "scenarios/test_bell_and_copy::test_the_notification_setting_is_saved",
        ),
        "a terminal that is never broken": (
            "scenarios/test_exit::test_a_kill_restores_the_terminal_without_a_shell",
            "scenarios/test_editor::test_the_editor_has_the_terminal_to_itself_and_returns_it",
            "scenarios/test_exit::test_a_signal_during_a_turn_restores_the_terminal",
            "scenarios/test_exit::test_killing_the_client_ends_its_agents_and_restores_the_terminal",
            "scenarios/test_exit::test_a_bug_in_accord_exits_cleanly_and_saves_the_draft",
            "scenarios/test_exit::test_suspending_twice_restores_the_terminal_each_time",
            "test_real_terminal::test_losing_the_terminal_during_a_turn_ends_the_client",
            "scenarios/test_sizes::test_agent_output_cannot_control_the_terminal",
        ),
    },
    "agents that behave badly": {
        "dying": (
            "test_real_terminal::test_a_dead_agent_is_reported_and_restarted",
            "scenarios/test_agents::test_the_last_output_of_a_dead_agent_is_shown_even_after_20_megabytes",
        ),
        "hanging and flooding": (
            "scenarios/test_agents::test_a_flooding_agent_can_be_stopped_and_a_hanging_one_killed",
        ),
        "updates that nobody knows": (
            "scenarios/test_agents::test_unknown_updates_are_harmless",
            "scenarios/test_work::test_unknown_updates_are_in_the_log",
        ),
        "twenty megabytes": (
            "scenarios/test_agents::test_the_last_output_of_a_dead_agent_is_shown_even_after_20_megabytes",
        ),
        "not starting": ("test_real_terminal::test_a_failed_start_is_explained",),
    },
}
WITHOUT_A_TERMINAL = "test_real_terminal::test_without_a_terminal_chat_acts_like_run"
"""The one feature that shows where there is no terminal."""

CLAUSES = [(f"{subject}: {clause}", tests) for subject, part in FEATURES.items() for clause, tests in part.items()]


@cache
def scenarios(module: str) -> dict[str, set[str]]:
    """Return the tests of a module, each with its fixtures."""
    tree = ast.parse((HERE / f"{module}.py").read_text(encoding="utf-8"))
    return {
        node.name: {argument.arg for argument in node.args.args}
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test_")
    }


@pytest.mark.parametrize(("clause", "tests"), CLAUSES, ids=[clause for clause, _ in CLAUSES])
def test_every_feature_has_scenarios_in_a_real_terminal(clause: str, tests: tuple[str, ...]) -> None:
    assert tests, f"nothing shows {clause}"
    for each in tests:
        module, _, name = each.partition("::")
        assert name in scenarios(module), f"{clause}: there is no {name} in {module}.py"
        assert "tmux" in scenarios(module)[name], f"{clause}: {name} is not driven in a real terminal"


def test_the_feature_without_a_terminal_is_tested_too() -> None:
    module, _, name = WITHOUT_A_TERMINAL.partition("::")
    assert name in scenarios(module)
