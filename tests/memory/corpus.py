"""A process that leaks so many bytes a call to one owner, or to none; prints what the account says of it.

python corpus.py numpy 500 10000 1000
"""

import ctypes
import gc
import json
import mmap
import os
import sys

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1", TF_ENABLE_ONEDNN_OPTS="0")
import numpy as np
import tensorflow as tf

import tfmemwatch

PAGE = mmap.PAGESIZE
kept = []
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]


def malloced(size):
    """Memory of C's own, written to."""
    address = libc.malloc(size)
    ctypes.memset(address, 1, size)
    return address


def mapped(size, **flags):
    block = mmap.mmap(-1, size, **flags)
    block.write(b"x" * size)
    return block


# What leaks, by the owner that it is to be found under; each takes a number of bytes and keeps them.
LEAKS = {
    "numpy": lambda size: kept.append(np.ones(size // 8)),
    "tensors": lambda size: kept.append(tf.fill([size // 4], 1.0)),
    "variables": lambda size: kept.append(tf.Variable(tf.zeros([size // 4]))),
    "malloc": malloced,
    "anonymous": lambda size: kept.append(mapped(size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)),
    "shared": lambda size: kept.append(mapped(size)),
    "python": lambda size: kept.append(tuple(bytes(15) for _ in range(size // 56))),  # 48 bytes and 8 for each
    "python:large": lambda size: kept.append(bytes(size)),
    "python:nested": lambda size: kept.append({"text": ("", "x" * size)}),
    "numpy:nested": lambda size: kept.append(({"array": np.ones(size // 8)},)),
}
FREED = []


def cost(owner, size):
    """What one call really takes: the kernel maps whole pages, and what is small has a head."""
    if owner == "python:nested":
        return size + sum(map(sys.getsizeof, ({"text": 0}, (0, 0), "")))
    return -(-size // PAGE) * PAGE if owner in ("anonymous", "shared") else size


def freed(size):
    """Taken, and given back to malloc, which can't give it back: what is still in use lies between."""
    FREED.append(malloced(size))
    malloced(48)


def leak(owner, size, calls):
    for _ in range(calls):
        (freed if owner == "malloc_kept" else LEAKS[owner])(size)
    while FREED:
        libc.free(FREED.pop())


def main(owner, calls, sizes):
    assert tf.reduce_sum(tf.Variable(tf.ones([10])) * 2.0).numpy() == 20.0  # the runtime has started
    for size in sizes:
        leak(owner, size, 20)
    tfmemwatch.owners()
    for size in sizes:
        gc.collect()
        before = tfmemwatch.owners()
        leak(owner, size, calls)
        gc.collect()
        after = tfmemwatch.owners()
        told = {"size": size, "cost": cost(owner, size), "grown": after.less(before)}
        told.update(most=after.most(before), resident=after.resident_bytes, parts=sum(after.parts.values()))
        told.update(rest=after.of("rest"), off=after.off)
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), [int(size) for size in sys.argv[3:]])
