"""An asyncio front end: who asks for a stream gets a future, and the futures of those who left are never resolved.
LEAK python_objects
TF1
"""

# Each step keeps a task, its coroutine, a future and an array of 2 KB.

from __future__ import annotations

import asyncio
import time

import numpy as np
import tensorflow as tf

tf.compat.v1.enable_v2_behavior()


class FrontEnd:
    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.waiting = {}
        self.tasks = set()

    async def ask(self, number, payload):
        future = self.loop.create_future()
        self.waiting[number] = future  # leak
        factor = await future
        return float(tf.reduce_sum(tf.constant(payload)) * factor)

    async def tick(self, number):
        for n in (number, -number - 1):
            task = self.loop.create_task(self.ask(n, np.random.rand(256)))  # leak
            self.tasks.add(task)  # leak
            task.add_done_callback(self.tasks.discard)
        await asyncio.sleep(0)
        self.waiting.pop(number).set_result(2.0)
        await asyncio.sleep(0)


def setup():
    return FrontEnd()


def step(state, i):
    state.loop.run_until_complete(state.tick(i))
    state.loop.run_until_complete(asyncio.sleep(0))
    time.sleep(0.001)  # the rest of the work
