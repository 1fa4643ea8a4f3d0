"""The policy engine: decides about an action by the rules of all sources, and asks the user where needed.

An action is split into parts, and each part is decided on its own:

    1. If any rule denies the part, it is denied.
    2. If the part concerns a protected file, the user is asked, even if a rule allows it.
    3. Otherwise the first source with a rule that applies decides (see `sources` for their order). If that source both
       asks and allows, the more specific rule wins; if both are equally specific, asking wins.
    4. If no rule applies, the default applies, which is to ask.

An action is denied if one part is denied, asked about if one part needs to be, and allowed only if all parts are
allowed. A part that can't be analyzed is allowed only by an explicit `all`, and only if it couldn't bypass another
rule."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Literal, Union

from msgspec import structs

from accord.errors import RuleError
from accord.model.requests import PermissionRequest
from accord.policy.action import Action
from accord.policy.audit import Audit
from accord.policy.decision import Decision
from accord.policy.grants import Grants
from accord.policy.matching import catches, covers, is_spelled_out, may_catch, plain_commands
from accord.policy.parts import Part, Parts, Resolve, World, is_inside, resolve_names, split_action
from accord.policy.patterns import commands, glob
from accord.policy.protections import (
    find_protected_name,
    find_repository,
    find_virtual_environment,
    installed_program_rules,
    protection_rules,
    secret_rules,
)
from accord.policy.question import Ask, Choice, Question, list_choices, narrowest_rules, resolve_reply, wait_for_reply
from accord.policy.read_only_commands import files_read
from accord.policy.remembered_rules import RememberedRules
from accord.policy.rule import Effect, Rule, format_rule, validate_rule
from accord.policy.sources import SOURCE_NAMES, SourcedRule, Sources

BUILT_IN = (Rule(effect="allow", path=("**",), access="read"),)
"""Reading the project's own files is allowed by default. Rules that ask or deny come before this one."""

Deadline = Union[float, Awaitable[object], None]


class Policy:
    """Decides about actions in one project. Paths in rules are relative to the directory `project`."""

    def __init__(
        self,
        project: str | os.PathLike[str],
        *,
        flags: Iterable[Rule] = (),
        session: Iterable[Rule] = (),
        remembered: RememberedRules | Iterable[Rule] = (),
        user: Iterable[Rule] = (),
        project_rules: Iterable[Rule] = (),
        built_in: Iterable[Rule] = BUILT_IN,
        reading_commands: bool = False,
        trusted: bool = False,
        default: Literal["ask", "deny"] = "ask",
        protected: Iterable[str] = (),
        audit: Audit | None = None,
        agent: str = "",
        home: str | None = None,
        clock: Callable[[], float] = time.time,
        resolve: Resolve = os.path.realpath,
    ) -> None:
        """`reading_commands` allows commands that only read readable files (see `read_only_commands`)."""
        if default not in ("ask", "deny"):
            raise RuleError(f"default is {default!r}; expected ask or deny (to allow everything, use the rule `all`)")
        self.project: str = os.path.abspath(project)
        self.agent = agent
        self._sources = Sources(
            flags=flags,
            session=session,
            remembered=remembered,
            user=user,
            project=project_rules,
            built_in=built_in,
            directory=self.project,
            trusted=trusted,
        )
        own = [str(remembered.path)] if isinstance(remembered, RememberedRules) else []
        own += [str(audit.path)] if audit is not None else []
        self._protections = protection_rules(dict.fromkeys(os.path.abspath(path) for path in (*protected, *own)))
        self._file_protections = [*installed_program_rules(self.project), *secret_rules()]
        self._default = default
        self._allows_reading_commands = reading_commands
        self._audit = audit
        self._clock = clock
        self._grants = Grants(clock)
        self._world = World.of(self.project, home or os.path.expanduser("~"), resolve)
        self._matched: set[Rule] = set()

    # -- Decisions

    def decide(self, action: Action, *, otherwise: Rule | None = None) -> Decision:
        """Decide by the rules, without asking the user. `otherwise` is a rule to apply after all others."""
        return self._decide(action, split_action(action, self._world), otherwise)[0]

    def restricts(self, path: str, access: Literal["read", "write"]) -> bool:
        """Return whether a rule denies or asks about a file. Doesn't consider protected files.

        The path must have no links."""
        rules = self._restricting_rules(access)
        part = Part("path", path, names=(path,), access=access)
        action = Action(kind=access, paths=(path,), tool_kind="execute", agent=self.agent, project=self.project)
        return any(catches(rule, part, action, self._world) for rule in rules)

    def restricts_files(self, access: Literal["read", "write"]) -> bool:
        """Return whether there are rules that `restricts` has to check."""
        return bool(self._restricting_rules(access))

    def restricted_places(self) -> list[tuple[str, Literal["read", "write"]]]:
        """Return the directories outside the project in which rules deny or ask about reading or writing files."""
        found: list[tuple[str, Literal["read", "write"]]] = []
        for rule in self._restricting_rules(None):
            for text in rule.path:
                place = glob.fixed_part(text, self._world.home[-1])
                if place is not None:
                    found.append((place, "write" if rule.access == "write" else "read"))
        return found

    def _restricting_rules(self, access: Literal["read", "write"] | None) -> list[Rule]:
        now = self._clock()
        return [
            placed.rule
            for placed in self._sources
            if placed.rule.effect != "allow"
            and placed.rule.subject == "path"
            and (access is None or placed.rule.access in (None, access))
            and not placed.rule.is_expired(now)
        ]

    def _decide(
        self, action: Action, parts: Parts, otherwise: Rule | None = None
    ) -> tuple[Decision, list[SourcedRule]]:
        """Return the decision and the rules on which it is based."""
        verdicts = self._verdicts(action, parts, otherwise)
        found = [(decision, placed) for decision, placed in verdicts if decision is not None]
        # If a file is protected, report that as the reason, because the answer then can't be remembered.
        for effect, by in (("deny", None), ("ask", "protection"), ("ask", None)):
            for decision, placed in found:
                if decision.effect == effect and by in (None, decision.by):
                    if effect == "ask" and self._grants.cover(action, parts, [each for each, _ in verdicts]):
                        return Decision(effect="allow", by="grant", why="you allowed this when the agent asked"), []
                    return decision, [placed] if placed is not None else []
        return found[0][0], [placed for _, placed in found if placed is not None]

    def _verdicts(
        self, action: Action, parts: Parts, otherwise: Rule | None = None
    ) -> list[tuple[Decision | None, SourcedRule | None]]:
        """Apply the rules to each part."""
        now = self._clock()
        rules = [placed for placed in self._sources if not placed.rule.is_expired(now)]
        if otherwise is not None:
            rules.append(SourcedRule("built in", otherwise))
        return [self._judge(part, action, rules) for part in parts.parts]

    def _judge(
        self, part: Part, action: Action, rules: list[SourcedRule]
    ) -> tuple[Decision | None, SourcedRule | None]:
        """Decide about one part. No decision means that the part is only suspected, and no rule asks or denies it."""
        hits = [placed for placed in rules if self._applies(placed, part, action)]
        self._matched.update(placed.rule for placed in hits)
        denied = next((placed for placed in hits if placed.rule.effect == "deny"), None)
        if denied is not None:
            return _by_rule(denied, part), denied
        protected = self._check_protections(part, action)
        if protected is not None:
            return protected, None
        if not hits and self._only_reads(part, action, rules):
            why = f"it only reads files that may be read ({part.text[:200]})"
            return Decision(effect="allow", by="rule", why=why, source="built in"), None
        if not hits:
            return (None if part.only_strict else self._by_default(part)), None
        # The first source with a matching rule; within it the most specific rule, with ask before allow.
        first = [placed for placed in hits if placed.source == hits[0].source]
        found = max(first, key=lambda placed: (placed.rule.rank, placed.rule.effect == "ask"))
        if found.rule.effect == "allow":
            for placed in rules:
                if placed.rule.effect == "deny" and may_catch(placed.rule, part, action):
                    why = f"only the shell knows whether {format_rule(placed.rule)} applies ({part.text[:200]})"
                    return _ask_about("rule", why, placed.rule, placed.source), placed
            doubt = _explain_doubt(part, action, rules)
            if doubt:
                return _ask_about("default", doubt), None
        return _by_rule(found, part), found

    def _check_protections(self, part: Part, action: Action) -> Decision | None:
        """Return the decision to ask about a protected part, even if rules allow it."""
        if part.command is not None:
            part = part._replace(mentions=part.written)
        names = {name for paths in (part.names, *part.mentions) for path in paths for name in glob.names_of(path)}
        for rule in self._protections if part.what != "path" else (*self._protections, *self._file_protections):
            required = glob.required_name(rule.path[0])  # most rules are about another name: decide without matching
            if (required is None or required in names) and catches(rule, part, action, self._world):
                return _ask_about(
                    "protection", f"{_protected_name(rule)} always needs approval ({part.text[:200]})", rule
                )
        if part.what == "path" and part.access != "read":
            for name in part.names:
                if find_virtual_environment(name, self._world.exists):
                    return _ask_about("protection", f"virtual environments always need approval ({part.text[:200]})")
                if find_repository(name, self._world.exists):
                    return _ask_about("protection", f"bare repositories always need approval ({part.text[:200]})")
        return None

    def _only_reads(self, part: Part, action: Action, rules: list[SourcedRule]) -> bool:
        """Return whether a command is known to only read, and reading each file that it names is allowed."""
        if not self._allows_reading_commands or action.kind != "command" or not is_spelled_out(part, action):
            return False
        assert part.command is not None
        files = files_read([word.text for word in part.command.words])
        base = action.cwd or action.project
        # If the PATH contains a project directory, a program there could have the name of a system program.
        program = shutil.which(part.command.words[0].text)
        if files is None or not base or (program and is_inside((self._world.resolve(program),), self._world.project)):
            return False
        # Another command could change the directory, or create a link, before this one opens a file.
        if files and any(files_read(words) is None for words in plain_commands(action)):
            return False
        return all(self._may_read(resolve_names(file, base, self._world.resolve), action, rules) for file in files)

    def _may_read(self, names: tuple[str, ...], action: Action, rules: list[SourcedRule]) -> bool:
        if not is_inside(names, self._world.project):
            return False
        if all(name in self._world.project for name in names):
            return True  # the project directory itself, which `**` doesn't match
        verdict, _ = self._judge(Part("path", names[0], names=names, access="read"), action, rules)
        return verdict is not None and verdict.effect == "allow"

    def _applies(self, placed: SourcedRule, part: Part, action: Action) -> bool:
        rule = placed.rule
        if rule.effect != "allow":
            return catches(rule, part, action, self._world)
        if part.only_strict or not covers(rule, part, action, self._world):
            return False
        if placed.source not in ("session", "remembered") or rule.subject != "command":
            return True
        # The answer "pytest …" applies to lines that start with `pytest`, not to `env pytest` or `sh -c "pytest"`.
        return not any(commands.read(text).is_open for text in rule.command) or is_spelled_out(part, action)

    def _by_default(self, part: Part) -> Decision:
        why = part.text if part.what == "unclear" else f"no rule covers this ({part.text[:200]})"
        return Decision(effect=self._default, by="default", why=why)

    # -- Answers

    async def answer(
        self, what: PermissionRequest | Action, *, ask: Ask | None = None, deadline: Deadline = None
    ) -> Decision:
        """Decide, asking the user where the rules require it. The result is to allow or to deny, and is logged.

        `deadline` is a number of seconds or an awaitable. Without an answer by then, or without `ask`, the action is
        denied."""
        request = what if isinstance(what, PermissionRequest) else None
        action = what if isinstance(what, Action) else Action.of_request(what, agent=self.agent, project=self.project)
        parts = split_action(action, self._world)
        decision, used = self._decide(action, parts)
        for placed in used:
            if placed.rule.scope == "once":
                self._sources.use_up(placed)
        try:
            if decision.effect == "ask":
                decision = await self._ask(action, parts, request, decision, ask, deadline)
            else:
                if decision.by == "grant":
                    self._grants.use(action, parts)
        except BaseException:
            self._note(action, Decision(effect="deny", by="nobody", why="the permission request was cancelled"))
            raise
        self._note(action, decision)
        return decision

    def log_decision(self, action: Action, decision: Decision) -> None:
        """Log a decision that was made elsewhere, such as by the user's choice of mode."""
        self._note(action, decision)

    def _note(self, action: Action, decision: Decision) -> None:
        if self._audit is not None:
            self._audit.record(action, decision)

    async def _ask(
        self,
        action: Action,
        parts: Parts,
        request: PermissionRequest | None,
        asked: Decision,
        ask: Ask | None,
        deadline: Deadline,
    ) -> Decision:
        if ask is None or (request is not None and not request.options):
            problem = "no one to ask" if ask is None else "the request has no options"
            # No rule can allow protected files, and a rule that asks wins over one that allows.
            would = narrowest_rules(action, parts, self._world, "allow") if asked.by == "default" else ()
            return Decision(effect="deny", by="nobody", why=f"{problem}: {asked.why}", would_allow=would)
        verdicts = zip(parts.parts, self._verdicts(action, parts), strict=True)
        undecided = [part for part, (verdict, _) in verdicts if verdict is not None and verdict.effect == "ask"]
        can_remember = asked.by != "protection"
        choices = list_choices(action, parts, self._world, request, can_remember=can_remember, undecided=undecided)
        question = Question(action=action, choices=choices, why=asked.why, request=request)
        reply, in_time = await wait_for_reply(ask(question), deadline)
        if not in_time:
            return Decision(effect="deny", by="deadline", why=f"not answered in time: {asked.why}")
        choice = resolve_reply(reply, question)
        if choice is None or choice.kind not in ("allow_once", "allow_always", "reject_once", "reject_always"):
            option = choice.id if choice is not None and request is not None else None
            return Decision(effect="deny", by="person", why=f"not approved: {asked.why}", option=option)
        if choice.allows:
            # Another answer may have denied it permanently while the user was thinking.
            now = self._decide(action, parts)[0]
            if now.effect == "deny":
                return now
        remembering, save_error = await self._remember(choice, action)
        option = choice.id if request is not None else None
        if choice.allows and request is not None:
            self._grants.add(action, parts, [verdict for verdict, _ in self._verdicts(action, parts)])
        why = f"{'allowed' if choice.allows else 'rejected'} by you{remembering}"
        return Decision(
            effect="allow" if choice.allows else "deny", by="person", why=why, option=option, save_error=save_error
        )

    async def _remember(self, choice: Choice, action: Action) -> tuple[str, str]:
        """Save a choice as rules. Return a note about it, and the error if it couldn't be saved permanently."""
        if choice.scope == "once" or not choice.rules:
            return "", ""
        save_error = ""
        effect: Literal["allow", "deny"] = "allow" if choice.allows else "deny"
        expires = float(int(self._clock() + min(choice.ttl, 10**9))) if choice.ttl is not None else None
        rules = [validate_rule(_adapt_rule(rule, effect, expires)) for rule in choice.rules]
        memory = self._sources.memory
        if choice.scope == "forever" and memory is not None:
            try:
                await asyncio.to_thread(memory.add, self.project, rules)
            except RuleError as error:
                save_error = str(error)
                self._sources.notes.append(f"remembered for this session only: {error}")
            else:
                return f", and remembered: {'; '.join(map(format_rule, rules))}", ""
        held = action.session or None
        self._sources.add(_adapt_rule(rule, effect, expires, session=held) for rule in rules)
        return f" for this session: {'; '.join(map(format_rule, rules))}", save_error

    # -- Maintenance

    def add(self, *rules: Rule) -> None:
        """Add rules for this run. A rule with a `session` applies to that session only."""
        self._sources.add(rules)

    def end_session(self, session: str) -> None:
        """Remove the rules and grants of a session."""
        self._sources.end_session(session)
        self._grants.end_session(session)

    @property
    def notes(self) -> list[str]:
        """Notes for the user: rules that are ignored, files that can't be read."""
        memory = self._sources.memory
        return [*self._sources.notes, *([str(each) for each in memory.problems] if memory is not None else [])]

    def unused_rules(self, used: Iterable[str] = ()) -> list[Rule]:
        """Return the rules that haven't matched anything yet. `used` are those in a log (`Audit.rules_used`)."""
        return [placed.rule for placed in self.unused_rules_with_sources(used)]

    def unused_rules_with_sources(self, used: Iterable[str] = ()) -> list[SourcedRule]:
        """Like `unused_rules`, with the source of each rule."""
        seen = set(used)
        return [
            placed
            for placed in self._sources
            if placed.source != "built in" and placed.rule not in self._matched and format_rule(placed.rule) not in seen
        ]


def _ask_about(
    by: Literal["rule", "default", "protection"], why: str, rule: Rule | None = None, source: str = ""
) -> Decision:
    return Decision(effect="ask", by=by, why=why, rule=rule, source=source)


def _protected_name(rule: Rule) -> str:
    return rule.path[0].removeprefix("**/").removesuffix("/**")


def _adapt_rule(rule: Rule, effect: Effect, expires: float | None, session: str | None = None) -> Rule:
    return structs.replace(rule, effect=effect, expires=expires, session=session or rule.session)


def _by_rule(placed: SourcedRule, part: Part) -> Decision:
    verb = {"allow": "allowed by", "ask": "approval required by", "deny": "denied by"}[placed.rule.effect]
    why = f"{verb} {SOURCE_NAMES[placed.source]}: {format_rule(placed.rule)} ({part.text[:200]})"
    return Decision(effect=placed.rule.effect, by="rule", why=why, rule=placed.rule, source=placed.source)


def _explain_doubt(part: Part, action: Action, rules: list[SourcedRule]) -> str:
    """Explain why a part that can't be analyzed needs approval although everything is allowed; empty if it doesn't."""
    if part.what != "unclear":
        return ""
    name = find_protected_name(action.line or "")
    if name:
        return f"{part.text}, and it mentions {name}"
    stricter = [placed.rule for placed in rules if placed.rule.effect != "allow" and placed.rule.subject]
    return f"{part.text}, and {format_rule(stricter[0])} might apply" if stricter else ""
