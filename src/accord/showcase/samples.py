"""Texts that clients find hard to show."""

from __future__ import annotations

MARKDOWN = """\
# A heading

Some *emphasis*, some **strength**, some ~~regret~~, `code`, and a [link](https://example.com/).

## Lists

- a point
  - a point below it
    1. counted
    2. and counted on
- [ ] a task to do
- [x] a task that is done

> A quotation,
> > and one inside it.

| left | middle | right |
|:-----|:------:|------:|
| a    | b      | 1     |
| `|`  | **d**  | 1000  |

```python
def greet(name: str) -> str:
    return f"Hello, {name}!"  # not **bold**
```

````markdown
```
a fence inside a fence
```
````

A formula, $e^{i\\pi} + 1 = 0$; a footnote[^1]; <b>HTML that should not run</b><script>alert(1)</script>.

[^1]: Which says nothing.

---

An unclosed *star, an unclosed `tick, and the end.
"""

UNICODE = {
    "Chinese, Japanese, Korean": "漢字かな交じり文、全角ＡＢＣ、한국어 문장",
    "Right to left": "שלום עולם, مرحبا بالعالم, and back (with brackets) 123",
    "Bidirectional marks": "\u202eoverride\u202c \u2067isolated\u2069 \u200fmark\u200e",
    "Combining": "e\u0301 a\u0308 Z̷̡a̸͎l̵̗g̶̳o̷ क्षि ก็ g̈ 각",
    "Emoji": "😀 👍🏽 👩‍👩‍👧‍👦 🏴‍☠️ 🇪🇺 ❤️ ☎︎ 1️⃣",
    "Zero width": "a\u200bb\u200cc\u200dd\ufeffe\u2060f (six letters)",
    "Odd spaces": "a\u00a0b\u2003c\u3000d\u202fe",
    "Beyond the basic plane": "𝔄𝕔𝓬𝟘 𐍈 🀄 \U0010ffff",
    "Controls": "a\tb\x07c\x1b[31mred or not\x1b[0m\x7fd \x85 \u2028 \u2029 end",
    "Normal forms": "é (one) e\u0301 (two) ﬁ Å Å",
    "A long line": "unbroken" * 120,
    "A long word with soft hyphens": "Donau\u00addampf\u00adschiff\u00adfahrts\u00adgesell\u00adschaft" * 8,
}
"""Samples by what they are. All of it is valid Unicode; none of it should break a line, a layout or a terminal."""
