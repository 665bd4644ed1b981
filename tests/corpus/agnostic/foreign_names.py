"""Names that look like an accelerator API and are none: own classes, other libraries, the standard library."""

import re
import sqlite3
import threading
from multiprocessing import Event

import numpy as np

WORD = re.compile(r"\w+")
ready = Event()


class Stream:
    """A stream of records, not of kernels."""

    def __init__(self, rows):
        self.rows = iter(rows)
        self.lock = threading.Lock()

    def synchronize(self):
        with self.lock:
            return list(self.rows)

    def to(self, target):
        return target(self.synchronize())

    def half(self):
        rows = self.synchronize()
        return rows[: len(rows) // 2]


class Model:
    def compile(self, optimizer, loss, mode="max"):
        self.optimizer, self.loss, self.mode = optimizer, loss, mode
        return self

    def device_count(self):
        return 1

    def is_available(self):
        return True

    def empty_cache(self):
        self.cache = {}


def current_device():
    return "somewhere"


def manual_seed(seed):
    return np.random.default_rng(seed)


def main():
    model = Model().compile("sgd", "mse", mode="reduce-overhead")
    if model.is_available() and model.device_count():
        model.empty_cache()
    database = sqlite3.connect(":memory:")
    database.execute("create table t (a)")
    text = compile("1 + 1", "<string>", "eval")
    ready.set()
    return eval(text), current_device(), manual_seed(0), Stream([1, 2]).half()
