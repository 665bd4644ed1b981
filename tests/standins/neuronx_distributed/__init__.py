"""neuronx_distributed: the parallel layers, with gloo groups of torch.distributed."""
