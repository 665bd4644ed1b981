"""Every collective with values that can be counted by hand; run by test_distributed.py on 2 and 4 ranks."""

import os

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional

dist.init_process_group(os.environ.get("BACKEND", "neuron"))
rank, size = dist.get_rank(), dist.get_world_size()
total = size * (size + 1) // 2


def mine(n=2, **options):
    return torch.full((n,), float(rank + 1), device="neuron", **options)


def refused(kind, text, call):
    try:
        call()
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"not refused: {text}")


assert dist.get_backend() == "neuron" or "BACKEND" in os.environ
assert mine().device == torch.device("neuron", rank)
assert torch.accelerator.current_device_index() == rank

for op, value in (
    (dist.ReduceOp.SUM, total),
    (dist.ReduceOp.AVG, total / size),
    (dist.ReduceOp.MAX, size),
    (dist.ReduceOp.MIN, 1),
):
    x = mine()
    dist.all_reduce(x, op=op)
    assert x.tolist() == [value] * 2, (op, x)
x = mine().bfloat16()
dist.all_reduce(x)
assert x.tolist() == [total] * 2
x = mine()
dist.all_reduce(x, async_op=True).wait()
assert x.tolist() == [total] * 2

x = torch.tensor([2**24 + 1 if rank == 0 else 0], device="neuron", dtype=torch.int32)
dist.all_reduce(x)
assert x.item() == 2**24, "integers are reduced in float32"

x = mine()
dist.broadcast(x, src=size - 1)
assert x.tolist() == [size] * 2
x = mine()
dist.reduce(x, dst=0)
assert x.tolist() == [total if rank == 0 else rank + 1] * 2

parts = [torch.empty(2, device="neuron") for _ in range(size)]
dist.all_gather(parts, mine())
assert [p.tolist() for p in parts] == [[r + 1.0] * 2 for r in range(size)]
whole = torch.empty(2 * size, device="neuron")
dist.all_gather_into_tensor(whole, mine())
assert whole.tolist() == [float(r + 1) for r in range(size) for _ in range(2)]
stacked = torch.empty(size, 2, device="neuron")
dist.all_gather_into_tensor(stacked, mine())
assert stacked.tolist() == [[r + 1.0] * 2 for r in range(size)]

out = torch.empty(1, device="neuron")
dist.reduce_scatter_tensor(out, torch.arange(float(size), device="neuron"))
assert out.item() == rank * size
dist.reduce_scatter(out, [torch.full((1,), float(r), device="neuron") for r in range(size)], op=dist.ReduceOp.AVG)
assert out.item() == rank

gathered = [torch.empty(2, device="neuron") for _ in range(size)] if rank == 0 else None
dist.gather(mine(), gathered, dst=0)
assert rank or [p.tolist() for p in gathered] == [[r + 1.0] * 2 for r in range(size)]
dist.scatter(out, [torch.full((1,), float(r), device="neuron") for r in range(size)] if rank == 0 else None, src=0)
assert out.item() == rank

if size == 4:
    out = torch.empty(size, device="neuron")
    dist.all_to_all_single(out, torch.arange(float(size), device="neuron") + 10 * rank)
    assert out.tolist() == [10.0 * r + rank for r in range(size)]
    outs = [torch.empty(1, device="neuron") for _ in range(size)]
    dist.all_to_all(outs, [torch.full((1,), 10.0 * rank + r, device="neuron") for r in range(size)])
    assert [o.item() for o in outs] == [10.0 * r + rank for r in range(size)]
    splits = [2, 0, 1, 1]
    received = torch.empty(splits[rank] * size, device="neuron")
    refused(
        RuntimeError,
        "alltoall_base: Only even split sizes are supported",
        lambda: dist.all_to_all_single(received, mine(4), [splits[rank]] * size, splits),
    )
else:
    empty = torch.empty(size, device="neuron")
    refused(
        RuntimeError, "supported sizes: 4, 8, 16, or multiples of 32", lambda: dist.all_to_all_single(empty, mine(size))
    )

neighbour, before = (rank + 1) % size, (rank - 1) % size
inbox = torch.zeros(2, device="neuron")
for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, mine(), neighbour), dist.P2POp(dist.irecv, inbox, before)]):
    work.wait()
assert inbox.tolist() == [before + 1.0] * 2

objects = [None] * size
dist.all_gather_object(objects, {"rank": rank})
assert objects == [{"rank": r} for r in range(size)]
shared = [f"from {rank}"]
dist.broadcast_object_list(shared, src=1)
assert shared == ["from 1"]

assert (functional.all_reduce(mine(), "avg", dist.group.WORLD) + 0).tolist() == [total / size] * 2
pair = dist.new_group([0, 1])
if rank < 2:
    x = mine()
    dist.all_reduce(x, group=pair)
    assert x.tolist() == [3, 3]
    refused(
        NotImplementedError,
        "Barrier is implemented only for default group, called barrier on",
        lambda: dist.barrier(pair),
    )
dist.barrier()

refused(RuntimeError, "PRODUCT is not supported", lambda: dist.all_reduce(mine(), op=dist.ReduceOp.PRODUCT))
refused(RuntimeError, "data type float64 is not supported", lambda: dist.all_reduce(mine(dtype=torch.float64)))
even = [torch.empty(2, dtype=torch.float16, device="neuron") for _ in range(size)]
dist.all_gather(even, mine(dtype=torch.float16))
uneven = [torch.empty(r + 1, device="neuron") for r in range(size)]
refused(RuntimeError, "same size on all ranks", lambda: dist.all_gather(uneven, mine(rank + 1)))
if "BACKEND" in os.environ:
    x = torch.full((1,), float(rank + 1))
    dist.all_reduce(x)
    assert x.item() == total
else:
    refused(RuntimeError, "No backend type associated with device type cpu", lambda: dist.all_reduce(torch.ones(1)))

other = f"neuron:{neighbour}"
message = f"Device index {neighbour} is out of range. Valid range is {rank} to {rank} for this process"
refused(ValueError, message, lambda: torch.ones(1).to(other))
refused(ValueError, message, lambda: torch.ones(1).to(torch.device(other)))
refused(ValueError, message, lambda: torch.ones(1, device=other))
refused(ValueError, message, lambda: torch.tensor([1], device=other))
refused(ValueError, message, lambda: torch.nn.Linear(1, 1).to(other))
refused(ValueError, message, lambda: torch.neuron.set_device(neighbour))
torch.neuron.set_device(rank)
assert torch.nn.Linear(1, 1).to("neuron").weight.device.index == rank
assert torch.load is not None
dist.destroy_process_group()
print("all right")
