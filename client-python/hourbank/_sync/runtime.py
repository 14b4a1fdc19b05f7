"""What differs between asynchronous and synchronous code. The rest of ``_sync`` is made from ``_async``."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from threading import Lock
from typing import TypeVar

Item = TypeVar("Item")
AnyIterable = Iterable[Item]

__all__ = ["AnyIterable", "Clock", "Lock", "acquire", "fail_after", "iterate"]


@dataclass(frozen=True)
class Clock:
    """Replaceable, so that tests need not wait."""

    now: Callable[[], float] = time.monotonic
    wall_time: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep
    #: From 0 up to, but not including, 1.
    random: Callable[[], float] = random.random


def acquire(lock: Lock, seconds: float) -> bool:
    return lock.acquire(timeout=max(0.0, seconds))


def fail_after(seconds: float) -> AbstractContextManager[None]:
    """A thread cannot be interrupted: the timeouts of httpx and the check between chunks have to do."""
    return nullcontext()


def iterate(items: AnyIterable[Item]) -> Iterator[Item]:
    return iter(items)
