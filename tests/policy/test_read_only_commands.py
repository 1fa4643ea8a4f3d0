"""Commands that need no question because they only read files of the project, and attempts to abuse them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from accord.model.requests import PermissionRequest
from accord.model.tool import ToolCall
from accord.policy.action import Action
from accord.policy.engine import Policy
from accord.policy.rule import parse_rule

NO_QUESTION = """\
ls
ls -la
ls src
ls -l src/app.py README.md
cat README.md
cat -n src/app.py
cat ./src/app.py
cat 'a b.txt'
cat "a b.txt"
cat inner
head -20 README.md
head -n 5 src/app.py
tail -n 5 README.md
wc -l src/app.py
nl -ba src/app.py
grep -n def src/app.py
grep -in 'def .*:' src/app.py README.md
grep -A 3 -e main src/app.py
grep -c --fixed-strings x README.md
sed -n 1,20p src/app.py
sed -n '5,$p' src/app.py
cat README.md | head -5
grep -n def src/app.py | wc -l
cat README.md && ls src
cat README.md; ls
cat README.md 2>/dev/null
cat README.md 2>&1 | tail -3""".splitlines()

QUESTION = [
    *"""\
cat */secret
cat src/*.py
cat src/app.p?
cat src/[a]pp.py
cat {README.md,/etc/passwd}
cat link/secret
cat link
cat leak
ls link
ls link/
ls -L leak
head leak
grep x leak
wc -c leak
sed -n 1p leak
cat /etc/passwd
cat ../outside/secret
cat src/../../outside/secret
cat ..
ls ..
ls /
cat ~/.ssh/id_rsa
cat ~ada/x
cat -n /etc/passwd
cat -- /etc/passwd
cat $HOME/x
cat ${HOME}/x
cat "$HOME/x"
cat $(echo /etc/passwd)
cat `echo /etc/passwd`
cat <(ls)
cat < /etc/passwd
cat <README.md
cat README.md > out
cat README.md >> out
cat README.md >| out
cat README.md > /dev/tcp/127.0.0.1/1
cat README.md &> out
cat README.md 2> err
cat README.md | tee out
cat README.md | sh
cat README.md | xargs cat
cat README.md & ls
cat README.md & rm x
cat README.md; rm x
cat README.md || rm x
cd .. && cat outside/secret
cd /etc; cat passwd
pushd / && cat README.md
ln -s /etc/passwd p && cat p
X=1 cat README.md
LD_PRELOAD=./x.so cat README.md
PATH=. cat README.md
env cat README.md
env -i cat README.md
sh -c 'cat README.md'
bash -c "cat README.md"
eval cat README.md
command cat README.md
exec cat README.md
nice cat README.md
timeout 5 cat README.md
sudo cat README.md
./cat README.md
src/cat README.md
/tmp/cat README.md
(cat README.md)
{ cat README.md; }
if cat README.md; then ls; fi
! cat README.md
for f in a; do cat README.md; done
alias cat=rm; cat README.md
cat () { rm x; }
tail -f README.md
tail --follow README.md
tail -n 5 -F README.md
grep -r key .
grep -R key .
grep -rn key src
grep -f /etc/passwd README.md
grep --file=/etc/passwd README.md
grep --directories=recurse key .
grep --include=x -r key
wc --files0-from=list
sed -i s/a/b/ README.md
sed -n '1e rm x' README.md
sed -n 1w/tmp/x README.md
sed -n 1p -i README.md
sed -n -f script README.md
sed s/a/b/e README.md
awk 'BEGIN { system("rm x") }'
sort -o out README.md
uniq README.md out
find . -exec rm {} +
find . -delete
find . -fprint out
find . -name x
rg --pre ./x key
rg key
tar --to-command=./x -xf a.tar
tar tf a.tar
xargs cat
less README.md
vim README.md
git status
git -c core.pager=./x log
git -c alias.x=!rm x
git --exec-path=. status
git -C .. status
git diff --ext-diff
git log --textconv
git diff --no-index /etc/passwd README.md
git grep -O./x key
git ls-remote --upload-pack=./x .
git fetch --upload-pack ./x
git archive --exec=./x
git rebase --exec ./x
git commit -m x
git config alias.st '!rm x'
python -c 'print(1)'
pytest
make
cat -- -n
cat README.md -- -n
head -q -- -v
tree -o out
date -s 0
nl -s /etc/passwd
printf -v x y
history
ls && rm x
cat 'unclosed""".splitlines(),
    "cat README.md\nrm x",
    "cat README.md\\\n; rm x",
    "cat\u00a0README.md",
    "cat README.md\r",
    "echo \x1b]52;c;x\x07",
    "echo !rm",
    'echo "$(rm x)"',
    "",
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a link that stays inside, and links that lead out."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("key")
    made = tmp_path / "project"
    (made / "src").mkdir(parents=True)
    for name in ("README.md", "src/app.py", "a b.txt", "src/cat"):
        (made / name).write_text("x")
    (made / "inner").symlink_to("README.md")
    (made / "link").symlink_to(outside)
    (made / "leak").symlink_to(outside / "secret")
    return made


def decide(project: Path, line: str, *rules: str, home: Path | None = None, cwd: str | None = None) -> str:
    policy = Policy(
        project, user=[parse_rule(rule) for rule in rules], reading_commands=True, home=str(home or project.parent)
    )
    action = Action.of_terminal(line, shell=True, cwd=cwd or str(project), session="s1", project=str(project))
    return policy.decide(action).effect


@pytest.mark.parametrize("line", NO_QUESTION)
def test_a_command_that_only_reads_the_project_needs_no_question(project: Path, line: str) -> None:
    assert decide(project, line) == "allow"


@pytest.mark.parametrize("line", QUESTION)
def test_anything_else_is_asked_about(project: Path, line: str) -> None:
    assert decide(project, line) == "ask"


def test_files_that_rules_ask_about_or_deny_are_not_read(project: Path) -> None:
    assert decide(project, "cat README.md", "ask read:README.md") == "ask"
    assert decide(project, "cat README.md", "deny path:**/README.md") == "deny"
    assert decide(project, "cat inner", "deny path:**/README.md") == "deny"
    assert decide(project, "cat README.md src/app.py", "ask command:cat *") == "ask"


def test_secrets_in_a_project_that_is_the_home_directory_are_asked_about(project: Path) -> None:
    (project / ".ssh").mkdir()
    (project / ".ssh/id_rsa").write_text("key")

    assert decide(project, "cat .ssh/id_rsa", home=project) == "ask"
    assert decide(project, "cat README.md", home=project) == "allow"


def test_a_command_outside_the_project_is_asked_about(project: Path) -> None:
    assert decide(project, "cat secret", cwd=str(project.parent / "outside")) == "ask"
    assert decide(project, "ls", cwd=str(project.parent)) == "ask"


def test_a_program_of_the_project_does_not_count_as_one_of_the_system(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "cat").write_text("#!/bin/sh\n")
    (project / "cat").chmod(0o755)
    monkeypatch.setenv("PATH", f"{project}{os.pathsep}{os.environ.get('PATH', os.defpath)}")

    assert decide(project, "cat README.md") == "ask"


def test_output_of_an_allowed_command_may_be_filtered_but_not_mixed_with_files(project: Path) -> None:
    assert decide(project, "make test 2>&1 | tail -5", "allow command:make *") == "allow"
    assert decide(project, "make test && cat README.md", "allow command:make *") == "ask"


def test_a_line_that_an_agent_starts_with_the_shell_of_the_system_is_read_like_the_line(project: Path) -> None:
    policy = Policy(project, reading_commands=True, home=str(project.parent))

    def start(*argv: str) -> str:
        return policy.decide(
            Action.of_terminal(argv[0], argv[1:], shell=False, cwd=str(project), project=str(project))
        ).effect

    assert start("/bin/sh", "-c", "cat README.md | head -5") == "allow"
    assert start("/usr/bin/bash", "-c", "cat leak") == "ask"
    assert start("/usr/bin/bash", "-c", "sh -c 'cat README.md'") == "ask"
    assert start("./bash", "-c", "cat README.md") == "ask"
    assert start("/bin/sh", "-x", "-c", "cat README.md") == "ask"


def test_an_agent_that_only_asks_is_not_believed(project: Path) -> None:
    policy = Policy(project, reading_commands=True)
    call = ToolCall(id="1", title="Read", kind="read", raw_input={"command": "cat README.md"})
    asked = PermissionRequest(session_id="s1", title="May I?", options=[], tool_call=call)

    assert policy.decide(Action.of_request(asked, project=str(project))).effect == "ask"


def test_a_policy_asks_about_them_unless_it_is_told_to_allow_them(project: Path) -> None:
    action = Action.of_terminal("cat README.md", shell=True, cwd=str(project), project=str(project))

    assert Policy(project).decide(action).effect == "ask"
