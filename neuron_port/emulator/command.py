"""The command line: run a script on the emulated neuron device as if Python ran it."""

from __future__ import annotations

import argparse
import atexit
import json
import os
import sys
from typing import Any

from . import package
from .running import run_module, run_script

_DESCRIPTION = (
    "Run a script for device 'neuron' on a CPU, with TorchNeuron's limits. A pass here is no pass on the device."
)


def parser() -> argparse.ArgumentParser:
    """The options; everything after the script belongs to the script."""
    made = argparse.ArgumentParser("python -m neuron_port.emulator", description=_DESCRIPTION)
    made.add_argument("--allow", metavar="LIMIT", action="append", default=[], help="switch a limit off ('all': all)")
    made.add_argument(
        "--refuse", metavar="LIMIT", action="append", default=[], help="switch on a limit that is off by itself"
    )
    made.add_argument("--limits", action="store_true", help="print the limits and leave")
    made.add_argument(
        "--shape-only", action="store_true", help="no data and no memory: shapes, types and devices alone"
    )
    made.add_argument("--observations", metavar="FILE", help="write what was observed as JSON ({rank} is filled in)")
    made.add_argument("-m", dest="module", action="store_true", help="SCRIPT is a module name")
    made.add_argument("script", nargs="?", metavar="SCRIPT")
    made.add_argument("args", nargs=argparse.REMAINDER, metavar="ARGS")
    return made


def print_limits() -> None:
    """The table, one line a limit."""
    from . import limits

    on = limits.defaults()
    for limit in limits.table().values():
        print(
            f"{limit.name:<22} {'on ' if limit.name in on else 'off'}  {limit.summary} [{limit.confidence}, {limit.since}]"
        )


def write_observations(file: str) -> None:
    """Write the record of this process."""
    from . import device_module, limits
    from .observation import log

    report: dict[str, Any] = {
        "device": "emulated neuron",
        "rank": int(os.environ.get("RANK", 0)),
        "limits": limits.in_force(),
        "events": [event.as_dict() for event in log.events()],
        "executed": dict(log.executed),
        "memory": device_module.memory_stats(),
    }
    with open(file.replace("{rank}", str(report["rank"])), "w", encoding="utf-8") as out:
        json.dump(report, out, indent=1)


def main(argv: list[str] | None = None) -> None:
    """Parse, prepare, run; leaves the process with the exit status of the script."""
    options = parser().parse_args(argv)
    if options.limits:
        print_limits()
        return
    if options.script is None:
        parser().error("which script?")
    from . import limits

    try:
        limits.choose(tuple(options.allow), tuple(options.refuse))
    except ValueError as error:
        parser().error(str(error))
    chosen: dict[str, Any] = {"allow": options.allow, "refuse": options.refuse}
    if options.shape_only:
        chosen["shape_only"] = True
    package.prepare(chosen)
    package.autoload()
    run = run_module if options.module else run_script
    status = run(options.script, options.args)
    if options.observations:
        write_observations(options.observations)
    # gloo's threads may outlive the interpreter and crash it at exit.
    sys.stdout.flush()
    sys.stderr.flush()
    if "torch.distributed" in sys.modules and os.environ.get("WORLD_SIZE", "1") != "1":
        atexit._run_exitfuncs()
        os._exit(status)
    sys.exit(status)
