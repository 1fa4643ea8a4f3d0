"""Check permission for every action of a tool before it runs.

The policy's rules decide first, then the mode, then the user. The policy remembers the user's answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import structs

from accord.coder import modes
from accord.coder.tools.base import Tool, ToolContext, ToolError
from accord.coder.tools.project.paths import reach
from accord.model.requests import PermissionOption
from accord.policy.action import Action
from accord.policy.decision import Decision
from accord.policy.question import Question
from accord.policy.rule import Rule

if TYPE_CHECKING:
    from accord.agent.questions import Permission
    from accord.coder.session import CoderSession

AGENT = "accord"
"""The agent's name in the user's rules."""

_EVERYTHING = Rule(effect="allow", everything=True)

CHOICES = {"allow_once": "allow_once", "allow_always": "allow_session", "reject_once": "reject_once"}
"""The options for the user: option id (also its kind) → the policy's choice.

Some clients label buttons by kind (CodeCompanion.nvim), others support only these ids (Avante). With two options of one
kind, their users could allow something forever, or refuse it, without knowing."""
OWN_CLIENT_CHOICES = {
    name: name for name in ("allow_once", "allow_session", "allow_always", "allow_prefix", "reject_once")
}
"""The same for Accord's own clients, which show option names."""


class PermissionDenied(ToolError):
    """A rule or the user refused."""


async def check_early(tool: Tool[Any], args: Any, ctx: ToolContext) -> None:
    """Check the actions that are known before `prepare` reads a file: raise `PermissionDenied` if a rule denies it.

    The file may still need the user's permission to be read. Until then the model must not learn its content."""
    state = ctx.state
    _check_mode(tool, state)
    for action in [await _complete(action, tool, args, ctx) for action in tool.early_actions(args, ctx)]:
        decision = state.policy.decide(action)
        await _raise_if_denied(action, decision, state)
        if action.kind == "read" and decision.effect != "allow" and not modes.allows(state.mode, action, decision):
            ctx.may_quote = False


async def _raise_if_denied(action: Action, decision: Decision, state: CoderSession) -> None:
    if decision.effect == "deny":
        await state.policy.answer(action)  # logged, like every decision
        raise PermissionDenied(f"not allowed: {decision.why}")


async def check(tool: Tool[Any], args: Any, ctx: ToolContext) -> None:
    """Return if the call is allowed; raise `PermissionDenied` otherwise."""
    state = ctx.state
    _check_mode(tool, state)
    allowed: list[tuple[Action, Decision]] = []
    questions: list[Action] = []
    ctx.sandboxed = None
    for action in [await _complete(action, tool, args, ctx) for action in tool.actions(args, ctx)]:
        decision = state.policy.decide(action)
        await _raise_if_denied(action, decision, state)
        is_allowed = decision.effect == "allow" or modes.allows(state.mode, action, decision)
        if action.kind == "command" and decision.source == "built in" and state.background.running:
            # It may read certain files, and a command that runs beside it could replace one with a link.
            ctx.sandboxed = await tool.confine(args, ctx, is_optional=False)
        if is_allowed or await _is_confined(tool, args, action, decision, ctx):
            allowed.append((action, decision))
        else:
            questions.append(action)
    if questions and state.parent is not None:
        raise PermissionDenied("this needs the user's permission, which a sub-agent can't ask for")
    if questions:
        async with state.asking:  # one question at a time: its answer may settle the next one
            await _ask(questions, ctx)
        _check_mode(tool, state)
    for action, decision in allowed:
        if decision.effect == "ask":
            where = "in the sandbox" if ctx.sandboxed is not None and action.kind == "command" else f"{state.mode} mode"
            state.policy.log_decision(action, Decision(effect="allow", by="default", why=f"{where}: {decision.why}"))
        elif decision.source != "built in" or action.kind == "command":
            await state.policy.answer(action)


async def _is_confined(tool: Tool[Any], args: Any, action: Action, decision: Decision, ctx: ToolContext) -> bool:
    """Return whether a command that no rule covers will run in the sandbox.

    It must not be one that a rule denies or asks about, or might if the whole line were understood."""
    if action.kind != "command" or decision.by != "default":
        return False
    if ctx.state.policy.decide(action, otherwise=_EVERYTHING).effect != "allow":
        return False
    ctx.sandboxed = await tool.confine(args, ctx)
    return ctx.sandboxed is not None


def _check_mode(tool: Tool[Any], state: CoderSession) -> None:
    if not modes.offers(state.mode, tool):
        raise PermissionDenied(
            f"{tool.name} makes changes, which {state.mode} mode doesn't allow: only a plan is wanted"
        )


async def _complete(action: Action, tool: Tool[Any], args: Any, ctx: ToolContext) -> Action:
    """Add the fields that rules can match."""
    return structs.replace(
        action,
        reached=tuple([await reach(ctx, path, follow=tool.follows(args, path, ctx)) for path in action.paths]),
        tool_kind=action.tool_kind or tool.kind_of(args),
        title=action.title or tool.title(args),
        agent=AGENT,
        session=ctx.session.id,
        project=ctx.session.cwd,
    )


async def _ask(actions: Sequence[Action], ctx: ToolContext) -> None:
    """Ask once for all actions of a call: to the user it is one thing."""
    answered = False

    async def ask(question: Question) -> str | bool | None:
        nonlocal answered
        if answered:
            return True
        info = ctx.session.client.info
        choices = OWN_CLIENT_CHOICES if info is not None and info.name == "accord" else CHOICES
        permission = await _permit(question, choices, ctx)
        if permission.option is None:
            return None
        answered = bool(permission)
        return choices[permission.option.id]

    for action in actions:
        decision = await ctx.state.policy.answer(action, ask=ask)
        if not decision.allowed:
            if decision.by == "rule":
                raise PermissionDenied(f"not allowed: {decision.why}")
            raise PermissionDenied("the user didn't allow this", kind="declined")


def _outside_paths(action: Action, ctx: ToolContext) -> list[str]:
    return [path for path in action.reached if path is not None and not ctx.state.files.roots.contains(path)]


async def _permit(question: Question, choices: Mapping[str, str], ctx: ToolContext) -> Permission:
    available = {choice.id: choice for choice in question.choices}
    options = [
        PermissionOption(id=id, name=available[choice].name, kind=available[choice].kind)
        for id, choice in choices.items()
        if choice in available
    ]
    action = question.action
    if action.kind == "read" and (outside := _outside_paths(action, ctx)):
        # The path in the call may be a link. The user decides about the file that is read.
        await ctx.call.update(title=f"Read {', '.join(outside)} (outside the project)")
    if action.kind == "command":
        return await ctx.call.permit(options=options, command=action.line, cwd=action.cwd)
    return await ctx.call.permit(options=options)
