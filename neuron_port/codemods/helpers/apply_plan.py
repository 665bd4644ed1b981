import torch


def apply_plan(model, mesh, plan):
    """Shard the layers of every module whose class, or a base class of it, is in the plan; tied weights stay tied."""
    places = {}
    for module in model.modules():
        for name, parameter in module.named_parameters(recurse=False):
            places.setdefault(parameter, []).append((module, name))
    for module in list(model.modules()):
        styles = {}
        for cls in reversed(type(module).__mro__):
            styles.update(plan.get(cls, {}))
        if styles:
            torch.distributed.tensor.parallel.parallelize_module(module, mesh, styles)
    for first, *others in places.values():
        for module, name in others:
            setattr(module, name, getattr(*first))
