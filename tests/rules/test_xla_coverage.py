"""Nothing of PyTorch/XLA and its kin passes in silence: every module, imported and used, has a finding."""

from __future__ import annotations

import pytest

from tests.porting import check, codes

# The modules of torch_xla 2.1 to 2.9, and of the packages built on it, that programs import.
MODULES = """
torch_xla torch_xla.amp torch_xla.amp.syncfree torch_xla.backends torch_xla.core.dynamo_bridge torch_xla.core.functions
torch_xla.core.xla_builder torch_xla.core.xla_env_vars torch_xla.core.xla_model torch_xla.core.xla_op_registry
torch_xla.debug.graph_saver torch_xla.debug.metrics torch_xla.debug.metrics_compare_utils torch_xla.debug.metrics_saver
torch_xla.debug.model_comparator torch_xla.debug.profiler torch_xla.distributed.data_parallel torch_xla.distributed.fsdp
torch_xla.distributed.fsdp.wrap torch_xla.distributed.parallel_loader torch_xla.distributed.spmd torch_xla.distributed.xla_backend
torch_xla.distributed.xla_multiprocessing torch_xla.distributed.zero_redundancy_optimizer torch_xla.experimental
torch_xla.experimental.assume_pure torch_xla.experimental.custom_kernel torch_xla.experimental.distributed_checkpoint
torch_xla.experimental.fori_loop torch_xla.experimental.gradient_accumulation torch_xla.experimental.gru
torch_xla.experimental.mark_pattern_utils torch_xla.experimental.pjrt torch_xla.experimental.pjrt_backend
torch_xla.experimental.plugins torch_xla.experimental.quantized torch_xla.experimental.scan torch_xla.experimental.scan_layers
torch_xla.experimental.splash_attention torch_xla.experimental.spmd_fully_sharded_data_parallel
torch_xla.experimental.stablehlo_custom_call torch_xla.experimental.triton torch_xla.experimental.xla_marker
torch_xla.experimental.xla_quantized_matmul torch_xla.experimental.xla_sharded_tensor torch_xla.experimental.xla_sharding
torch_xla.runtime torch_xla.stablehlo torch_xla.test.test_utils torch_xla.tf_saved_model_integration torch_xla.utils.checkpoint
torch_xla.utils.checkpoint_tagger torch_xla.utils.closures torch_xla.utils.dlpack torch_xla.utils.keyd_queue
torch_xla.utils.serialization torch_xla.utils.utils torch_xla._XLAC torch_xla._internal.rendezvous torch_xla.a_module_of_tomorrow
torchax torchax.interop libneuronxla libneuronxla.neuron_cc_cache neuronxcc.nki neuronxcc.nki.language
torch_neuronx.contexts torch_neuronx.distributed.xla_backend torch_neuronx.experimental.profiler torch_neuronx.optim.adamw
torch_neuronx.parallel_compile torch_neuronx.proto torch_neuronx.pyhlo torch_neuronx.testing torch_neuronx.xla_impl.base
torch_neuronx.xla_impl.ops torch_neuron neuronx_distributed neuronx_distributed.kernels neuronx_distributed.lightning
neuronx_distributed.modules.moe.model neuronx_distributed.operators neuronx_distributed.optimizer neuronx_distributed.parallel_layers
neuronx_distributed.parallel_layers.parallel_state neuronx_distributed.pipeline neuronx_distributed.quantization
neuronx_distributed.trace neuronx_distributed.trainer neuronx_distributed.utils neuronx_distributed_inference.models.config
neuronx_distributed_training.lightning_modules transformers_neuronx transformers_neuronx.llama.model
""".split()
NATIVE = """
get_fallback_ops get_executed_ops clear_op_tracking get_dynamo_metrics reset_dynamo_metrics nki_op wrap_nki NeuronProfiler Stream
Event memory_allocated is_neuron_runtime_initialized
""".split()


@pytest.mark.parametrize("module", MODULES)
def test_an_import_is_reported(module: str) -> None:
    for source in (f"import {module}\n", f"import {module} as m\n", f"from {module} import a_name_of_tomorrow\n"):
        assert codes(source) != [], source


@pytest.mark.parametrize("module", MODULES)
def test_a_use_is_reported(module: str) -> None:
    for source in (
        f"import {module}\n\n{module}.a_name_of_tomorrow()\n",
        f"import {module} as m\n\nm.a_name_of_tomorrow()\n",
        f"from {module} import a_name_of_tomorrow\n\na_name_of_tomorrow()\n",
    ):
        assert 3 in [row for row, _ in codes(source)], source


@pytest.mark.parametrize("name", NATIVE)
def test_a_name_of_torchneuron_is_not_reported(name: str) -> None:
    assert (
        codes(f"import torch_neuronx\nfrom torch_neuronx import {name}\n\nprint({name}, torch_neuronx.{name})\n") == []
    )


@pytest.mark.parametrize(
    "source",
    [
        "import torch_neuronx\n\nprint(torch_neuronx.utils.get_platform_target())\n",
        "from torch_neuronx.profiling import NeuronConfig, ProfileMode\n\nprint(NeuronConfig, ProfileMode)\n",
        "import nki\nimport nki.language as nl\n\nprint(nki.jit, nl.load)\n",
        "import torch\n\ntorch.neuron.synchronize()\nprint(torch.neuron.memory_allocated())\n",
    ],
)
def test_code_of_torchneuron_is_not_reported(source: str) -> None:
    assert check(source) == ()
