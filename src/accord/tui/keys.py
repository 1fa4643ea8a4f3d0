"""Everything the user can do, in one table: the keys, the command palette and the help are made from it."""

from __future__ import annotations

from typing import NamedTuple

from textual.binding import Binding


class Deed(NamedTuple):
    """Something that can be done: the action of the application, its keys, and what it does."""

    action: str
    keys: str
    title: str
    about: str
    priority: bool = False


DEEDS = (
    Deed("new_tab", "ctrl+n", "New tab", "Choose an agent and begin a session in a new tab"),
    Deed("new_session", "ctrl+t", "New session", "Begin another session with the same agent, in a new tab"),
    Deed("sessions", "ctrl+o", "Sessions", "Search, load, resume, fork, rename, delete and export sessions"),
    Deed("options", "ctrl+g", "Mode, model and options", "Set what the agent lets be set"),
    Deed("next_mode", "shift+tab", "Next mode", "Change to the agent's next mode"),
    Deed("logs", "ctrl+l", "Logs", "What the agent printed, and what goes over the wire"),
    Deed("side", "f2", "Side panel", "Show or hide the plan, the context and the options"),
    Deed("follow", "alt+w", "Follow the agent", "Show the file where the agent is at work, around the line"),
    Deed("plan", "alt+p", "Plan", "Show the whole plan"),
    Deed("work", "alt+a", "At work", "What goes on in the background, and subagents: look at it, or stop it"),
    Deed("queue", "f6", "Queue", "Select among the prompts that wait"),
    Deed("unqueue", "alt+up", "Take back", "Take the last prompt that waits back to change it"),
    Deed("history", "alt+h", "Earlier prompts", "Search in the prompts of this project and put one into the prompt"),
    Deed("edit_prompt", "f4", "Prompt in the editor", "Write the prompt in $EDITOR"),
    Deed("open_all", "f3", "Open or fold all", "Open or fold all tool calls and thoughts"),
    Deed("copy_answer", "f5", "Copy the answer", "Copy what the agent said last"),
    Deed("rewind", "alt+r", "Rewind files", "Bring files back to what they were before a turn"),
    Deed("undo_rewind", "", "Undo the rewind", "Take the last rewind back"),
    Deed("export", "", "Export", "Write the conversation to a file: Markdown, JSON or HTML"),
    Deed("rename", "", "Rename", "Give the session another title"),
    Deed("servers", "", "MCP servers", "Which this session has, and how they are doing"),
    Deed("log_in", "", "Log in", "Log in by one of the agent's methods"),
    Deed("log_out", "", "Log out", "Log out at the agent"),
    Deed("restart", "ctrl+r", "Start the agent again", "Start an agent that is gone, and go on with the session"),
    Deed("doctor", "alt+d", "Doctor", "Say in words why the agent does not start"),
    Deed("kill", "f12", "Kill the agent", "End an agent that does not react, or does not start"),
    Deed("next_tab", "f8,ctrl+pagedown", "Next tab", "Go to the next tab"),
    Deed("previous_tab", "f7,ctrl+pageup", "Tab before", "Go to the tab before"),
    Deed("waiting_tab", "alt+t", "Tab that waits", "Go to the next tab in which an agent waits for your answer"),
    Deed("close_tab", "f9", "Close the tab", "Close the tab; the agent keeps the session if it can"),
    Deed("settings", "f10", "Settings", "Theme, side panel, changes side by side, notifications"),
    Deed("keys", "f1", "Keys", "Show all keys"),
    Deed("suspend_process", "ctrl+z", "Suspend", "Go back to the shell; fg comes back", True),
    Deed("interrupt", "ctrl+c", "Quit", "Press twice to quit; what you typed is kept", True),
)

TYPING = (
    ("enter", "send; while the agent works, queue"),
    ("ctrl+s", "send now: into the running turn, or in its place"),
    ("ctrl+j, shift+enter, \\ enter", "new line"),
    ("↑ ↓ on the first and last line", "earlier prompts"),
    ("/", "commands of the agent"),
    ("@", "files; they are embedded or linked; @path:12-40 names lines"),
    ("ctrl+v", "the picture in the clipboard"),
    ("esc", "stop the turn, or a start that takes long"),
    ("ctrl+k, ctrl+u, ctrl+w", "cut to the end or the beginning of the line, or a word"),
    ("alt+k", "cut everything"),
    ("ctrl+y", "put back what was cut last; after an undo, do it again"),
    ("ctrl+_", "undo"),
    ("page up, page down, shift+↑↓, ctrl+home, ctrl+end", "scroll"),
    ("tab", "to the conversation"),
)

READING = (
    ("↑ ↓ j k", "select"),
    ("enter, space", "open or fold"),
    ("o", "open or fold all"),
    ("y c", "copy (OSC 52)"),
    ("e", "open the file, or all of the text, in $EDITOR"),
    ("v", "see its pictures outside the terminal"),
    ("drag, double and triple click, ctrl+c", "mark text, and copy it"),
    ("x", "stop a tool call, a command or a subagent alone, where that can be done"),
    ("f, end", "to the end, and follow"),
    ("home", "to the beginning"),
    ("tab, esc, i", "back to the prompt"),
)

QUEUED = (
    ("↑ ↓", "select"),
    ("enter", "take it back to change it"),
    ("delete, d", "remove it"),
    ("tab, esc", "back to the prompt"),
)

ASKED = (
    ("1 … 9", "choose that answer"),
    ("y, n", "allow this once, reject it this once"),
    ("s, a", "allow it for this session, allow it always, where that is offered"),
    ("↑ ↓ enter", "choose"),
    ("t", "how long it is remembered: for ever, an hour, a day, this session"),
    ("page up, page down", "see all of it"),
    ("esc", "stop the turn"),
)


def bindings() -> list[Binding]:
    """The keys of the table, for the application."""
    return [
        Binding(deed.keys, deed.action, deed.title, show=False, priority=deed.priority) for deed in DEEDS if deed.keys
    ]
