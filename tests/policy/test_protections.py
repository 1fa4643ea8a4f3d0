"""Protected files: Accord asks about every write to them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from policy.fixtures import HOME, policy, read, rules, run, write

from accord.policy.action import Action
from accord.policy.engine import Policy


@pytest.mark.parametrize(
    "path",
    [
        *(".claude/settings.json", ".mcp.json", ".vscode/tasks.json", ".vscode/settings.json", ".zed/settings.json"),
        *(".devcontainer/devcontainer.json", ".github/workflows/ci.yml", ".pre-commit-config.yaml", "lefthook.yml"),
        *("mise.toml", ".npmrc", ".gitattributes", ".gitmodules", ".cursorrules", ".cursor/rules/a.mdc", "GEMINI.md"),
        *(
            "AGENTS.md",
            "CLAUDE.md",
            "sub/AGENTS.md",
            "agents.md",
            ".github/copilot-instructions.md",
            ".env",
            ".env.local",
        ),
        *("node_modules/.bin/eslint", ".venv/bin/python", "venv/Scripts/pip.exe", ".venv/lib/python3.12/site.pth"),
        *(
            ".husky/pre-commit",
            ".envrc",
            ".git/hooks/pre-commit",
            "sub/.git",
            ".idea/workspace.xml",
            "sitecustomize.py",
        ),
        *(
            ".githooks/pre-commit",
            "sub/.gitconfig",
            ".direnv/python-3.12/bin/python",
            ".pdbrc",
            ".Rprofile",
            "flake.nix",
        ),
        *(".roo/mcp.json", ".github/hooks/a.json", ".openhands/setup.sh", ".forgejo/workflows/ci.yml", ".helix/a.toml"),
        *("app.code-workspace", ".cargo/config.toml", ".yarnrc.yml", "x/pyvenv.cfg", f"{HOME}/.local/bin/git"),
    ],
)
def test_such_a_file_is_asked_about_whatever_allows_it(path: str) -> None:
    for flag in ("allow write:**", "allow path:/**", "allow all"):
        decision = policy(flag).decide(write(path))
        assert (decision.effect, decision.by) == ("ask", "protection")


@pytest.mark.parametrize(
    "path",
    [
        *("Makefile", "package.json", "pyproject.toml", "conftest.py", "setup.py", "src/env.py", "environment.yml"),
        *("docs/AGENTS.md.txt", "gitattributes", ".github/ISSUE_TEMPLATE/bug.md", "bin/tool", "node_modules/x/a.js"),
    ],
)
def test_what_the_user_runs_by_name_is_a_file_like_others(path: str) -> None:
    assert policy("allow write:**").decide(write(path)).effect == "allow"


@pytest.mark.parametrize("path", ["/proc/1/environ", "/proc/1/task/1/environ", "/proc/self/mem"])
def test_the_environment_of_a_process_is_asked_about_whatever_allows_it(path: str) -> None:
    decision = policy("allow read:/**", "allow all").decide(read(path))
    assert (decision.effect, decision.by) == ("ask", "protection")
    assert policy("allow read:/**").decide(read("/proc/cpuinfo")).effect == "allow"


def test_what_is_executed_because_of_its_place_is_asked_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "hooks").symlink_to(tmp_path / "shared hooks")
    (tmp_path / ".git" / "config").write_text("[core]\n\thooksPath = tools/hooks\n[include]\n\tpath = ../team.config\n")
    monkeypatch.setenv("PATH", f"/usr/bin:{tmp_path}:{tmp_path}/bin")
    own = Policy(tmp_path, flags=rules("allow all"))
    for name in ("tools/hooks/pre-commit", "team.config", "shared hooks/pre-push", "bin/git"):
        decision = own.decide(write(str(tmp_path / name)))
        assert (name, decision.effect, decision.by) == (name, "ask", "protection")
    for name in ("tools/a", "binary", "git"):
        assert own.decide(write(str(tmp_path / name))).effect == "allow", name
    assert own.decide(run("bin/tool; tools/hooks/pre-commit", cwd=str(tmp_path))).effect != "deny", "may be run"
    (tmp_path / "sub").mkdir()
    assert Policy(tmp_path / "sub", flags=rules("allow all")).decide(write(str(tmp_path / "sub" / "a"))).allowed
    monkeypatch.setenv("PATH", "")
    (tmp_path / ".git" / "config").write_bytes(b"\xff\0path = \0x\n[a]hookspath=\n")
    Policy(tmp_path)


@pytest.mark.parametrize(
    "config",
    [
        "[core] hooksPath = build hooks",
        '[core]\n\thooksPath = "build hooks" ; ours',
        "[core]\n\thooksPath = build\\\n hooks",
        '[core]\n\thooksPath = bu"ild ho"oks # ours',
        "[CORE]HooksPath=build hooks",
    ],
)
def test_a_hooks_directory_is_found_however_git_lets_it_be_written(tmp_path: Path, config: str) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    with (tmp_path / ".git" / "config").open("a") as file:
        file.write(config)
    named = subprocess.run(["git", "-C", str(tmp_path), "config", "core.hooksPath"], capture_output=True, text=True)
    assert named.stdout == "build hooks\n"
    own = Policy(tmp_path, flags=rules("allow all"))
    assert own.decide(write(str(tmp_path / "build hooks" / "pre-commit"))).by == "protection"


def test_a_hostile_git_configuration_takes_linear_time(tmp_path: Path) -> None:
    """Empty lines would take hours, and opening a session would wait for them."""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("\n" * 999_000)
    assert Policy(tmp_path, flags=rules("allow all")).decide(write(str(tmp_path / "a"))).effect == "allow"


def test_work_trees_share_the_hooks_of_their_repository(tmp_path: Path) -> None:
    (tmp_path / "main" / ".git" / "worktrees" / "w").mkdir(parents=True)
    (tmp_path / "main" / ".git" / "config").write_text('[core]\nhookspath = "hooks dir" ; ours\n')
    (tmp_path / "main" / ".git" / "worktrees" / "w" / "commondir").write_text("../..\n")
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / ".git").write_text(f"gitdir: {tmp_path}/main/.git/worktrees/w\n")
    decision = Policy(tmp_path / "w", flags=rules("allow all")).decide(write(str(tmp_path / "w" / "hooks dir" / "a")))
    assert (decision.effect, decision.by) == ("ask", "protection")


def test_a_virtual_environment_is_known_by_its_configuration_whatever_its_name(tmp_path: Path) -> None:
    (tmp_path / "py").mkdir()
    (tmp_path / "py" / "pyvenv.cfg").touch()
    judged = Policy(tmp_path, flags=rules("allow write:**"))
    decision = judged.decide(Action.of_write(str(tmp_path / "py" / "bin" / "python")))
    assert (decision.by, decision.why.partition(" (")[0]) == (
        "protection",
        "virtual environments always need approval",
    )
    assert judged.decide(Action.of_write(str(tmp_path / "py2" / "python"))).effect == "allow"


def test_a_bare_repository_is_protected_but_not_a_working_tree_in_it(tmp_path: Path) -> None:
    for name in ("HEAD", "objects", "refs", "tree/.git"):
        (tmp_path / "bare" / name).mkdir(parents=True)
    judged = Policy(tmp_path, flags=rules("allow write:**"))

    def effect(name: str) -> str:
        return judged.decide(Action.of_write(str(tmp_path / name))).effect

    assert effect("bare/config") == "ask" and effect("bare/hooks/post-checkout") == "ask"
    assert effect("bare/tree/src/a.py") == "allow"
    assert effect("new/objects/a") == "allow" and effect("new/HEAD") == "ask", "without it, Git ignores the rest"


@pytest.mark.parametrize(
    "line",
    [
        *("tee .claude/settings.json", "cp x .github/workflows/ci.yml", "mv AGENTS.md x", "git rm .gitattributes"),
        *("echo x > .venv/bin/python", "sed -i s/a/b/ CLAUDE.md", "git diff --output=AGENTS.md", "cd .vscode && tee x"),
    ],
)
def test_a_command_that_may_write_such_a_file_is_asked_about(line: str) -> None:
    assert policy("allow command:*", "allow path:**").decide(run(line)).by == "protection"


@pytest.mark.parametrize(
    "line",
    [
        *(
            "cat AGENTS.md",
            "grep -r x .github/workflows",
            "git add .gitattributes",
            "git log -- CLAUDE.md",
            "ls .vscode",
        ),
        *(".venv/bin/python -m pytest", "source .venv/bin/activate", "ruff check --exclude .venv .", "cat .git/HEAD"),
    ],
)
def test_a_command_that_only_reads_or_runs_it_is_not(line: str) -> None:
    assert policy("allow command:*", "allow command:git add *", "allow path:**").decide(run(line)).effect == "allow"


def bare(folder: Path) -> None:
    (folder / "objects").mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "config").write_text('[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = "touch PWNED;:"\n')


@pytest.mark.parametrize(
    "cwd, line, asked",
    [
        (".", "git status", False),
        ("src", "git status", False),
        ("src/plain", "git status", False),
        ("nested", "git status", False),
        ("src/sub", "git status", True),
        ("src/sub/deep", "git status", True),
        ("link", "git status", True),
        ("odd", "git status", True),
        (".", "cd src/sub && git status", True),
        (".", "git -C src/sub status", True),
        (".", "cd $X && git status", True),
        ("src/sub", "ls", False),
        (".git", "git status", False),
    ],
)
def test_a_rule_for_git_does_not_hold_in_a_bare_repository_of_the_project(
    cwd: str, line: str, asked: bool, tmp_path: Path
) -> None:
    for folder in (".git", "nested/.git"):
        bare(tmp_path / folder)
    (tmp_path / "src" / "plain").mkdir(parents=True)
    bare(tmp_path / "src" / "sub")
    (tmp_path / "src" / "sub" / "deep").mkdir()
    (tmp_path / "link").symlink_to("src/sub/deep")
    bare(tmp_path / "odd")
    (tmp_path / "odd" / ".git").mkdir()  # empty: git passes over it
    allowed = rules("allow command:git *", "allow command:git -C *", "allow command:cd *", "allow command:ls")
    action = Action.of_terminal(line, shell=True, cwd=str(tmp_path / cwd), project=str(tmp_path))
    decision = Policy(tmp_path, user=allowed).decide(action)
    assert decision.effect == ("ask" if asked else "allow"), decision.why
    if asked:
        assert "git would use" in decision.why or "only the shell knows" in decision.why


def test_a_project_without_a_repository_does_not_become_one_by_its_files(tmp_path: Path) -> None:
    judged = Policy(tmp_path, user=rules("allow command:git status"))
    action = Action.of_terminal("git status", shell=True, cwd=str(tmp_path), project=str(tmp_path))
    assert judged.decide(action).effect == "allow"
    bare(tmp_path)
    assert judged.decide(action).effect == "ask"


@pytest.mark.parametrize("path", ["keys/providers.json", "remote/tokens.json"])
def test_reading_the_keys_that_accord_saves_always_needs_permission(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACCORD_DATA_HOME", str(tmp_path))
    judged = policy("allow all", "allow path:/**")
    assert judged.decide(Action.of_read(f"{tmp_path}/{path}", project="/work/app")).effect == "ask"
    assert judged.decide(Action.of_read(f"{tmp_path}/outputs/1.txt", project="/work/app")).effect == "allow"
