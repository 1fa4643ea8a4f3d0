"""Which script carries out which request."""

from __future__ import annotations

from accord.coder.models.offline import requests as r
from accord.coder.models.offline.script import Script, Situation
from accord.coder.models.offline.scripts import commands, describing, edits, files, plans, reviewing, searching, talk


def script(step: r.Step, situation: Situation) -> Script[str]:
    """How a step is carried out. Ends with what there is to say about it."""
    match step:
        case r.ListFiles():
            return files.list_files(step, situation)
        case r.ReadFiles():
            return files.read_files(step, situation)
        case r.FindFiles():
            return files.find_files(step, situation)
        case r.Outline():
            return files.outline(step, situation)
        case r.Search():
            return searching.search(step, situation)
        case r.FindSymbol():
            return searching.find_symbol(step, situation)
        case r.ShowChanges():
            return reviewing.show_changes(step, situation)
        case r.Review():
            return reviewing.review(step, situation)
        case r.Replace():
            return edits.replace(step, situation)
        case r.WriteFile():
            return edits.write(step, situation)
        case r.Append():
            return edits.append(step, situation)
        case r.MoveFile():
            return edits.move(step, situation)
        case r.DeleteFiles():
            return edits.delete(step, situation)
        case r.Run():
            return commands.run(step, situation)
        case r.RunFile():
            return commands.run_file(step, situation)
        case r.RunTask():
            return commands.run_task(step, situation)
        case r.Fetch():
            return commands.fetch(step, situation)
        case r.SwitchMode():
            return commands.switch_mode(step, situation)
        case r.MakePlan():
            return plans.make(step, situation)
        case r.AddTodo():
            return plans.add(step, situation)
        case r.ShowTodos():
            return plans.show(step, situation)
        case r.MarkTodo():
            return plans.mark(step, situation)
        case r.DescribeProject():
            return describing.describe(step, situation)
        case r.Summarise() | r.Help() | r.Talk() | r.Continue() | r.Unclear() | r.Unknown():
            return talk.answer(step, situation)
