"""Deciding: what an action may do, by all the rules there are.

An action is taken apart, and each part is judged:

    1. a rule that denies it, wherever it stands, denies it;
    2. a file that is always asked about is asked about, whatever allows it;
    3. otherwise the first source that speaks of it decides (`sources` has their order); where one source both asks and
       allows, the rule that says more exactly what it means decides, and asking wins when both are as exact;
    4. where no rule speaks, the default decides, which is to ask.

A part that is denied makes the action denied, one that must be asked makes it asked; an action is allowed when every
part of it is. What cannot be judged is allowed by nothing but an explicit `all`, and then only if no rule could be
circumvented by it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Literal, Union

from msgspec import structs

from accord.errors import RuleError
from accord.model.requests import PermissionRequest
from accord.policy.action import Action
from accord.policy.asking import answered, chosen
from accord.policy.audit import Audit
from accord.policy.choices import Ask, Choice, Question, choices_for
from accord.policy.decision import Decision
from accord.policy.grants import Grants
from accord.policy.matching import catches, covers, may_catch
from accord.policy.memory import Memory
from accord.policy.parts import Part, Parts, Resolve, World, parts_of
from accord.policy.protections import names_protected, protections
from accord.policy.rule import Effect, Rule, checked
from accord.policy.sources import NAMES, Placed, Sources
from accord.policy.text import show

BUILT_IN = (Rule(effect="allow", path=("**",), access="read"),)
"""What needs no rule: to read the project's own files. A rule that asks or denies comes before it."""

Deadline = Union[float, Awaitable[object], None]


class Policy:
    """The rules of one project, and the decisions by them. `project` is the folder that paths are relative to."""

    def __init__(
        self,
        project: str | os.PathLike[str],
        *,
        flags: Iterable[Rule] = (),
        session: Iterable[Rule] = (),
        remembered: Memory | Iterable[Rule] = (),
        user: Iterable[Rule] = (),
        project_rules: Iterable[Rule] = (),
        built_in: Iterable[Rule] = BUILT_IN,
        trusted: bool = False,
        default: Literal["ask", "deny"] = "ask",
        protected: Iterable[str] = (),
        audit: Audit | None = None,
        agent: str = "",
        home: str | None = None,
        clock: Callable[[], float] = time.time,
        resolve: Resolve = os.path.realpath,
    ) -> None:
        if default not in ("ask", "deny"):
            raise RuleError(f"the default is {default!r}; expected ask or deny (to allow everything is a rule: all)")
        self.project = os.path.abspath(project)
        self.agent = agent
        self._sources = Sources(
            flags=flags,
            session=session,
            remembered=remembered,
            user=user,
            project=project_rules,
            built_in=built_in,
            folder=self.project,
            trusted=trusted,
        )
        own = [str(remembered.path)] if isinstance(remembered, Memory) else []
        own += [str(audit.path)] if audit is not None else []
        self._protections = protections(dict.fromkeys(os.path.abspath(path) for path in (*protected, *own)))
        self._default = default
        self._audit = audit
        self._clock = clock
        self._grants = Grants(clock)
        self._world = World.of(self.project, home or os.path.expanduser("~"), resolve)
        self._matched: set[Rule] = set()

    # -- deciding

    def decide(self, action: Action) -> Decision:
        """What the rules say, without asking anybody."""
        return self._decide(action, parts_of(action, self._world))[0]

    def _decide(self, action: Action, parts: Parts) -> tuple[Decision, list[Placed]]:
        """The decision, and the rules it rests on."""
        now = self._clock()
        rules = [placed for placed in self._sources if not placed.rule.expired(now)]
        verdicts = [self._judge(part, action, rules) for part in parts.parts]
        for effect in ("deny", "ask"):
            for decision, placed in verdicts:
                if decision is not None and decision.effect == effect:
                    if effect == "ask" and self._grants.cover(action, parts, [each for each, _ in verdicts]):
                        return Decision(effect="allow", by="grant", why="it was allowed when the agent asked"), []
                    return decision, [placed] if placed is not None else []
        allowed = [(decision, placed) for decision, placed in verdicts if decision is not None]
        return allowed[0][0], [placed for _, placed in allowed if placed is not None]

    def _judge(self, part: Part, action: Action, rules: list[Placed]) -> tuple[Decision | None, Placed | None]:
        """What the rules say of one part. Nothing, of a part that is only suspected and not spoken of."""
        hits = [placed for placed in rules if self._speaks(placed.rule, part, action)]
        self._matched.update(placed.rule for placed in hits)
        denied = next((placed for placed in hits if placed.rule.effect == "deny"), None)
        if denied is not None:
            return _by_rule(denied, part), denied
        for rule in self._protections:
            if catches(rule, part, action, self._world):
                return _asked("protection", f"{_file(rule)} is always asked about ({part.text[:200]})", rule), None
        if not hits:
            return (None if part.only_strict else self._by_default(part)), None
        # The first source that says anything; in it, the most exact rule, and asking before allowing.
        first = [placed for placed in hits if placed.source == hits[0].source]
        found = max(first, key=lambda placed: (placed.rule.rank, placed.rule.effect == "ask"))
        if found.rule.effect == "allow":
            for placed in rules:
                if placed.rule.effect == "deny" and may_catch(placed.rule, part, action):
                    why = f"only the shell will know whether {show(placed.rule)} speaks of it ({part.text[:200]})"
                    return _asked("rule", why, placed.rule, placed.source), placed
            doubt = _doubt(part, action, rules)
            if doubt:
                return _asked("default", doubt), None
        return _by_rule(found, part), found

    def _speaks(self, rule: Rule, part: Part, action: Action) -> bool:
        if rule.effect == "allow":
            return not part.only_strict and covers(rule, part, action, self._world)
        return catches(rule, part, action, self._world)

    def _by_default(self, part: Part) -> Decision:
        why = part.text if part.what == "unclear" else f"no rule speaks of it ({part.text[:200]})"
        return Decision(effect=self._default, by="default", why=why)

    # -- answering

    async def answer(
        self, what: PermissionRequest | Action, *, ask: Ask | None = None, deadline: Deadline = None
    ) -> Decision:
        """Decides, and asks when that is what the rules say. The result allows or denies, and is written down.

        `deadline` is a number of seconds, or something to wait for: unanswered by then is denied. Without `ask` there
        is nobody to ask, which is a denial too."""
        request = what if isinstance(what, PermissionRequest) else None
        action = what if isinstance(what, Action) else Action.of_request(what, agent=self.agent, project=self.project)
        parts = parts_of(action, self._world)
        decision, used = self._decide(action, parts)
        for placed in used:
            if placed.rule.scope == "once":
                self._sources.spend(placed)
        try:
            if decision.effect == "ask":
                decision = await self._ask(action, parts, request, decision, ask, deadline)
            else:
                if decision.by == "grant":
                    self._grants.use(action, parts)
        except BaseException:
            self._note(action, Decision(effect="deny", by="nobody", why="the question was broken off"))
            raise
        self._note(action, decision)
        return decision

    def note(self, action: Action, decision: Decision) -> None:
        """Writes down what was decided where no rule speaks: by a mode that the user chose, for one."""
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
            who = "nobody could be asked" if ask is None else "there is nothing to choose from"
            return Decision(effect="deny", by="nobody", why=f"{who}: {asked.why}")
        choices = choices_for(action, parts, self._world, request, lasting=asked.by != "protection")
        question = Question(action=action, choices=choices, why=asked.why, request=request)
        reply, in_time = await answered(ask(question), deadline)
        if not in_time:
            return Decision(effect="deny", by="deadline", why=f"not answered in time: {asked.why}")
        choice = chosen(reply, question)
        if choice is None or choice.kind not in ("allow_once", "allow_always", "reject_once", "reject_always"):
            option = choice.id if choice is not None and request is not None else None
            return Decision(effect="deny", by="person", why=f"not allowed when asked: {asked.why}", option=option)
        if choice.allows:
            # Meanwhile another answer may have forbidden it for good.
            now = self._decide(action, parts)[0]
            if now.effect == "deny":
                return now
        remembering, unkept = await self._remember(choice, action)
        option = choice.id if request is not None else None
        if choice.allows and request is not None:
            self._grants.add(action, parts)
        how = "allowed" if choice.allows else "rejected"
        why = f"{how} when asked{remembering}"
        return Decision(effect="allow" if choice.allows else "deny", by="person", why=why, option=option, unkept=unkept)

    async def _remember(self, choice: Choice, action: Action) -> tuple[str, str]:
        """Keeps a choice as rules. Says so, and why it could not be for good if it was to be."""
        if choice.scope == "once" or not choice.rules:
            return "", ""
        unkept = ""
        effect: Literal["allow", "deny"] = "allow" if choice.allows else "deny"
        expires = float(int(self._clock() + min(choice.ttl, 10**9))) if choice.ttl is not None else None
        rules = [checked(_replaced(rule, effect, expires)) for rule in choice.rules]
        memory = self._sources.memory
        if choice.scope == "forever" and memory is not None:
            try:
                await asyncio.to_thread(memory.add, self.project, rules)
            except RuleError as fault:
                unkept = str(fault)
                self._sources.notes.append(f"remembered for this session only: {fault}")
            else:
                return f", and remembered: {'; '.join(map(show, rules))}", ""
        held = action.session or None
        self._sources.add(_replaced(rule, effect, expires, session=held) for rule in rules)
        return f", for this session: {'; '.join(map(show, rules))}", unkept

    # -- looking after it

    def add(self, *rules: Rule) -> None:
        """Adds rules for the session; those of one session alone name it."""
        self._sources.add(rules)

    def end_session(self, session: str) -> None:
        """Forgets what was chosen for one session."""
        self._sources.end_session(session)
        self._grants.end_session(session)

    @property
    def notes(self) -> list[str]:
        """What the user should know: rules that are ignored, files that cannot be read."""
        memory = self._sources.memory
        return [*self._sources.notes, *([str(fault) for fault in memory.faults] if memory is not None else [])]

    def unused(self, used: Iterable[str] = ()) -> list[Rule]:
        """The rules that have matched nothing so far. `used` are those that a log knows of (`Audit.rules_used`)."""
        return [placed.rule for placed in self.idle(used)]

    def idle(self, used: Iterable[str] = ()) -> list[Placed]:
        """The same, each with where it comes from."""
        seen = set(used)
        return [
            placed
            for placed in self._sources
            if placed.source != "built in" and placed.rule not in self._matched and show(placed.rule) not in seen
        ]


def _asked(
    by: Literal["rule", "default", "protection"], why: str, rule: Rule | None = None, source: str = ""
) -> Decision:
    return Decision(effect="ask", by=by, why=why, rule=rule, source=source)


def _file(rule: Rule) -> str:
    return rule.path[0].removeprefix("**/").removesuffix("/**")


def _replaced(rule: Rule, effect: Effect, expires: float | None, session: str | None = None) -> Rule:
    return structs.replace(rule, effect=effect, expires=expires, session=session or rule.session)


def _by_rule(placed: Placed, part: Part) -> Decision:
    said = {"allow": "allowed", "ask": "asked about", "deny": "denied"}[placed.rule.effect]
    why = f"{said} by {NAMES[placed.source]}: {show(placed.rule)} ({part.text[:200]})"
    return Decision(effect=placed.rule.effect, by="rule", why=why, rule=placed.rule, source=placed.source)


def _doubt(part: Part, action: Action, rules: list[Placed]) -> str:
    """Why something that cannot be judged is asked about although everything is allowed."""
    if part.what != "unclear":
        return ""
    name = names_protected(action.line or "")
    if name:
        return f"{part.text}, and it mentions {name}"
    stricter = [placed.rule for placed in rules if placed.rule.effect != "allow" and placed.rule.subject]
    return f"{part.text}, and {show(stricter[0])} might speak of it" if stricter else ""
