def write_to_summary(summary_writer, global_step=None, dict_to_write=None):
    """Write each entry of a dictionary as a scalar, if there is a summary writer."""
    if summary_writer is not None:
        for name, value in (dict_to_write or {}).items():
            summary_writer.add_scalar(name, value, global_step)
