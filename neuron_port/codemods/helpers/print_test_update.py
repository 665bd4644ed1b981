import os
import time

import torch


def print_test_update(device, accuracy, epoch=None, step=None):
    """Print a line about a test."""
    in_group = torch.distributed.is_initialized()
    rank = torch.distributed.get_rank() if in_group else os.environ.get("RANK", 0)
    words = ["| Test", f"Device={device}/{rank}"]
    if step is not None:
        words.append(f"Step={step}")
    if epoch is not None:
        words.append(f"Epoch={epoch}")
    if accuracy is not None:
        words.append(f"Accuracy={accuracy:.2f}")
    print(*words, time.strftime("Time=%H:%M:%S"), flush=True)
