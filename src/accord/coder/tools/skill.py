"""skill: the instructions of a skill, or another file that comes with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from accord.coder.tools.base import Outcome, Tool, ToolContext, ToolError
from accord.coder.tools.text import one_line, truncate
from accord.errors import AccordError, RequestFailed
from accord.model.record import Record

if TYPE_CHECKING:
    from accord.coder.session import CoderSession

MAX_NAMED = 40


class SkillArgs(Record):
    """The skill."""

    name: Annotated[str, Meta(min_length=1, description="The name of a skill in the list of skills.")]
    file: Annotated[str, Meta(description="Another file of the skill, relative to its directory.")] = ""


class UseSkill(Tool[SkillArgs]):
    name = "skill"
    description = (
        "Loads the instructions of a skill from the list of skills. Call it before you start on a task that a skill "
        "describes, then follow the instructions. With `file`, returns a text file that they refer to. Scripts of the "
        "skill are in its directory: run them with run_command."
    )
    kind: str = "read"
    arguments = SkillArgs
    aliases = "use_skill load_skill activate_skill read_skill skills"

    def is_offered(self, state: CoderSession) -> bool:
        return bool(state.skills.offered)

    def title(self, args: SkillArgs) -> str:
        name = one_line(args.name)
        return f"Read {one_line(args.file)} of skill {name}" if args.file else f"Load skill {name}"

    async def run(self, args: SkillArgs, ctx: ToolContext) -> Outcome:
        skills = ctx.state.skills
        skill = skills.by_name.get(args.name.strip().removeprefix("/"))
        if skill is None or not skill.for_model:
            names = [each.name for each in skills.offered]
            listed = ", ".join(names[:MAX_NAMED]) or "none"
            raise ToolError(f"there is no skill {one_line(args.name)!r}. The skills are: {listed}", kind="missing")
        try:
            text = await skills.read_file(skill, args.file) if args.file else await skills.render(skill)
        except RequestFailed as error:
            raise ToolError(f"couldn't read the skill {skill.name}: {error.explanation}") from None
        except (AccordError, OSError) as error:
            raise ToolError(str(error)) from None
        part = truncate(text)
        note = "" if part.is_complete else f"\n[truncated after {part.lines} lines]"
        raw = {"name": skill.name, "directory": skill.directory, "file": args.file or None}
        return Outcome(text=part.text + note, raw=raw)
