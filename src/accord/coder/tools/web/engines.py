"""Search engines: their requests, and the results in their responses. Nothing is sent here."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, NamedTuple
from urllib.parse import parse_qs, urlencode, urlsplit

import msgspec

from accord.coder.tools.base import ToolError
from accord.coder.tools.web.html import to_text, tokens
from accord.coder.tools.web.http import Body

_CLASS = re.compile(r"""\bclass\s*=\s*["']([^"']*)["']""", re.I)
_LINK = re.compile(r"""\bhref\s*=\s*["']([^"']*)["']""", re.I)


class SearchRequest(NamedTuple):
    """An HTTP request for results."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = {}
    content: bytes | None = None


class SearchResult(NamedTuple):
    """A result as the engine sent it."""

    title: str
    url: str
    snippet: str


class Engine(ABC):
    """A search engine."""

    title: ClassVar[str]
    endpoint: ClassVar[str]
    """The default URL, without the query."""
    path: ClassVar[str] = ""
    """The path that is appended to a configured `base_url`, unless it already ends with it."""

    def url(self, base_url: str | None) -> str:
        """Return the URL, without the query."""
        if not base_url:
            return self.endpoint
        base = base_url.rstrip("/")
        return base if base.endswith(self.path) else base + self.path

    @abstractmethod
    def request(self, url: str, query: str, limit: int, key: str) -> SearchRequest:
        """Return the request for a query."""

    @abstractmethod
    def results(self, body: Body) -> Iterable[SearchResult]:
        """Return the results in a response. Raises `ToolError` if it isn't one of this engine."""

    def _items(self, body: Body, *keys: str) -> list[dict[str, Any]]:
        """Return the objects in a list of a JSON response."""
        try:
            found = msgspec.json.decode(body.data)
        except msgspec.DecodeError:
            raise ToolError(f"{self.title} sent no JSON") from None
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        return [item for item in found or () if isinstance(item, dict)] if isinstance(found, list) else []


class Tavily(Engine):
    title = "Tavily"
    endpoint = "https://api.tavily.com/search"
    path = "/search"

    def request(self, url: str, query: str, limit: int, key: str) -> SearchRequest:
        return _post(url, {"Authorization": f"Bearer {key}"}, {"query": query, "max_results": limit})

    def results(self, body: Body) -> Iterable[SearchResult]:
        return [_result(item, "content") for item in self._items(body, "results")]


class Exa(Engine):
    title = "Exa"
    endpoint = "https://api.exa.ai/search"
    path = "/search"

    def request(self, url: str, query: str, limit: int, key: str) -> SearchRequest:
        fields = {"query": query, "numResults": limit, "type": "auto", "contents": {"highlights": True}}
        return _post(url, {"x-api-key": key}, fields)

    def results(self, body: Body) -> Iterable[SearchResult]:
        for item in self._items(body, "results"):
            highlights = item.get("highlights")
            parts = [part for part in highlights if isinstance(part, str)] if isinstance(highlights, list) else []
            yield _result({**item, "snippet": " … ".join(parts) or item.get("text")}, "snippet")


class Brave(Engine):
    title = "Brave Search"
    endpoint = "https://api.search.brave.com/res/v1/web/search"
    path = "/res/v1/web/search"

    def request(self, url: str, query: str, limit: int, key: str) -> SearchRequest:
        headers = {"X-Subscription-Token": key, "Accept": "application/json"}
        return SearchRequest(f"{url}?{urlencode({'q': query, 'count': limit})}", headers=headers)

    def results(self, body: Body) -> Iterable[SearchResult]:
        for item in self._items(body, "web", "results"):
            found = _result(item, "description")
            yield found._replace(title=to_text(found.title).text, snippet=to_text(found.snippet).text)  # has <strong>


class SearXNG(Engine):
    title = "SearXNG"
    endpoint = ""
    path = "/search"

    def request(self, url: str, query: str, limit: int, key: str) -> SearchRequest:
        headers = {"Accept": "application/json"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        return SearchRequest(f"{url}?{urlencode({'q': query, 'format': 'json'})}", headers=headers)

    def results(self, body: Body) -> Iterable[SearchResult]:
        return [_result(item, "content") for item in self._items(body, "results")]


class DuckDuckGo(Engine):
    """Its page for browsers without JavaScript, because it has no API."""

    title = "DuckDuckGo"
    endpoint = "https://html.duckduckgo.com/html/"

    def request(self, url: str, query: str, limit: int, key: str) -> SearchRequest:
        return SearchRequest(f"{url}?{urlencode({'q': query})}", headers={"Accept": "text/html"})

    def results(self, body: Body) -> Iterable[SearchResult]:
        html = body.data.decode("utf-8", "replace")
        if body.status == 202 or "anomaly-modal" in html:
            raise ToolError("DuckDuckGo refuses searches by programs for now; try later, or configure another engine")
        found: list[SearchResult] = []
        for kind, link, text in _links(html):
            if "result__a" in kind:
                found.append(SearchResult(text, _target(link), ""))
            elif "result__snippet" in kind and found and not found[-1].snippet:
                found[-1] = found[-1]._replace(snippet=text)
        return [each for each in found if each.url]


ENGINES: dict[str, Engine] = {
    "duckduckgo": DuckDuckGo(),
    "tavily": Tavily(),
    "exa": Exa(),
    "brave": Brave(),
    "searxng": SearXNG(),
}


def _post(url: str, headers: Mapping[str, str], fields: Mapping[str, Any]) -> SearchRequest:
    headers = {"Content-Type": "application/json", "Accept": "application/json", **headers}
    return SearchRequest(url, "POST", headers, msgspec.json.encode(fields))


def _result(item: Mapping[str, Any], snippet: str) -> SearchResult:
    title, url, text = (item.get(key) for key in ("title", "url", snippet))
    return SearchResult(*(each if isinstance(each, str) else "" for each in (title, url, text)))


def _links(html: str) -> Iterable[tuple[str, str, str]]:
    """Yield class, target and text of each link. Results and snippets are links, without links in them."""
    kind = link = ""
    text: list[str] | None = None
    for token in tokens(html):
        if token.kind == "start" and token.text == "a":
            kind = found[1] if (found := _CLASS.search(token.rest)) else ""
            link = found[1] if (found := _LINK.search(token.rest)) else ""
            text = []
        elif token.kind == "end" and token.text == "a" and text is not None:
            yield kind, link, "".join(text)
            text = None
        elif token.kind == "text" and text is not None:
            text.append(token.text)


def _target(link: str) -> str:
    """Return the page that a result leads to by way of DuckDuckGo; empty for an advertisement."""
    link = link.replace("&amp;", "&")
    parts = urlsplit(link if link.startswith("http") else f"https:{link}" if link.startswith("//") else "")
    if (parts.hostname or "").endswith("duckduckgo.com"):
        return next(iter(parse_qs(parts.query).get("uddg", [])), "") if parts.path == "/l/" else ""
    return parts.geturl()
