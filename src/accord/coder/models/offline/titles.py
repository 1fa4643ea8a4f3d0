"""What a step is called: in the plan, and in sentences about what was done and what was not."""

from __future__ import annotations

from accord.coder.models.offline import requests as r


def title(step: r.Step) -> str:
    """A step in a few words."""
    match step:
        case r.ListFiles(path=path):
            return "List the files" + ("" if path == "." else f" in {path}")
        case r.ReadFiles(paths=paths):
            return f"Read {_names(paths)}"
        case r.FindFiles(pattern=pattern):
            return f"Find the files that match {pattern.removeprefix('**/')}"
        case r.Search(text=text, where=where):
            return f"Search for {_quoted(text)} in {_plain(where)}"
        case r.Outline(path=path):
            return "Outline the project" if path == "." else f"Outline {path}"
        case r.FindSymbol(name=name, what=what):
            return f"Find where {name} is {what}"
        case r.ShowChanges(path=path):
            return "Look at the changes" + (f" in {path}" if path else "")
        case r.Review():
            return "Review the changes"
        case r.Replace(old=old, new="", where=where):
            return f"Remove {_quoted(old)} from {_plain(where)}"
        case r.Replace(old=old, new=new, where=where):
            return f"Replace {_quoted(old)} with {_quoted(new)} in {_plain(where)}"
        case r.WriteFile(path=path, new=new):
            return f"{'Create' if new else 'Write'} {path}"
        case r.Append(path=path):
            return f"Append to {path}"
        case r.MoveFile(source=source, target=target):
            return f"Move {source} to {target}"
        case r.DeleteFiles(paths=paths):
            return f"Delete {_names(paths)}"
        case r.RunFile(path=path):
            return f"Run {path}"
        case r.Run(command=command):
            return f"Run {_short(command)}"
        case _:
            return _other(step)


def _other(step: r.Step) -> str:
    match step:
        case r.RunTask(task=task, only=only):
            names = {"test": "Run the tests", "lint": "Run the linter", "format": "Format the code", "build": "Build"}
            return names[task] + (f" in {only}" if only else "")
        case r.MakePlan(topic=topic):
            return f"Plan: {_short(topic)}"
        case r.AddTodo(text=text):
            return f"Remember: {_short(text)}"
        case r.ShowTodos():
            return "Show the todos"
        case r.MarkTodo(number=number):
            return f"Mark todo {number}" if number > 0 else "Mark the last todo"
        case r.Fetch(url=url):
            return f"Fetch {_short(url)}"
        case r.SwitchMode(mode=mode):
            return f"Switch to {mode} mode"
        case r.DescribeProject(path=path):
            return f"Write {path}"
        case r.Summarise():
            return "Summarise the conversation"
        case r.Help():
            return "Show what I understand"
        case r.Unknown(text=text) | r.Unclear(words=text):
            return _short(text)
        case _:
            return "Go on"


def _names(paths: list[str]) -> str:
    return ", ".join(paths) if len(paths) < 4 else f"{paths[0]}, {paths[1]} and {len(paths) - 2} more"


def _plain(where: r.Where) -> str:
    return str(where).replace("`", "")


def _quoted(text: str) -> str:
    return f"“{_short(text, 40)}”"


def _short(text: str, most: int = 80) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"
