"""What the terminal client can do, and the scenarios in a real terminal that show it. A scenario that is not there, or
is not driven for real, is a feature that nobody has seen."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent

FEATURES: dict[str, dict[str, tuple[str, ...]]] = {
    "the conversation": {
        "Markdown, streamed": (
            "for_real::test_markdown_is_streamed_and_drawn",
            "scenarios_conversation::test_what_is_said_is_seen_while_it_is_said",
        ),
        "code highlighted, tables, links": (
            "scenarios_conversation::test_code_is_coloured_tables_stand_in_columns_and_links_can_be_followed",
        ),
        "thoughts folded": ("scenarios_conversation::test_a_thought_is_one_line_until_it_is_opened",),
        "pictures named": (
            "for_real::test_a_picture_is_named",
            "scenarios_images::test_without_colours_pictures_are_named",
        ),
        "pictures drawn": (
            "scenarios_images::test_a_picture_is_drawn_in_blocks_and_scrolls_with_the_text",
            "scenarios_images::test_a_terminal_with_graphics_gets_the_picture_whole_and_forgets_it_at_the_end",
        ),
        "replayed history": (
            "scenarios_conversation::test_a_session_that_is_opened_again_shows_what_was_said_and_done",
            "scenarios_turns::test_a_session_is_gone_on_with_where_it_was_left",
        ),
        "thousands of messages": (
            "scenarios_sizes::test_ten_thousand_messages_are_scrolled_from_end_to_end_and_more_come",
        ),
    },
    "tool calls": {
        "kind, title, status, elapsed time": (
            "for_real::test_tool_calls_of_every_kind_and_status_are_lines_that_open",
            "scenarios_conversation::"
            "test_a_call_says_what_it_is_how_it_went_and_how_long_and_opens_to_input_and_output",
        ),
        "input and output": (
            "scenarios_conversation::"
            "test_a_call_says_what_it_is_how_it_went_and_how_long_and_opens_to_input_and_output",
        ),
        "changes, side by side and unified, with words and colours": (
            "scenarios_conversation::test_changes_stand_side_by_side_or_below_one_another_with_the_words_that_differ",
        ),
        "live output of commands with colours": (
            "for_real::test_a_command_runs_in_a_terminal_with_its_colours",
            "scenarios_work::test_what_a_command_prints_is_seen_as_it_comes",
        ),
        "locations in the editor": (
            "scenarios_editor::test_the_whole_of_a_message_is_opened",
            "scenarios_editor::test_the_place_that_a_call_is_about_is_opened_at_its_line",
            "scenarios_work::test_which_file_is_opened_is_asked",
        ),
        "calls that nobody ends": (
            "scenarios_work::test_a_call_that_nobody_ends_does_not_run_for_ever_and_an_end_that_comes_late_is_taken",
        ),
        "follow mode": ("scenarios_work::test_the_agent_is_followed_from_place_to_place",),
        "stopping one of them, and what goes on in the background": (
            "scenarios_work::test_one_tool_call_is_stopped_and_the_turn_goes_on",
            "scenarios_work::test_what_goes_on_in_the_background_is_seen_and_stopped",
            "scenarios_work::test_a_subagent_is_watched_in_a_tab_and_stopped",
        ),
    },
    "permissions": {
        "the change, the command, the path": (
            "for_real::test_a_change_is_shown_and_its_permission_is_asked_for",
            "scenarios_attention::test_a_question_stands_between_the_conversation_and_the_prompt_and_says_what_it_is",
            "scenarios_lasting::test_an_answer_holds_for_an_hour_and_what_would_happen_is_seen_at_forty_by_twelve",
        ),
        "numbers": ("scenarios_answering::test_every_number_from_one_to_nine_chooses_its_answer",),
        "y, n, a": (
            "scenarios_asking::test_several_questions_wait_for_one_another_and_letters_and_numbers_answer_them",
            "scenarios_answering::test_a_number_that_is_no_answer_does_nothing",
            "scenarios_asking::test_always_is_remembered_and_not_asked_again",
        ),
        "remembered choices": ("scenarios_asking::test_always_is_remembered_and_not_asked_again",),
        "several that wait": (
            "scenarios_asking::test_several_questions_wait_for_one_another_and_letters_and_numbers_answer_them",
        ),
    },
    "at a glance": {
        "plan": (
            "for_real::test_the_plan_and_the_context_stand_at_the_side",
            "scenarios_work::test_the_plan_is_a_line_in_a_narrow_window_and_a_key_shows_it_whole",
        ),
        "context and cost": ("for_real::test_the_plan_and_the_context_stand_at_the_side",),
        "mode and model": ("for_real::test_modes_and_options_are_set",),
        "options": ("scenarios_asking::test_options_are_switched_and_notices_and_compaction_are_shown",),
        "running, waiting, idle": (
            "scenarios_conversation::test_what_is_said_is_seen_while_it_is_said",
            "scenarios_attention::test_a_question_stands_between_the_conversation_and_the_prompt_and_says_what_it_is",
        ),
    },
    "the prompt": {
        "several lines and earlier prompts": (
            "scenarios_prompt::test_a_prompt_is_sent_while_a_turn_runs",
            "scenarios_turns::test_an_earlier_prompt_is_found_in_another_run",
        ),
        "commands with hints": (
            "for_real::test_commands_and_files_are_completed",
            "scenarios_prompt::test_commands_have_hints_and_many_lines_can_be_pasted",
        ),
        "files, which git does not ignore, embedded or linked": (
            "for_real::test_commands_and_files_are_completed",
            "scenarios_prompt::test_files_that_are_named_go_with_the_prompt",
            "scenarios_prompt::test_a_file_that_is_not_there_is_told_and_a_tab_waits_for_the_list",
        ),
        "pictures and files pasted": (
            "scenarios_conversation::test_a_picture_and_a_file_that_are_pasted_go_with_the_prompt",
            "scenarios_pasting::test_a_picture_in_the_clipboard_is_mentioned_and_sent",
            "scenarios_pasting::test_a_file_that_is_dropped_is_mentioned_and_lines_of_it_can_be_named",
        ),
        "queueing: list, edit, remove": ("scenarios_prompt::test_prompts_that_wait_are_listed_changed_and_removed",),
        "steering": (
            "scenarios_prompt::test_a_prompt_is_sent_while_a_turn_runs",
            "scenarios_turns::test_a_prompt_sent_into_a_turn_is_seen_until_the_agent_takes_it_and_can_be_had_back",
        ),
        "Esc stops the turn": ("scenarios_conversation::test_what_is_said_is_seen_while_it_is_said",),
        "Ctrl-C twice quits": ("for_real::test_ctrl_c_twice_quits_and_what_was_typed_is_there_the_next_time",),
        "in the editor": (
            "scenarios_editor::test_an_editor_that_fails_or_is_not_there_is_told_and_the_prompt_stays",
            "scenarios_editor::test_the_prompt_is_written_in_the_editor",
        ),
    },
    "sessions": {
        "in tabs, of several agents": (
            "for_real::test_several_sessions_in_tabs_are_listed_loaded_and_renamed",
            "scenarios_sessions::test_two_agents_have_a_tab_each_and_each_goes_on_while_the_other_is_looked_at",
        ),
        "searched, loaded, resumed, forked, renamed, deleted": (
            "scenarios_sessions::test_a_session_is_renamed_forked_resumed_loaded_and_deleted",
        ),
        "gone on with from the command line": (
            "scenarios_turns::test_a_session_is_gone_on_with_where_it_was_left",
            "scenarios_turns::test_a_session_that_is_not_there_is_told_of_and_a_new_one_is_a_key_away",
        ),
        "found by what was said": (
            "scenarios_turns::test_a_session_is_found_by_what_was_said_in_it_and_written_to_a_file",
        ),
        "exported": ("scenarios_sessions::test_an_export_holds_what_was_said_and_done",),
        "rewound, and that undone": (
            "scenarios_sessions::test_files_are_rewound_to_before_a_turn_and_the_rewind_is_undone",
        ),
    },
    "what agents ask and tell": {
        "forms with every kind of field": (
            "scenarios_answering::test_every_kind_of_field_is_filled_in_with_keys",
            "scenarios_asking::test_a_form_gives_every_kind_of_value_and_a_page_is_named",
            "scenarios_answering::test_a_form_can_be_declined_and_left",
        ),
        "logins of the agent": (
            "for_real::test_a_login_is_asked_for_and_done_inside",
            "scenarios_asking::test_a_demand_to_log_in_is_met_from_the_palette",
        ),
        "logins in the terminal": (
            "scenarios_asking::test_a_login_of_the_agents_own_runs_in_the_terminal",
            "scenarios_starting::test_a_prompt_goes_on_after_a_login_in_a_real_terminal",
            "scenarios_starting::test_ctrl_c_ends_a_login_and_nothing_else",
        ),
        "notices": ("scenarios_asking::test_options_are_switched_and_notices_and_compaction_are_shown",),
        "MCP servers": (
            "scenarios_servers::test_how_a_server_is_doing_is_seen_at_the_side_and_on_a_page",
            "scenarios_asking::test_what_became_of_a_server_is_told",
        ),
    },
    "agents": {
        "configured, of a registry, by command line": (
            "scenarios_start::test_with_several_agents_the_client_opens_on_the_start_page",
            "scenarios_start::test_an_agent_of_the_registry_is_installed_inside_the_client",
            "scenarios_agents::test_the_start_page_has_configured_and_registry_agents_and_keeps_a_command_line",
        ),
        "that hang while they start": ("scenarios_starting::test_an_agent_that_hangs_is_ended_in_a_real_terminal",),
        "the doctor": ("scenarios_agents::test_an_agent_that_does_not_start_is_looked_at_by_the_doctor",),
        "what it printed": ("scenarios_agents::test_the_log_is_filtered",),
        "the wire, live and filtered": (
            "scenarios_conversation::test_the_wire_is_watched_live_and_filtered",
            "scenarios_logs::test_the_log_has_the_handshake_and_a_message_opens_and_the_log_is_saved",
        ),
        "the built-in one": ("for_real::test_without_a_name_it_is_the_built_in_agent",),
    },
    "comfort": {
        "keys": ("scenarios_comfort::test_the_keys_are_shown_and_settings_last",),
        "the palette": ("scenarios_conversation::test_the_palette_finds_what_can_be_done_by_its_words",),
        "light and dark": (
            "scenarios_ground::test_the_theme_is_light_where_the_terminal_is",
            "scenarios_comfort::test_the_keys_are_shown_and_settings_last",
        ),
        "no colour": (
            "for_real::test_no_color_means_no_colour",
            "scenarios_answering::test_without_colours_everything_is_still_told",
            "scenarios_marking::test_marking_without_colours_is_seen",
        ),
        "the mouse": (
            "scenarios_mouse::test_completions_and_rows_of_lists_are_clicked_on",
            "scenarios_mouse::test_a_prompt_that_waits_is_clicked_on",
            "scenarios_marking::test_two_clicks_mark_a_word_and_a_click_still_opens",
            "scenarios_mouse::test_a_click_opens_a_call_and_another_folds_it_and_the_keys_stay_in_the_prompt",
            "scenarios_mouse::test_the_wheel_scrolls_and_at_the_end_the_view_follows_again",
            "scenarios_mouse::test_a_click_on_the_bar_goes_there",
            "scenarios_mouse::test_tabs_are_clicked_on",
            "scenarios_mouse::test_an_answer_is_clicked_on",
            "scenarios_marking::test_text_is_marked_by_a_drag_and_copied",
        ),
        "windows that change": (
            "for_real::test_the_window_can_change_its_size",
            "scenarios_sizes::test_the_window_changes_its_size_in_the_middle_of_an_answer",
        ),
        "wide letters": (
            "scenarios_sizes::test_columns_of_wide_letters_stand_below_one_another",
            "scenarios_comfort::test_an_answer_is_copied_and_wide_letters_keep_their_columns",
        ),
        "an order that can be read aloud": (
            "scenarios_linear::test_the_screen_is_words_in_one_column_and_the_cursor_is_seen_where_one_types",
            "scenarios_attention::"
            "test_the_page_reads_from_the_conversation_down_to_the_prompt_and_the_cursor_is_where_one_types",
        ),
        "copies by OSC 52": (
            "scenarios_attention::test_what_is_copied_is_in_the_clipboard_of_the_terminal",
            "scenarios_comfort::test_an_answer_is_copied_and_wide_letters_keep_their_columns",
        ),
        "bells and notifications": (
            "scenarios_attention::"
            "test_a_turn_that_ends_while_the_user_looks_elsewhere_rings_and_one_that_is_seen_does_not",
            "scenarios_attention::test_a_turn_that_ends_in_another_tab_rings_and_its_tab_is_marked",
            "scenarios_attention::test_a_question_in_a_tab_that_is_not_seen_is_told_of_and_gone_to",
            "scenarios_called::test_a_notification_and_the_bell_reach_the_terminal_around_tmux",
        ),
        "settings that last": (
            "scenarios_comfort::test_the_keys_are_shown_and_settings_last",
            "scenarios_attention::test_how_one_is_called_is_a_setting_that_lasts",
        ),
        "a terminal that is never broken": (
            "scenarios_ending::test_a_terminal_that_nobody_else_sets_is_put_back_after_a_kill",
            "scenarios_editor::test_the_editor_has_the_terminal_to_itself_and_gives_it_back",
            "scenarios_ending::test_a_signal_in_the_middle_of_an_answer_gives_the_terminal_back_as_it_was",
            "scenarios_ending::test_a_client_that_is_killed_takes_its_agents_with_it_and_the_terminal_is_put_back",
            "scenarios_ending::test_a_fault_of_ours_ends_it_in_order_and_what_was_typed_is_kept",
            "scenarios_ending::test_suspended_it_gives_the_terminal_back_and_takes_it_again_twice",
            "for_real::test_a_terminal_that_is_gone_in_the_middle_of_an_answer_ends_it",
            "scenarios_sizes::test_what_an_agent_says_does_not_steer_the_terminal",
        ),
    },
    "agents that behave badly": {
        "dying": (
            "for_real::test_an_agent_that_dies_is_told_of_and_started_again",
            "scenarios_agents::test_an_agent_that_dies_says_its_last_words_and_twenty_megabytes_do_no_harm",
        ),
        "hanging and flooding": (
            "scenarios_agents::test_an_agent_that_floods_can_be_stopped_and_one_that_hangs_can_be_killed",
        ),
        "updates that nobody knows": (
            "scenarios_agents::test_updates_that_nobody_knows_do_no_harm",
            "scenarios_work::test_updates_that_nobody_knows_are_found_in_the_log",
        ),
        "twenty megabytes": (
            "scenarios_agents::test_an_agent_that_dies_says_its_last_words_and_twenty_megabytes_do_no_harm",
        ),
        "not starting": ("for_real::test_an_agent_that_does_not_start_is_explained",),
    },
}
WITHOUT_A_TERMINAL = "for_real::test_without_a_terminal_it_is_accord_run"
"""The one feature that shows where there is no terminal."""

CLAUSES = [(f"{subject}: {clause}", tests) for subject, part in FEATURES.items() for clause, tests in part.items()]


@cache
def scenarios(module: str) -> dict[str, set[str]]:
    """The tests of a module, each with what it asks for."""
    tree = ast.parse((HERE / f"test_{module}.py").read_text(encoding="utf-8"))
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
        assert name in scenarios(module), f"{clause}: there is no {name} in test_{module}.py"
        assert "tmux" in scenarios(module)[name], f"{clause}: {name} is not driven in a real terminal"


def test_what_happens_without_a_terminal_is_tested_too() -> None:
    module, _, name = WITHOUT_A_TERMINAL.partition("::")
    assert name in scenarios(module)
