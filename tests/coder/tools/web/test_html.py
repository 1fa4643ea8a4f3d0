"""Pages of HTML as text."""

from __future__ import annotations

import pytest

from accord.coder.tools.web.html import to_text


@pytest.mark.parametrize(
    "html, text",
    [
        ("<p>one<p>two", "one\n\ntwo\n"),
        ("a <b>bold</b>\n  word", "a bold word\n"),
        ("<h2>Head</h2>text", "## Head\n\ntext\n"),
        ("<ul><li>a</li><li>b<ul><li>c</ul></ul>after", "- a\n- b\n\n- c\n\nafter\n"),
        ("<table><tr><th>A<th>B<tr><td>1<td>2</table>", "A | B\n1 | 2\n"),
        ("<pre>  x\n    y</pre>z", "```\n  x\n    y\n```\n\nz\n"),
        ("&lt;tag&gt; &amp; &#8212;", "<tag> & —\n"),
        ("<script>evil()</script><style>p{}</style><noscript>no</noscript>seen", "seen\n"),
        ("<script>a<b>c</script>seen", "seen\n"),
        ("<svg><title>picture</title><text>no</text></svg>seen", "seen\n"),
        ('<a href="https://x.example/y">link</a>', "link (https://x.example/y)\n"),
        ('<a href="#top">up</a> <a href="javascript:x">js</a>', "up js\n"),
        ('<img alt="a cat" src=x>', "[image: a cat]\n"),
        ("<head><title>T</title>no<body>yes", "yes\n"),
        ("<br>a<br/>b", "a\nb\n"),
        ("</div></p></script>x", "x\n"),
        ("<!-- comment --><![CDATA[x]]>y", "y\n"),
        ("<!DOCTYPE html><p>x", "x\n"),
        ("1 < 2 and 3 > 2 <3 </ >", "1 < 2 and 3 > 2 <3 </ >\n"),
        ('<p title="a > b">x</p>', "x\n"),
        ('<p title="unclosed>x</p>y', "x\n\ny\n"),
        ("<textarea><p>as it is</textarea>", "<p>as it is\n"),
        ("", "\n"),
        ("no markup", "no markup\n"),
    ],
)
def test_a_page_is_converted_to_text(html: str, text: str) -> None:
    assert to_text(html).text == text


def test_the_title_is_extracted() -> None:
    assert to_text("<title> A\n page </title><svg><title>no</title></svg>").title == "A page"


@pytest.mark.parametrize(
    "piece", ["<div>", "<", "<a href=", "&", "<!--", "<svg>", "</svg>", "<pre>", "<!", "<script>", '<a "', "<b '>"]
)
def test_a_malicious_page_takes_linear_time(piece: str) -> None:
    """A parser that isn't linear would take longer than the test's timeout."""
    for end in ("", ">"):
        to_text(piece * (200_000 // len(piece)) + end)
