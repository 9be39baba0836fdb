"""What has to be done before what: things in an order, in steps of those that may be done at the same time.

Things that wait for each other, in a circle, are one group and come in one step together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

Onward = Mapping[str, Collection[str]]
Group = tuple[str, ...]


def strongly_connected_components(things: Iterable[str], onward: Onward) -> list[Group]:
    """The things by circle, each in order; what is in none is a group by itself. A group comes after all that it leads
    to (Tarjan, 1972, without recursion, since a chain may be long)."""
    wanted = dict.fromkeys(things)
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_: dict[str, None] = {}
    found: list[Group] = []
    for root in wanted:
        if root in number:
            continue
        way: list[tuple[str, Iterator[str]]] = [
            (root, _begin(root, onward, wanted, number, lowest, open_))
        ]
        while way:
            thing, rest = way[-1]
            following = next((one for one in rest if one not in number or one in open_), None)
            if following is None:
                way.pop()
                if way:
                    lowest[way[-1][0]] = min(lowest[way[-1][0]], lowest[thing])
                if lowest[thing] == number[thing]:
                    found.append(_close(thing, open_))
            elif following in number:
                lowest[thing] = min(lowest[thing], number[following])
            else:
                way.append((following, _begin(following, onward, wanted, number, lowest, open_)))
    return found


def _begin(
    thing: str,
    onward: Onward,
    wanted: Collection[str],
    number: dict[str, int],
    lowest: dict[str, int],
    open_: dict[str, None],
) -> Iterator[str]:
    number[thing] = lowest[thing] = len(number)
    open_[thing] = None
    return iter(sorted(one for one in onward.get(thing, ()) if one in wanted))


def _close(thing: str, open_: dict[str, None]) -> Group:
    members = [thing]
    while (last := open_.popitem()[0]) != thing:
        members.append(last)
    return tuple(sorted(members))


def parallel_steps(things: Iterable[str], onward: Onward) -> list[list[Group]]:
    """The groups in steps: each comes in the first step in which all that leads to it is done."""
    found = strongly_connected_components(things, onward)
    group_of = {thing: group for group in found for thing in group}
    level: dict[Group, int] = dict.fromkeys(found, 0)
    for group in reversed(found):
        for thing in group:
            for following in onward.get(thing, ()):
                other = group_of.get(following, group)
                if other != group:
                    level[other] = max(level[other], level[group] + 1)
    by_level: dict[int, list[Group]] = defaultdict(list)
    for group in found:
        by_level[level[group]].append(group)
    return [sorted(by_level[number]) for number in sorted(by_level)]
