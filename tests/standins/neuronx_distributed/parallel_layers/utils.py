from neuronx_distributed.parallel_layers.layers import divide

__all__ = ["divide", "move_model_to_device"]


def move_model_to_device(model, device) -> None:
    """Moves in place; parameters keep the marks of the parallel layers."""
    marks = {name: vars(parameter).copy() for name, parameter in model.named_parameters()}
    model.to(device)
    for name, parameter in model.named_parameters():
        vars(parameter).update(marks[name])
