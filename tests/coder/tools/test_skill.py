"""skill: the error for an unknown skill. tests/coder/test_skills.py has the rest."""

from __future__ import annotations

from coder.tools.conftest import Harness


async def test_an_unknown_skill_is_answered_with_the_names_there_are(harness: Harness) -> None:
    async with harness() as at:
        at.write(".agents/skills/tidy/SKILL.md", "---\nname: tidy\ndescription: Tidies up.\n---\nTidy up.\n")
        await at.call("list_files")
        await at.state.skills.load()
        assert "there is no skill 'tiddy'. The skills are: tidy" in await at.call_failing("skill", name="tiddy")
        assert "Tidy up." in await at.call("skill", name="/tidy")
        assert at.shown.title == "Load skill /tidy"
