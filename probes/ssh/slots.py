"""Owns how many commands share one connection, and learns when a node allows fewer than we thought."""

import asyncio


class Slots:
    """A semaphore whose capacity can shrink."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self.used = 0
        self._freed = asyncio.Event()

    @property
    def free(self) -> bool:
        """Whether one more fits now."""
        return self.used < self._capacity

    async def take(self) -> None:
        """Wait for a slot and hold it."""
        while self.used >= self._capacity:
            self._freed.clear()
            await self._freed.wait()
        self.used += 1

    def give_back(self) -> None:
        """Let go of a slot."""
        self.used -= 1
        self._freed.set()

    def shrink(self, running: int) -> None:
        """The node refused a command while ``running`` others ran: that many is what it allows."""
        self._capacity = max(1, min(self._capacity, running))
