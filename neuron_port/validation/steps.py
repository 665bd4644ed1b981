"""Counts the steps of a program (optimizer steps, generate calls) and ends it after the last one that was asked for."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from neuron_port.emulator.running import Stop

_GENERATION = "transformers.generation.utils"


class Finished(Stop):
    """The program has made the steps that were asked for."""


class Steps:
    """Calls ``before`` and ``after`` around each step, with its number from 1 on; both see the optimizer, or ``None``."""

    def __init__(
        self, last: int | None, before: Callable[[Any], None], after: Callable[[int], None] | None = None
    ) -> None:
        self.made = 0
        self._last = last
        self._before = before
        self._after = after
        self._depth = 0

    def install(self) -> None:
        """Watch every optimizer, and ``generate`` of Transformers once that is imported."""
        from torch.optim import optimizer

        optimizer.register_optimizer_step_pre_hook(lambda which, args, kwargs: self._before(which))
        optimizer.register_optimizer_step_post_hook(lambda which, args, kwargs: self._made())
        if _GENERATION in sys.modules:
            self._watch_generation(sys.modules[_GENERATION])
        else:
            sys.meta_path.insert(0, _Importer(_GENERATION, self._watch_generation))

    def _made(self) -> None:
        if self._depth:
            return
        self.made += 1
        if self._after is not None:
            self._after(self.made)
        if self._last is not None and self.made >= self._last:
            raise Finished

    def _watch_generation(self, module: ModuleType) -> None:
        plain = module.GenerationMixin.generate

        def generate(model: Any, *args: Any, **kwargs: Any) -> Any:
            self._depth += 1
            try:
                result = plain(model, *args, **kwargs)
            finally:
                self._depth -= 1
            self._made()
            return result

        generate.__wrapped__ = plain  # type: ignore[attr-defined]
        generate.__doc__ = plain.__doc__
        module.GenerationMixin.generate = generate


class _Importer(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Calls back when a module has been executed."""

    def __init__(self, name: str, then: Callable[[ModuleType], None]) -> None:
        self._name = name
        self._then = then
        self._found: importlib.machinery.ModuleSpec | None = None

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name or self._found is not None:
            return None
        self._found = importlib.machinery.PathFinder.find_spec(fullname, path)
        if self._found is None or self._found.loader is None:
            return None
        spec = importlib.machinery.ModuleSpec(fullname, self, origin=self._found.origin)
        spec.has_location = True
        return spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._found.loader.create_module(self._found) if self._found and self._found.loader else None

    def exec_module(self, module: ModuleType) -> None:
        if self._found is not None and self._found.loader is not None:
            module.__spec__ = self._found
            self._found.loader.exec_module(module)
            self._then(module)
