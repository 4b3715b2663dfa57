"""The same thing for several machines at once, in a way that Ctrl-C can leave."""

import threading
from collections.abc import Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def each(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """The results in order; the first failure is raised once all have ended.

    The threads are daemons: an interrupted command stops its machines and exits without them.
    """
    work = list(items)
    results: dict[int, Result] = {}
    failures: dict[int, BaseException] = {}

    def one(index: int) -> None:
        try:
            results[index] = function(work[index])
        except BaseException as error:
            failures[index] = error

    threads = [threading.Thread(target=one, args=(index,), daemon=True) for index in range(len(work))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[min(failures)]
    return [results[index] for index in range(len(work))]
