"""Boxes and curves of a picture, in pixels; y grows downward."""

from typing import NamedTuple

Point = tuple[float, float]


class Box(NamedTuple):
    """A rectangle by its upper left corner."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height

    @property
    def middle(self) -> Point:
        return self.x + self.width / 2, self.y + self.height / 2

    def moved(self, dx: float, dy: float) -> "Box":
        return self._replace(x=self.x + dx, y=self.y + dy)

    def grown(self, margin: float) -> "Box":
        """The box with so much more on each side."""
        return Box(self.x - margin, self.y - margin, self.width + 2 * margin, self.height + 2 * margin)

    def overlaps(self, other: "Box") -> bool:
        """Do they share more than an edge?"""
        beside = self.right <= other.x or other.right <= self.x
        return not (beside or self.bottom <= other.y or other.bottom <= self.y)

    def has(self, point: Point) -> bool:
        """Is the point inside, not only on an edge?"""
        return self.x < point[0] < self.right and self.y < point[1] < self.bottom

    def holds(self, other: "Box") -> bool:
        """Is the other wholly inside?"""
        is_wide_enough = self.x <= other.x and other.right <= self.right
        return is_wide_enough and self.y <= other.y and other.bottom <= self.bottom


def around(middle: Point, width: float, height: float) -> Box:
    """The box of that size about a point."""
    return Box(middle[0] - width / 2, middle[1] - height / 2, width, height)


def hull(boxes: "list[Box]") -> Box:
    """The least box that holds them all; raises ValueError for none."""
    left, top = min(each.x for each in boxes), min(each.y for each in boxes)
    return Box(left, top, max(each.right for each in boxes) - left, max(each.bottom for each in boxes) - top)


class Line(NamedTuple):
    """A line along points: straight from each to the next, or one cubic Bézier curve through four."""

    points: tuple[Point, ...]
    is_curve: bool = False

    def at(self, part: float) -> Point:
        """The point at a part of a curve, 0 its beginning and 1 its end."""
        back = 1 - part
        weights = (back**3, 3 * back**2 * part, 3 * back * part**2, part**3)
        x, y = (sum(w * p[axis] for w, p in zip(weights, self.points, strict=True)) for axis in (0, 1))
        return x, y

    def along(self) -> list[Point]:
        """Points on it, close enough that no box of a picture fits between two."""
        if self.is_curve:
            return [self.at(step / 64) for step in range(65)]
        found = []
        for (x, y), (to_x, to_y) in zip(self.points, self.points[1:], strict=False):
            found += [(x + (to_x - x) * step / 64, y + (to_y - y) * step / 64) for step in range(65)]
        return found

    def moved(self, dx: float, dy: float) -> "Line":
        return self._replace(points=tuple((x + dx, y + dy) for x, y in self.points))


def across(one: Point, other: Point) -> Line:
    """A curve that leaves the left point to the right and comes to the other from its left."""
    reach = max(30.0, (other[0] - one[0]) / 2)
    return Line((one, (one[0] + reach, one[1]), (other[0] - reach, other[1]), other), is_curve=True)


def bracket(one: Point, other: Point, reach: float) -> Line:
    """A curve that leaves both points to one side: to the right by a positive reach, else to the left."""
    far = max(one[0], other[0]) if reach > 0 else min(one[0], other[0])
    return Line((one, (far + reach, one[1]), (far + reach, other[1]), other), is_curve=True)
