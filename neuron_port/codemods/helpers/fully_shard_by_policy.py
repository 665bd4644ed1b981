import torch.distributed.fsdp


def fully_shard_by_policy(module, policy, wrapper=None, **options):
    """Shard the submodules that an auto-wrap policy picks, innermost first, then the module; without a policy only that.

    A wrapper is called for each submodule instead of fully_shard, and what it returns takes the place of the submodule.
    """

    def pick(inner):
        count = sum(parameter.numel() for parameter in inner.parameters())
        if not policy(inner, True, count):
            return inner, 0
        taken = 0
        for name, child in inner.named_children():
            picked, size = pick(child)
            setattr(inner, name, picked)
            taken += size
        if inner is not module and policy(inner, False, count - taken):
            return (wrapper or torch.distributed.fsdp.fully_shard)(inner, **options), count
        return inner, taken

    if policy is not None:
        pick(module)
    return torch.distributed.fsdp.fully_shard(module, **options)
