"""Names that other agents have for our arguments and their values."""

from __future__ import annotations

from collections.abc import Mapping

ALIASES: Mapping[str, str] = {
    "file_path": "path file filename target_file absolute_path relative_path notebook_path uri paths file_paths files",
    "path": "file_path file directory dir dir_path directory_path relative_path folder target_directory search_path "
    "root paths directories target_directories",
    "source": "from source_path old_path src",
    "destination": "to target destination_path target_path new_path dest dst",
    "offset": "line start_line line_number start from_line start_line_one_indexed",
    "limit": "head_limit max_results max_lines num_lines line_count max_matches",
    "line_numbers": "show_line_numbers with_line_numbers number n",
    "content": "contents text file_text file_content body new_content code_edit",
    "edits": "changes replacements operations",
    "old_string": "old old_str old_text search find",
    "new_string": "new new_str new_text replace replacement",
    "replace_all": "all allow_multiple",
    "pattern": "query regex regexp search search_term search_pattern text patterns queries",
    "glob": "include include_pattern include_glob file_pattern file_glob globs glob_pattern pattern",
    "mode": "output_mode mode_slug mode_id",
    "before": "b before_context",
    "after": "a after_context",
    "output_mode": "mode output",
    "ignore_case": "i case_insensitive !case_sensitive",
    "literal": "literal_text fixed_strings f !regex !is_regex !is_regexp",
    "symbol": "name symbol_name name_path identifier",
    "depth": "max_depth levels",
    "command": "cmd script shell_command commands bash",
    "cwd": "workdir working_directory working_dir directory dir dir_path path",
    "timeout": "timeout_ms timeout_seconds timeout_secs block_until_ms",
    "url": "uri link address",
    "steps": "todos plan items tasks entries todo_list",
    "question": "prompt message text",
    "choices": "options suggestions answers follow_up",
    "multiple": "multi_select multiple_choice",
}
"""Other names of our arguments. With a leading `!`, the value means the opposite. A field adds its own with
`Meta(extra={"aliases": ...})`."""
VALUES: Mapping[str, str] = {
    "files": "files_with_matches",
    "files_only": "files_with_matches",
    "files_with_match": "files_with_matches",
    "counts": "count",
    "lines": "content",
    "todo": "pending",
    "not_started": "pending",
    "open": "pending",
    "doing": "in_progress",
    "active": "in_progress",
    "started": "in_progress",
    "done": "completed",
    "complete": "completed",
    "finished": "completed",
    "definition": "definitions",
    "defined": "definitions",
    "references": "uses",
    "used": "uses",
    "usages": "uses",
    "rename": "move",
    "remove": "delete",
    "very_thorough": "thorough",
    "normal": "medium",
    "plan": "architect",
    "act": "code",
    "build": "code",
}
"""Other names of values that a field lists."""
UNREPORTED = frozenset(
    {
        *("activeform", "command", "description", "explanation", "id", "n", "reason", "requiresapproval", "thought"),
        *("tool", "toolcallid", "toolname", "toolsummary", "withescalatedpermissions", "yieldtimems"),
    }
)
"""Unknown names, normalized, that change nothing: they aren't reported as ignored."""
