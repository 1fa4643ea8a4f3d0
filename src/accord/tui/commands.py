"""The table of commands, from which key bindings, the command palette and the help screen are made."""

from __future__ import annotations

from typing import NamedTuple

from textual.binding import Binding


class Command(NamedTuple):
    """A command: the action of the application, its keys, and what it does."""

    action: str
    keys: str
    title: str
    about: str
    priority: bool = False
    setting: str = ""
    """The setting that the action `toggle_setting` turns on and off."""


UNDO_REWIND = "Undo the rewind"

COMMANDS = (
    Command("sessions", "ctrl+o", "Sessions", "Search, load, resume, fork, rename, delete and export sessions"),
    Command("new_session", "ctrl+t", "New session", "Start another session with the same agent in a new tab"),
    Command("options", "ctrl+g", "Mode, model and options", "Change the agent's mode, model and options"),
    Command("next_mode", "shift+tab", "Next mode", "Switch to the agent's next mode"),
    Command("new_tab", "ctrl+n", "New tab", "Choose an agent and start a session in a new tab"),
    Command("rewind", "alt+r", "Rewind files", "Restore files to their state before a turn"),
    Command("history", "alt+h", "Previous prompts", "Search the prompts of this project and insert one"),
    Command("copy_answer", "f5", "Copy the answer", "Copy the agent's last message"),
    Command("change_theme", "", "Theme", "Change the theme"),
    Command("settings", "f10", "Settings", "Theme, side panel, side-by-side diffs, notifications"),
    Command("keys", "f1", "Keys", "Show all keys"),
    Command("log_in", "", "Log in", "Log in with one of the agent's methods"),
    Command(
        "status", "alt+s", "All sessions", "The sessions of all agents on this machine, and those that wait for you"
    ),
    Command("side", "f2", "Side panel", "Show or hide the plan, changed files, servers and context"),
    Command("plan", "alt+p", "Plan", "Show the whole plan"),
    Command(
        "toggle_setting",
        "alt+w",
        "Follow the agent",
        "Show the file and line that the agent works on",
        setting="follow",
    ),
    Command("work", "alt+a", "Background work", "Show or stop background work and subagents"),
    Command("open_all", "f3", "Expand or collapse all", "Show all tool calls and thoughts in full, or their previews"),
    Command("edit_prompt", "f4", "Prompt in the editor", "Edit the prompt in $EDITOR"),
    Command("send_now", "", "Send now", "Send the prompt into the running turn, or in its place"),
    Command("queue", "f6", "Queue", "Select a queued prompt"),
    Command("unqueue", "alt+up", "Edit queued prompt", "Edit the last queued prompt"),
    Command("review", "", "Review changes", "Comment on lines of the session's changes and its plan, and send them"),
    Command("diff", "", "Changes", "Show what has changed in the working tree since the last commit"),
    Command("next_tab", "f8,ctrl+pagedown", "Next tab", "Go to the next tab"),
    Command("previous_tab", "f7,ctrl+pageup", "Previous tab", "Go to the previous tab"),
    Command("waiting_tab", "alt+t", "Waiting tab", "Go to the next tab that waits for your answer"),
    Command("close_tab", "f9", "Close the tab", "Close the tab; the agent keeps the session if it can"),
    Command("export", "", "Export", "Export the transcript as Markdown, JSON or HTML"),
    Command("rename", "", "Rename", "Change the title of the session"),
    Command("undo_rewind", "", UNDO_REWIND, "Revert the last rewind"),
    Command("cost", "", "Cost", "Show the context in use and the cost"),
    Command("servers", "", "MCP servers", "The MCP servers of this session and their state"),
    Command("logs", "ctrl+l", "Logs", "The agent's output and all protocol messages"),
    Command("doctor", "alt+d", "Doctor", "Diagnose why the agent won't start"),
    Command("restart", "ctrl+r", "Restart the agent", "Restart an agent that has exited, and continue the session"),
    Command("kill", "f12", "Kill the agent", "Kill an agent that hangs or doesn't start"),
    Command("log_out", "", "Log out", "Log out of the agent"),
    Command("suspend_process", "ctrl+z", "Suspend", "Suspend to the shell; resume with fg", True),
    Command("interrupt", "ctrl+c", "Quit", "Press twice to quit; unsent text is saved", True),
)
"""All commands, those used most first: in this order the palette and the help list them. None is reached only by a key
that some terminals keep for themselves, such as F1, F10 or Alt with a letter: Ctrl-P lists them all."""

MOST_USED = (
    ("enter", "send; while the agent works, queue"),
    ("esc", "stop the agent"),
    ("/", "commands"),
    ("@", "mention files"),
    ("↑", "previous prompts"),
    ("ctrl+j", "new line"),
    ("shift+tab", "next mode"),
    ("tab", "read the transcript: ↑ ↓ select, enter opens"),
    ("ctrl+o", "sessions"),
    ("ctrl+t", "new session"),
    ("ctrl+p", "search all commands and settings"),
    ("ctrl+c twice", "quit"),
)

TYPING = (
    ("enter", "send; while the agent works, queue"),
    ("ctrl+s", "send now: into the running turn, or in its place"),
    ("ctrl+j, shift+enter, \\ enter", "new line"),
    ("↑ ↓ on the first and last line", "previous prompts"),
    ("/", "commands of the agent and of this client"),
    ("@", "mention files; @path:12-40 for lines"),
    ("!", "run a shell command; !! also gives the output to the agent"),
    ("alt+e", "show folded text in full"),
    ("ctrl+v", "paste the image in the clipboard"),
    ("esc", "stop the turn, or a slow start"),
    ("ctrl+k, ctrl+u, ctrl+w", "cut to the end or start of the line, or a word"),
    ("alt+k", "cut everything"),
    ("ctrl+y", "paste what was cut last; after an undo, redo"),
    ("ctrl+_", "undo"),
    ("page up, page down, shift+↑↓", "scroll"),
    ("ctrl+home, ctrl+end", "go to the start or end"),
    ("tab", "go to the transcript"),
)

READING = (
    ("↑ ↓ j k", "select"),
    ("enter, space", "open or fold"),
    ("o", "expand or collapse all"),
    ("y c", "copy (OSC 52)"),
    ("e", "open the file or the whole text in $EDITOR"),
    ("v", "open its images outside the terminal"),
    ("drag, double click, ctrl+c", "select and copy text"),
    ("r", "review the changes: comment on lines, and send the comments"),
    ("x", "stop one tool call, command or subagent, if possible"),
    ("f, end", "go to the end and follow"),
    ("home", "go to the start"),
    ("tab, esc, i", "back to the prompt"),
)

QUEUED = (
    ("↑ ↓", "select"),
    ("enter", "edit it"),
    ("delete, d", "remove it"),
    ("tab, esc", "back to the prompt"),
)

ASKED = (
    ("1 … 9", "choose that answer"),
    ("y, n", "allow once, reject once"),
    ("i", "reject, and say what to do instead"),
    ("s, a", "allow for this session, always allow (if offered)"),
    ("↑ ↓ enter", "choose"),
    ("t", "how long it is remembered: forever, an hour, a day, this session"),
    ("page up, page down", "scroll"),
    ("esc", "stop the turn"),
)


def bindings() -> list[Binding]:
    """Return the key bindings for the application."""
    actions = {each: f"{each.action}('{each.setting}')" if each.setting else each.action for each in COMMANDS}
    return [
        Binding(each.keys, actions[each], each.title, show=False, priority=each.priority)
        for each in COMMANDS
        if each.keys
    ]
