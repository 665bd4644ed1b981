import torch


def clip_gradient_norm(parameters, max_norm, norm_type=2.0):
    """Clip the norm of all gradients, plain tensors and DTensors of any mesh together, and return what it was."""
    parameters = [parameters] if isinstance(parameters, torch.Tensor) else parameters
    gradients = {}
    for parameter in parameters:
        if parameter.grad is not None:
            mesh = getattr(parameter.grad, "device_mesh", None)
            gradients.setdefault(mesh, []).append(parameter.grad)
    norms = [torch.nn.utils.get_total_norm(alike, norm_type) for alike in gradients.values()]
    norms = [norm.full_tensor() if hasattr(norm, "full_tensor") else norm for norm in norms]
    total = torch.nn.utils.get_total_norm(norms, norm_type)
    scale = torch.clamp(max_norm / (total + 1e-6), max=1.0)
    for alike in gradients.values():
        for gradient in alike:
            gradient = gradient.to_local() if hasattr(gradient, "to_local") else gradient
            gradient.mul_(scale)
    return total
