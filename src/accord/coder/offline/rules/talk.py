"""Rules for plans, todos, modes, the conversation, and the agent itself."""

from __future__ import annotations

from typing import Any

from accord.coder.offline.requests import (
    AddTodo,
    Continue,
    DescribeProject,
    Help,
    MakePlan,
    MarkTodo,
    Review,
    RunTask,
    ShowTodos,
    Step,
    Summarize,
    SwitchMode,
    Talk,
    Unclear,
)
from accord.coder.offline.rules.rule import Parts, Reader, Rule, always

NUMBERS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]


def plan(reader: Reader, parts: Parts) -> Step | None:
    topic = reader.value((parts.get("body") or "").strip()).strip().rstrip(".?!")
    return MakePlan(topic=topic) if topic else Unclear(words="A plan for what? Say `make a plan for …`.")


def todo(reader: Reader, parts: Parts) -> Step | None:
    text = reader.value((parts.get("body") or "").strip()).strip()
    return AddTodo(text=text[:1].upper() + text[1:]) if text else None


def mark(reader: Reader, parts: Parts) -> Step | None:
    word = (parts["n"] or "").lower()
    number = NUMBERS.index(word) + 1 if word in NUMBERS else -1 if word == "last" else int(word[:6])
    status = (parts.get("status") or parts.get("verb") or "done").lower()
    if status in ("undone", "open", "pending", "not done", "reopen"):
        return MarkTodo(number=number, status="pending")
    return MarkTodo(number=number, status="in_progress" if status.startswith(("start", "in ")) else "completed")


def mode(reader: Reader, parts: Parts) -> Step | None:
    names: dict[str, Any] = {"plan": "architect", "planning": "architect", "coding": "code", "edit": "code"}
    name = (parts["m"] or "").lower()
    return SwitchMode(mode=names.get(name, name))


def only_these(reader: Reader, parts: Parts) -> Step | None:
    """Build a test run for the named file, directory or test."""
    words = reader.masked.raw((parts.get("f") or "").strip())
    if not words:
        return RunTask(task="test")
    path = reader.path(parts["f"]) if len(words.split()) == 1 or reader.is_quoted(parts["f"]) else None
    return RunTask(task="test", only=path) if path else Unclear(words=f"Name the tests by their file, not “{words}”.")


MODE = r"(?P<m>ask|architect|code|plan|planning|coding|edit)"
N = r"(?P<n>\d+|last|" + "|".join(NUMBERS) + ")"

TODOS = r"(?:todos?|to-dos?|to do|todo list|to-do list|list of todos|plan|tasks?|task list|reminders?)"
ITEM = r"{the}(?:todo|to-do|item|task|step)s? ?#?"
STATUS = r"(?P<status>done|completed|complete|finished|pending|open|undone|not done|started|in progress)"
MODEL = r"(?:which|what) model (?:are you|is this|do you use)"

RULES = [
    # Todos.
    Rule(
        r"(?:show|list|see|display|what are|what's on|what is on|read|print){me} {the}(?:open )?"
        + TODOS
        + "(?: list)?",
        always(ShowTodos()),
    ),
    Rule(
        r"(?:todos?|to-dos?|plan|what(?: is|'s) {the}plan|what do you remember|what (?:remains|have i) to do"
        r"|what(?: is|'s) (?:left|next|open|still open)(?: to do)?)",
        always(ShowTodos()),
    ),
    Rule(
        r"(?:mark|set|tick|check|cross)(?: off| out)? {the}(?:todo|to-do|item|task|step|number|no\.?|#)?s? ?#?"
        + N
        + r"(?: (?:todo|item|task|step|one))?(?: off| out)?(?: (?:as |to )?"
        + STATUS
        + ")?",
        mark,
    ),
    Rule(r"(?P<verb>finish|complete|done|close|reopen|start)(?: with)? " + ITEM + N, mark),
    Rule(ITEM + N + r" (?:is |as )?" + STATUS, mark),
    # Modes.
    Rule(
        r"(?:switch|change|go|move|set|turn|get)(?: over| back)?(?: {the}mode)? (?:in|to|into) {the}"
        + MODE
        + r"(?: mode)?",
        mode,
    ),
    Rule(r"(?:enter|use|start|activate|mode:?|be in) {the}" + MODE + r"(?: mode)?", mode),
    Rule(MODE + r" mode", mode),
    Rule(
        r"(?:start implementing|ready to implement|implement (?:it|the plan|this plan|that plan)"
        r"|leave (?:architect|plan|planning) mode)",
        always(SwitchMode(mode="code")),
    ),
    # The conversation.
    Rule(
        r"(?:summari[sz]e|recap|sum up|compact|condense|describe) "
        r"{the}(?:conversation|session|chat|discussion|history|messages|talk|turns)"
        r"(?: so far| until now| up to here)?(?: (?:for|in|as|so that) .+)?",
        always(Summarize()),
    ),
    Rule(
        r"what (?:have we|did we|have you|did you) (?:done|do|talked? about|discussed?)"
        r"(?: so far| until now| already)?",
        always(Summarize()),
    ),
    Rule(
        r"(?:continue|go on|carry on|proceed|resume|go ahead|keep going|try again|retry)"
        r"(?: with (?:the )?(?:rest|plan|remaining steps|it))?",
        always(Continue()),
    ),
    # The agent itself.
    Rule(
        r"(?:help(?: me)?|\?|usage|commands|options|what (?:else )?can you do|what can i (?:ask|say|do)"
        r"|what do you understand|how do(?:es)? (?:you|this|it) work|how do i use (?:you|this)"
        r"|show{me} (?:the )?(?:help|commands|grammar))(?: with)?(?: here| for me)?",
        always(Help()),
    ),
    Rule(
        r"(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|greetings|howdy|hallo|yo)"
        r"(?: there| accord| everyone| agent| you)?",
        always(Talk(about="hello")),
    ),
    Rule(
        r"(?:thanks?|thank you|thx|cheers|great|good job|well done|nice|perfect|ok|okay|cool|awesome|very good)"
        r"(?: you)?(?: very much| a lot| so much| then)?",
        always(Talk(about="thanks")),
    ),
    Rule(
        rf"(?:who are you|what are you|{MODEL}"
        r"|are you (?:a |an )?(?:ai|llm|language model|robot|bot|human|there))",
        always(Talk(about="who")),
    ),
    Rule(r"(?:stop|cancel|abort|never ?mind|forget it|nothing)", always(Talk(about="stop"))),
    Rule(r"(?:yes|y|yeah|yep|yup|sure|yes please|do it|do that|that's right|exactly)", always(Talk(about="yes"))),
]

# The rest of the step is the literal topic or todo.
CONTENT_RULES = [
    Rule(
        r"(?:make|write|create|draft|propose|prepare|give|come up with|develop|outline|sketch){me} "
        r"(?:an? |the |some )?(?:step by step |short |detailed |rough |quick )?plan"
        r"(?: (?:for|to|of|on how to|how to|about|that|:)|:)",
        plan,
        content=True,
        extent="message",
    ),
    Rule(r"plan(?: for| how to| to| out)?:", plan, content=True, extent="message"),
    Rule(r"plan (?:for |how to |to |out )?(?=\S)", plan, content=True, extent="message"),
    Rule(
        r"(?:remember|remind me|don't forget|do not forget|note|make a note|take a note)(?: that| to| about|:| of)?:? ",
        todo,
        content=True,
    ),
    Rule(
        r"(?:add {the}|new |create {the}|make {the})?"
        r"(?:(?:todo|to-do)s?(?: item)?(?: to(?= ))?(?::| that| )|(?:task|reminder):) ?(?=\S)",
        todo,
        content=True,
    ),
]
MIDDLE_RULES = [
    Rule(r"(?:add|put) (?P<body>{q}|.+?) (?:to|on|onto|in|into) {the}" + TODOS, todo),
]
# Whole messages, whatever follows: the prompts of the agent's slash commands, which are written for language models.
WHOLE_RULES = [
    Rule(r"make a plan for this,? and change nothing: ?", plan, content=True),
    Rule(r"write an AGENTS\.md from what you find in this project:", always(DescribeProject()), content=True),
    Rule(r"review the working tree's changes\. (?=look at)", always(Review()), content=True),
    Rule(r"run the tests,? and tell what failed and why\.?(?: only these: (?P<f>.+))?", only_these, content=True),
    Rule(r"summari[sz]e this conversation,? so that ", always(Summarize()), content=True),
]
