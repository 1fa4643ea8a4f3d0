"""The distributions for PyPI: their name, links, contents, and how the program refers to them."""

from __future__ import annotations

import email
import email.message
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from accord.config.registry import read_registry
from accord.version import DISTRIBUTION, __version__, install_command

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
pytestmark = pytest.mark.slow
TARGET = re.compile(r"\]\(([^()\s]+)\)")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a wheel and a source distribution as `make dist` does."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-P", "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(built / f"accord_acp-{__version__}-py3-none-any.whl")


@pytest.fixture(scope="module")
def metadata(wheel: zipfile.ZipFile) -> email.message.Message:
    return email.message_from_string(wheel.read(f"accord_acp-{__version__}.dist-info/METADATA").decode())


def test_the_distribution_has_its_own_name_and_the_package_keeps_its_own(
    wheel: zipfile.ZipFile, metadata: email.message.Message
) -> None:
    scripts = wheel.read(f"accord_acp-{__version__}.dist-info/entry_points.txt").decode()
    tops = {name.partition("/")[0] for name in wheel.namelist()}

    assert metadata["Name"] == DISTRIBUTION == "accord-acp"
    assert tops == {"accord", f"accord_acp-{__version__}.dist-info"}
    assert "accord = accord.__main__:main" in scripts
    # uvx and pipx run the program named like the distribution
    assert "accord-acp = accord.__main__:main" in scripts
    assert "accord/py.typed" in wheel.namelist()


def test_an_extra_that_names_others_names_this_distribution() -> None:
    own = [need for needs in PROJECT["optional-dependencies"].values() for need in needs if need.startswith("accord")]

    assert own and all(need.startswith(f"{DISTRIBUTION}[") for need in own)


def test_the_readme_on_pypi_has_no_relative_links(metadata: email.message.Message) -> None:
    targets = TARGET.findall(metadata.get_payload())

    assert len(targets) > 25
    assert [target for target in targets if not target.startswith("https://")] == []
    assert any(target.startswith("https://raw.") and target.endswith(".svg") for target in targets)


def test_every_link_into_the_repository_is_below_its_url(metadata: email.message.Message) -> None:
    home = PROJECT["urls"]["Homepage"]
    _, _, path = home.partition("github.com/")
    ours = [target for target in TARGET.findall(metadata.get_payload()) if "accord-acp" in target]

    assert all(
        target.startswith((f"{home}/blob/main/", f"{home}#", f"https://raw.githubusercontent.com/{path}/main/"))
        for target in ours
    )
    for target in ours:
        kept = re.sub(rf"^.*/{path}/(?:blob/)?main/|^.*/{path}#.*$", "", target).partition("#")[0]
        assert (ROOT / kept).exists(), target


def test_pypi_accepts_it(built: Path) -> None:
    command = [sys.executable, "-P", "-m", "twine", "check", "--strict", *map(str, built.iterdir())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("PASSED") == 2


def test_the_source_distribution_can_build_the_wheel(built: Path) -> None:
    with tarfile.open(built / f"accord_acp-{__version__}.tar.gz") as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    assert {"pyproject.toml", "README.md", "LICENSE", "src/accord/__init__.py", "src/accord/py.typed"} <= names
    assert not [name for name in names if name.startswith((".venv", ".cache", "dist"))]


def test_every_document_and_message_installs_this_distribution() -> None:
    """`pip install accord` installs an unrelated project."""
    wrong = re.compile(r"(?:pip install|pipx run|uvx|uv tool install|--from)\s+['\"]?accord(?!-acp)\b")
    files = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("src/accord/**/*.py"), ROOT / "Makefile"]

    assert [file.name for file in files if wrong.search(file.read_text(encoding="utf-8"))] == []
    assert install_command("coder") == "pip install 'accord-acp[coder]'"


@pytest.mark.req("V1-REG-02", "V1-REG-05")
def test_the_registry_entry_is_of_this_distribution() -> None:
    folder = ROOT / "registry" / "accord"
    read = read_registry(folder / "agent.json")
    entry = read.entries[folder.name]
    icon = (folder / "icon.svg").read_text(encoding="utf-8")

    assert read.problems == []
    assert entry.version == __version__
    assert entry.distribution.uvx and entry.distribution.uvx.package == f"{DISTRIBUTION}[coder]=={__version__}"
    assert (entry.repository, entry.license) == (PROJECT["urls"]["Homepage"], PROJECT["license"])
    assert 'viewBox="0 0 16 16"' in icon
    assert set(re.findall(r'(?:fill|stroke|color)="([^"]*)"', icon)) == {"none", "currentColor"}
