"""What differs between asynchronous and synchronous code. The rest of ``_sync`` is made from ``_async``."""

from __future__ import annotations

import random
import time
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar, Union

import anyio
from anyio import Lock, fail_after

Item = TypeVar("Item")
AnyIterable = Union[Iterable[Item], AsyncIterable[Item]]

__all__ = ["AnyIterable", "Clock", "Lock", "acquire", "fail_after", "iterate"]


@dataclass(frozen=True)
class Clock:
    """Replaceable, so that tests need not wait."""

    now: Callable[[], float] = time.monotonic
    wall_time: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    #: From 0 up to, but not including, 1.
    random: Callable[[], float] = random.random


async def acquire(lock: Lock, seconds: float) -> bool:
    with anyio.move_on_after(seconds):
        await lock.acquire()
        return True
    return False


async def iterate(items: AnyIterable[Item]) -> AsyncIterator[Item]:
    if isinstance(items, AsyncIterable):
        async for item in items:
            yield item
    else:
        for item in items:
            yield item
