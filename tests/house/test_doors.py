"""The public imports, and their cost."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import accord
import accord.hub

INIT = Path(accord.__file__)


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_every_public_name_can_be_loaded() -> None:
    for name in accord.__all__:
        assert getattr(accord, name) is not None


def test_every_public_name_of_the_hub_can_be_loaded() -> None:
    for name in accord.hub.__all__:
        assert getattr(accord.hub, name) is not None


def test_the_hub_loads_only_what_is_used() -> None:
    code = (
        "import sys; from accord.hub import Principal; print(*sorted(m for m in sys.modules if m.startswith('accord')))"
    )
    assert run(code) == "accord accord.hub accord.hub.principal accord.version"


def test_type_checkers_see_the_same_names_as_all() -> None:
    seen: set[str] = {"__version__"}
    for node in ast.parse(INIT.read_text()).body:
        if isinstance(node, ast.If):
            for line in node.body:
                if isinstance(line, ast.ImportFrom):  # public only as `from … import X as X`
                    seen |= {alias.name for alias in line.names if alias.asname == alias.name}
                elif isinstance(line, ast.Assign):
                    seen |= {target.id for target in line.targets if isinstance(target, ast.Name)}
    assert seen == set(accord.__all__)


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    assert run("import accord\ntry:\n    accord.Nothing\nexcept AttributeError as error:\n    print(error)") == (
        "module 'accord' has no attribute 'Nothing'"
    )


def test_importing_the_package_loads_none_of_its_modules() -> None:
    loaded = run("import sys, accord; print(*sorted(m for m in sys.modules if m.startswith('accord')))")
    assert loaded == "accord accord.version"


def test_importing_the_package_loads_no_extra() -> None:
    extras = "pydantic httpx httpx2 mcp uvloop textual hypercorn asyncpg nats opentelemetry click rich"
    code = f"import sys, accord; accord.Agent; accord.connect; print([m for m in {extras.split()} if m in sys.modules])"
    assert run(code) == "[]"


def test_a_versions_types_are_loaded_only_when_it_is_used() -> None:
    code = (
        "import sys, accord\n"
        "[getattr(accord, name) for name in accord.__all__]\n"
        "print([m for m in ('accord.schema.v1', 'accord.schema.v2') if m in sys.modules])"
    )
    assert run(code) == "[]"


def test_using_one_version_does_not_load_the_other() -> None:
    code = (
        "import sys, asyncio, accord\n"
        "class Echo(accord.Agent):\n"
        "    async def prompt(self, turn): await turn.say(turn.text)\n"
        "async def main():\n"
        "    async with accord.connect(Echo(), versions={VERSION}) as agent:\n"
        "        await (await agent.new_session()).prompt('hi')\n"
        "asyncio.run(main())\n"
        "print([m for m in ('accord.schema.v1', 'accord.schema.v2') if m in sys.modules])"
    )
    assert run(code.replace("VERSION", "1")) == "['accord.schema.v1']"
    assert run(code.replace("VERSION", "2")) == "['accord.schema.v2']"
