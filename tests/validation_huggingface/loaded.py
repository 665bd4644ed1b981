"""What every run needs, imported once: the emulated device and the Hugging Face libraries; runs are forks of this process."""

from __future__ import annotations

import os
import threading
import warnings

import tqdm

warnings.filterwarnings("ignore")
os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", HF_DATASETS_DISABLE_PROGRESS_BARS="1")

# Its own lock is a semaphore, which forks leave behind.
tqdm.tqdm.set_lock(threading.RLock())

from neuron_port import emulator  # noqa: E402
from neuron_port.emulator import package  # noqa: E402

package.prepare({})
emulator.start()

import torch  # noqa: E402
import torch._dynamo  # noqa: E402
import torch.distributed.fsdp  # noqa: E402
import torch.distributed.tensor.parallel  # noqa: E402

# No threads that a fork would lose.
torch.set_num_threads(1)

import transformers  # noqa: E402

# Only while they are imported: packages for pictures are missing.
transformers.logging.set_verbosity_error()

import datasets  # noqa: E402,F401
import sentence_transformers  # noqa: E402,F401
from diffusers import StableDiffusionPipeline, StableDiffusionXLPipeline  # noqa: E402,F401
from peft import LoraConfig  # noqa: E402,F401
from transformers import (  # noqa: E402,F401
    AutoModelForCausalLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertForSequenceClassification,
    LlamaForCausalLM,
    Trainer,
    pipeline,
)
from trl import SFTConfig, SFTTrainer  # noqa: E402,F401
from trl.experimental.orpo import ORPOTrainer  # noqa: E402,F401

transformers.logging.set_verbosity_warning()
