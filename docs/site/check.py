"""Check a built site: links, anchors, images, and that nothing is loaded from other hosts."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href", "video": "src"}
PASSIVE = {"canonical", "prev", "next", "alternate", "edit"}
IN_STYLE = re.compile(r"""(?:url\(\s*|@import\s+)["']?((?:https?:)?//[^"')\s]+)""")


class Page(HTMLParser):
    """The ids, links and loaded files of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = {""}
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = dict(attributes)
        self.ids |= {value for name in ("id", "name") if (value := values.get(name))}
        if tag == "a" and (href := values.get("href")):
            self.links.add(href)
        passive = tag == "link" and (values.get("rel") or "") in PASSIVE
        if tag in LOADED and not passive and (source := values.get(LOADED[tag])):
            self.loaded.add(source)


def find_problems(site: Path) -> list[str]:
    """Return one line for each problem."""
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    problems = []
    for path, page in pages.items():
        where = path.relative_to(site).as_posix()
        if where == "404.html":
            continue  # its links start at the root of the host
        for link in sorted(page.links | page.loaded):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loaded and parts.scheme != "data":
                    problems.append(f"{where}: loads {link}")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                problems.append(f"{where}: no such page: {link}")
            elif target in pages and unquote(parts.fragment) not in pages[target].ids:
                problems.append(f"{where}: no such anchor: {link}")
    for path in sorted(site.rglob("*.css")):
        found = IN_STYLE.findall(path.read_text(encoding="utf-8"))
        problems += [f"{path.relative_to(site).as_posix()}: loads {address}" for address in found]
    return problems
