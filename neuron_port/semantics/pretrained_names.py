"""What the classes and functions of Transformers and its companions make, by their names."""

from __future__ import annotations

from enum import Enum

# The packages whose models have Transformers' ``generate``.
PACKAGES = frozenset({"transformers", "peft", "trl", "optimum"})
LOADERS = frozenset({"from_pretrained", "from_config", "_from_config", "export", "load_model_and_tokenizer"})


class Decodes(Enum):
    """What the ``generate`` of a model decodes with."""

    DECODER = "decoder"
    """A decoder that reads the prompt itself: its cache holds the prompt and what follows."""
    ENCODER_DECODER = "encoder-decoder"
    """An encoder reads the input; the cache of the decoder begins empty."""
    MIXED = "mixed"
    """Images or sound and text; which of the two depends on the model."""
    UNKNOWN = "unknown"
    NOTHING = "nothing"
    """There is no ``generate``."""


_PROCESSORS = ("Tokenizer", "TokenizerFast", "Processor", "FeatureExtractor", "ImageProcessorFast", "VideoProcessor")
_DECODERS = (
    "ForCausalLM",
    "LMHeadModel",
    "WithLMHead",
    "ForMultimodalLM",
    "ForCausalLMWithValueHead",
    "GenerationDecoder",
)
_ENCODER_DECODERS = (
    "AutoModelForSeq2SeqLM",
    "AutoModelForSpeechSeq2Seq",
    "AutoModelForSeq2SeqLMWithValueHead",
    "AutoPeftModelForSeq2SeqLM",
    "PeftModelForSeq2SeqLM",
    "EncoderDecoderModel",
    "SpeechEncoderDecoderModel",
    "VisionEncoderDecoderModel",
    "MarianMTModel",
    "ForTextToText",
    "ForSpeechToText",
)
_ENCODER_DECODER_FAMILIES = (
    "Bart BigBirdPegasus Blenderbot BlenderbotSmall FSMT LED LongT5 M2M100 MBart MT5 Marian Mvp NllbMoe PLBart Pegasus PegasusX "
    "ProphetNet Speech2Text SwitchTransformers T5 T5Gemma T5Gemma2 UMT5 Whisper Moonshine Pop2Piano Canary CohereAsr Dia "
    "Pix2Struct"
).split()
_SEVERAL = (
    "AutoModelForVision2Seq",
    "AutoModelForImageTextToText",
    "ForConditionalGeneration",
    "ForVisionText2Text",
    "SeamlessM4TModel",
    "SeamlessM4Tv2Model",
    "BarkModel",
)
# Classes whose generate() is a loop of their own, or calls those of their parts with arguments that it sorts out.
_OWN_LOOPS = (
    "Bark Clvp Janus KyutaiSpeechToText Moshi Musicgen MusicgenMelody ParlerTTS Pop2Piano Qwen2_5Omni Qwen3OmniMoe Rag "
    "SeamlessM4T SeamlessM4Tv2 SpeechT5"
).split()
# Bodies without a head, and classes of remote code that are loaded through them.
_BODIES = ("Model", "ForPreTraining", "PreTrainedModel", "PreTrainedModelWrapper", "GenerationMixin")


def is_processor(name: str) -> bool:
    """Whether a class is a tokenizer, a processor or a part of one."""
    return name.endswith(_PROCESSORS) or name in ("PreTrainedTokenizerBase", "ProcessorMixin")


def is_tokenizer(name: str) -> bool:
    """Whether a class is a tokenizer, and no processor that holds one."""
    return name.endswith(("Tokenizer", "TokenizerFast", "TokenizerBase"))


def has_own_loop(name: str) -> bool:
    """Whether the ``generate`` of a class is not that of all models."""
    return name.removeprefix("Neuron").startswith(
        tuple(f"{family}{part}" for family in _OWN_LOOPS for part in ("For", "Model", "Seq"))
    )


def decodes(name: str) -> Decodes:
    """What a model class of this name decodes with; an optimum-neuron class counts as the one that it stands for."""
    name = name.removeprefix("Neuron")
    if name.startswith("ModelFor"):
        name = f"Auto{name}"
    if name.endswith(_ENCODER_DECODERS):
        return Decodes.ENCODER_DECODER
    if name.endswith("ForConditionalGeneration"):
        family = name.removesuffix("ForConditionalGeneration")
        return Decodes.ENCODER_DECODER if family in _ENCODER_DECODER_FAMILIES else Decodes.MIXED
    if name.endswith(_DECODERS):
        return Decodes.DECODER
    if name.endswith(_SEVERAL):
        return Decodes.MIXED
    if name.endswith(_BODIES) or name.startswith(("PeftModel", "PeftMixedModel", "AutoPeftModel")):
        return Decodes.UNKNOWN
    return Decodes.NOTHING


def is_model(qualname: str) -> bool:
    """Whether a dotted name is a class of models with PyTorch weights."""
    root, _, last = qualname.partition(".")[0], *qualname.rpartition(".")[1:]
    if root not in PACKAGES or not last[:1].isupper() or last.startswith(("TF", "Flax")):
        return False
    if root == "optimum":
        return qualname.startswith("optimum.neuron.") and "Model" in last
    if is_processor(last) or last.endswith(("Config", "Pipeline", "Output", "Trainer", "Arguments")):
        return False
    return "Model" in last or "For" in last or last == "GenerationMixin" or last.endswith("LMHead")


def looks_like_model(name: str) -> bool:
    """Whether a class of another package is named like a model of Transformers that it derives from."""
    return name.endswith(("ForCausalLM", "ForConditionalGeneration", "LMHeadModel")) and not name.startswith(
        # Runtimes of their own behind the same names.
        ("ORT", "OV", "IPEX", "MambaLMHead", "INC", "TF", "Flax", "AutoGPTQ", "AutoAWQ", "AutoModel", "RBLN", "Gaudi")
    )
