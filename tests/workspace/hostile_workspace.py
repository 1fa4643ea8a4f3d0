"""A workspace next to a secret, with everything that an agent might use to reach it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from accord.workspace.files import Files
from accord.workspace.roots import Roots

SECRET = "the secret that must not be read"
LOOT = "what an agent wrote"


class Planted:
    """`app` and `lib` are the roots; all else in `base` is off limits, and is watched."""

    def __init__(self, base: Path, *, with_twins: bool = True) -> None:
        self.base = base
        self.app = base / "app"
        self.lib = base / "lib"
        self.outside = base / "outside"
        twins = ["app2", "ap", "app.bak", "."] if with_twins else []
        for folder in ("app/sub/deep", "lib", "outside/dir", *twins):
            (base / folder).mkdir(parents=True, exist_ok=True)
        (self.app / "notes.txt").write_text("notes\n")
        (self.app / "sub/deep/file.txt").write_text("deep\n")
        (self.lib / "lib.txt").write_text("lib\n")
        for place in ("outside", "outside/dir", *twins):
            (base / place / "secret.txt").write_text(SECRET)
        self.roots = Roots(str(self.app), [str(self.lib)])
        self.files = Files(self.roots, sync=False)
        self._before = self._survey()

    def close(self) -> None:
        self.roots.close()

    def _survey(self) -> dict[str, tuple[int, int, bytes]]:
        """Everything outside the roots: what kind, which inode, what content."""
        found = {}
        for folder, folders, names in os.walk(self.base):
            folders[:] = [name for name in folders if os.path.join(folder, name) not in (str(self.app), str(self.lib))]
            for name in (*folders, *names):
                path = os.path.join(folder, name)
                status = os.lstat(path)
                content = b""
                if stat.S_ISREG(status.st_mode):
                    with open(path, "rb") as file:
                        content = file.read()
                found[os.path.relpath(path, self.base)] = (stat.S_IMODE(status.st_mode), status.st_ino, content)
        return found

    def check_outside(self) -> None:
        """Nothing outside was made, changed or removed."""
        assert self._survey() == self._before

    def plant(self) -> None:
        """Takes note of what the test itself puts outside."""
        self._before = self._survey()
