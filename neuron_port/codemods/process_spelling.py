"""How the place of a process among the others is written in ported code.

With a process group it is asked, without one the variables are read that torchrun sets; both are right for a program that
runs alone.

    rank                torch.distributed.get_rank()          int(os.environ.get("RANK", 0))
    world size          torch.distributed.get_world_size()    int(os.environ.get("WORLD_SIZE", 1))
    local rank          torch.distributed.get_node_local_rank(fallback_rank=0)
    local world size    int(os.environ.get("LOCAL_WORLD_SIZE", 1))
"""

from __future__ import annotations

import ast

from neuron_port.codemods.argument_table import spell_closest
from neuron_port.codemods.base import Site, Spelling


def rank(site: Site, node: ast.AST) -> Spelling | None:
    """The number of the process among all; ``None``: a name that is needed is taken."""
    if site.context.processes.grouped(node):
        return called(site, "torch.distributed.get_rank", node)
    return variable(site, node, "RANK", 0)


def world_size(site: Site, node: ast.AST) -> Spelling | None:
    """How many processes there are."""
    if site.context.processes.grouped(node):
        return called(site, "torch.distributed.get_world_size", node)
    return variable(site, node, "WORLD_SIZE", 1)


def local_rank(site: Site, node: ast.AST) -> Spelling | None:
    """The number of the process on its host; the function needs no process group."""
    return called(site, "torch.distributed.get_node_local_rank", node, "fallback_rank=0")


def local_world_size(site: Site, node: ast.AST) -> Spelling | None:
    """How many processes there are on this host."""
    return variable(site, node, "LOCAL_WORLD_SIZE", 1)


def host(site: Site, node: ast.AST) -> Spelling | None:
    """The number of the host, where torchrun runs one agent on each."""
    return variable(site, node, "GROUP_RANK", 0)


def called(site: Site, function: str, node: ast.AST, arguments: str = "") -> Spelling | None:
    """A call of a function of torch, spelled through the closest import."""
    spelling = spell_closest(site, function, node)
    return Spelling(f"{spelling.text}({arguments})", spelling.operations) if spelling is not None else None


def variable(site: Site, node: ast.AST, name: str, default: int) -> Spelling | None:
    """A number in the environment."""
    get = spell_closest(site, "os.environ.get", node)
    return Spelling(f'int({get.text}("{name}", {default}))', get.operations) if get is not None else None
