"""The device mesh of an SPMD program: one over the cores of one process becomes one over processes.

mesh = xs.Mesh(np.arange(n), (n // 2, 2), ("data", "model"))
    ->  mesh = init_device_mesh("neuron", (n // 2, 2), mesh_dim_names=("data", "model"))        (unsafe)
mesh = xs.get_1d_mesh("data")
    ->  mesh = init_device_mesh("neuron", (torch.distributed.get_world_size(),), mesh_dim_names=("data",))
mesh.get_logical_mesh(), mesh.mesh_shape, mesh.axis_names
    ->  mesh.mesh, mesh.shape, mesh.mesh_dim_names
xs.set_global_mesh(mesh)                     ->  (removed), where the file uses the mesh itself   (unsafe)
xs.Mesh(order, shape), xs.HybridMesh(...)        reported: devices in another order
xs.get_global_mesh()                             reported
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods import process_spelling
from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.codemods.xla_placements import MESHES, MODULES, ONE_DIMENSION, is_row_major
from neuron_port.edits.operations import Operation, RemoveStatement, RenameAttribute, Replace
from neuron_port.findings import Applicability

_ATTRIBUTES = {"mesh_shape": "shape", "axis_names": "mesh_dim_names"}
_READERS = (
    *(f"{module}.get_global_mesh" for module in MODULES),
    "torch_xla.experimental.spmd_fully_sharded_data_parallel.SpmdFullyShardedDataParallel",
)


def inspect(site: Site) -> Iterator[Report]:
    """Report the making of a mesh, and the mesh that is kept for everybody."""
    call = site.call
    if call is None or site.form == "import":
        yield from by_table(site)
    elif site.qualname in MESHES:
        yield _made(site, call)
    elif site.qualname in ONE_DIMENSION:
        yield _line(site, call)
    elif site.qualname.endswith(".set_global_mesh"):
        yield _kept(site, call)
    else:
        yield from by_table(site)


def _made(site: Site, call: ast.Call) -> Report:
    try:
        given = passed(call, ("device_ids", "mesh_shape", "axis_names"))
    except Unmappable as reason:
        return _left(site, str(reason))
    values = {name: item.value if isinstance(item, ast.keyword) else item for name, item in given.items()}
    if "mesh_shape" not in values:
        return _left(site, "the shape is not passed by its name")
    if not is_row_major(site.module, values.get("device_ids")):
        return _left(site, "the device ids may not count up from 0")
    names = values.get("axis_names")
    template = "{shape}" if names is None else "{shape}, mesh_dim_names={names}"
    holes = {"shape": values["mesh_shape"], **({"names": names} if names is not None else {})}
    return _written(site, call, template, holes)


def _line(site: Site, call: ast.Call) -> Report:
    size = process_spelling.world_size(site, call)
    name = call.args[0] if call.args else next((word.value for word in call.keywords), None)
    if size is None or len(call.args) + len(call.keywords) > 1:
        return _left(site, "its arguments cannot be read")
    template = f"({size.text.replace('{', '{{').replace('}', '}}')},)"
    if name is not None:
        template += ", mesh_dim_names=({name},)"
    return _written(site, call, template, {"name": name} if name is not None else {}, size.operations)


def _written(
    site: Site, call: ast.Call, template: str, holes: dict[str, ast.expr], extra: tuple[Operation, ...] = ()
) -> Report:
    maker = site.imported("torch.distributed.device_mesh", "init_device_mesh")
    device = site.device(text=True, node=call)
    if maker is None or device is None:
        return _left(site, "the name init_device_mesh means something else here")
    return site.report(
        applicability=Applicability.UNSAFE,
        operations=[
            Replace(call, f"{maker.text}({device.text}, {template})", holes),
            *maker.operations,
            *device.operations,
            *extra,
            *_reads(site, call),
        ],
        use=(site.binding, None) if site.binding is not None else None,
    )


def _reads(site: Site, call: ast.Call) -> Iterator[Operation]:
    """What is read of a mesh in this file, under the name that it is kept under."""
    parent = call.parent
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1 or not isinstance(parent.targets[0], ast.Name):
        return
    target = parent.targets[0]
    own = next((binding for binding in site.module.bindings(target) if binding.node is target), None)
    for read in site.module.references(own) if own is not None else ():
        attribute = read.parent
        if not isinstance(attribute, ast.Attribute):
            continue
        around = attribute.parent
        if attribute.attr == "get_logical_mesh" and isinstance(around, ast.Call) and around.func is attribute:
            yield Replace(around, "{mesh}.mesh", {"mesh": read})
        elif attribute.attr in _ATTRIBUTES:
            yield RenameAttribute(attribute, _ATTRIBUTES[attribute.attr])


def _kept(site: Site, call: ast.Call) -> Report:
    asked = site.module.calls_to(*_READERS)
    # A mesh that is only kept here is read in other files: they have to get it another way first.
    mesh = call.args[0] if len(call.args) == 1 else None
    bindings = site.module.bindings(mesh) if isinstance(mesh, ast.Name) else []
    used = any(len(site.module.references(binding)) > 1 for binding in bindings)
    if asked or not used or not isinstance(call.parent, ast.Expr):
        return site.report(applicability=Applicability.MANUAL)
    return site.report(
        applicability=Applicability.UNSAFE,
        operations=[RemoveStatement(call.parent)],
        use=(site.binding, None) if site.binding is not None else None,
    )


def _left(site: Site, reason: str) -> Report:
    return site.report(f"{site.row.message}; not done by itself: {reason}", applicability=Applicability.MANUAL)
