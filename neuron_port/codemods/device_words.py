"""What findings about the devices of one old platform are called: data of the rule that watches for their name.

[options]
device = "cuda"
phrase = "a CUDA device"
codes = { name = "NP101", index = "NP102", ... }
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from neuron_port.codemods.base import Site


@dataclass(frozen=True, slots=True)
class DeviceWords:
    """``device`` is the type's name in source code, ``phrase`` how a sentence speaks of one.

    ``codes`` maps what was found (name, index, default, undecided, map_location, table, compare) to the rule in charge;
    ``numbered`` says whether an index means the same device after the port.
    """

    device: str
    phrase: str
    codes: Mapping[str, str]
    numbered: bool = True

    @property
    def cuda(self) -> bool:
        """Whether branches for it may hold kernels and libraries that only it has."""
        return self.device == "cuda"


def words(site: Site) -> DeviceWords:
    """The words of the site's rule."""
    options = site.rule.options
    return DeviceWords(options["device"], options["phrase"], options["codes"], options.get("numbered", True))
