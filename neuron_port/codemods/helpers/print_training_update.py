import os
import time

import torch


def print_training_update(device, step, loss, rate, global_rate, epoch=None, summary_writer=None):
    """Print a line about the training, and give its rates to a summary writer."""
    in_group = torch.distributed.is_initialized()
    rank = torch.distributed.get_rank() if in_group else os.environ.get("RANK", 0)
    words = ["| Training", f"Device={device}/{rank}"]
    if epoch is not None:
        words.append(f"Epoch={epoch}")
    words += [f"Step={step}", f"Loss={loss:.5f}", f"Rate={rate:.2f}", f"GlobalRate={global_rate:.2f}"]
    print(*words, time.strftime("Time=%H:%M:%S"), flush=True)
    if summary_writer:
        summary_writer.add_scalar("examples/sec", rate)
        summary_writer.add_scalar("average_examples/sec", global_rate)
