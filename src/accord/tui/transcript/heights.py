"""Heights of items with fast prefix sums, to map lines to items in sessions of any length."""

from __future__ import annotations

from array import array


class Heights:
    """A list of heights. Setting one, adding one, and finding the item at a line all take logarithmic time."""

    def __init__(self) -> None:
        self._each = array("q")
        self._tree = array("q", [0])  # a Fenwick tree: each node sums the items of a power of two before it

    def __len__(self) -> int:
        return len(self._each)

    def __getitem__(self, index: int) -> int:
        return self._each[index]

    @property
    def total(self) -> int:
        return self.before(len(self._each))

    def append(self, height: int) -> None:
        """Append an item."""
        self._each.append(height)
        place = len(self._each)
        below = place & (place - 1)
        self._tree.append(height + self.before(place - 1) - self.before(below))

    def set(self, index: int, height: int) -> None:
        """Change the height of an item."""
        change = height - self._each[index]
        if not change:
            return
        self._each[index] = height
        place = index + 1
        while place < len(self._tree):
            self._tree[place] += change
            place += place & -place

    def before(self, index: int) -> int:
        """Return the line at which an item starts: the sum of all heights before it."""
        total = 0
        while index > 0:
            total += self._tree[index]
            index &= index - 1
        return total

    def find(self, line: int) -> tuple[int, int]:
        """Return the item at a line, and the line within it. Past the end: the last line of the last item."""
        if not self._each:
            return 0, 0
        place, step = 0, 1 << (len(self._each).bit_length() - 1)
        left = max(line, 0)
        while step:
            following = place + step
            if following < len(self._tree) and self._tree[following] <= left:
                place = following
                left -= self._tree[following]
            step >>= 1
        if place >= len(self._each):
            return len(self._each) - 1, max(self._each[-1] - 1, 0)
        return place, left
