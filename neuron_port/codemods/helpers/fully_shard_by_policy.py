import torch.distributed.fsdp


def fully_shard_by_policy(module, policy, wrapper=None, **options):
    """Shard the submodules that an auto-wrap policy picks, innermost first, then the module; without a policy only that.

    A wrapper is called for each submodule instead of fully_shard; it has to change the submodule in place.
    """

    def pick(inner):
        count = sum(parameter.numel() for parameter in inner.parameters())
        if not policy(inner, True, count):
            return 0
        taken = sum(pick(child) for child in inner.children())
        if inner is not module and policy(inner, False, count - taken):
            (wrapper or torch.distributed.fsdp.fully_shard)(inner, **options)
            return count
        return taken

    if policy is not None:
        pick(module)
    return torch.distributed.fsdp.fully_shard(module, **options)
