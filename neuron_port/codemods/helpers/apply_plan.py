import torch


def apply_plan(model, mesh, plan):
    """Shard the layers of every module whose class, or a base class of it, has an entry in the plan."""
    for module in list(model.modules()):
        styles = {}
        for cls in reversed(type(module).__mro__):
            styles.update(plan.get(cls, {}))
        if styles:
            torch.distributed.tensor.parallel.parallelize_module(module, mesh, styles)
