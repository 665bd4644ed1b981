import time

import torch


class RateTracker:
    """Counts samples a second; a reading waits for the device, as what is only queued would count too."""

    def __init__(self, smooth_factor=None):
        self._smooth_factor = 0.4 if smooth_factor is None else smooth_factor
        self._start = self._last = time.perf_counter()
        self._last_rate = None
        self._counted = 0.0
        self._new = 0.0

    def add(self, count):
        self._new += count

    def rate(self):
        """Samples a second since the last call, smoothed with the rate before."""
        now = self._now()
        if now <= self._last:
            return 0.0
        rate = self._new / (now - self._last)
        if self._last_rate is not None:
            rate = (1 - self._smooth_factor) * rate + self._smooth_factor * self._last_rate
        self._counted += self._new
        self._new = 0.0
        self._last, self._last_rate = now, rate
        return rate

    def global_rate(self):
        """Samples a second since the tracker was made."""
        passed = self._now() - self._start
        return (self._counted + self._new) / passed if passed > 0 else 0.0

    def _now(self):
        if torch.accelerator.is_available():
            torch.accelerator.synchronize()
        return time.perf_counter()
