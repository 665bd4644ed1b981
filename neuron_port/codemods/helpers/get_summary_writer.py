import time


def get_summary_writer(logdir):
    """A TensorBoard writer (which takes the package tensorboard), or None without a folder."""
    if not logdir:
        return None
    from torch.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(log_dir=logdir)
    writer.add_scalar("TensorboardStartTimestamp", time.time(), 0)
    return writer
