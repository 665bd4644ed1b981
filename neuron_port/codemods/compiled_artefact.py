"""Names of what optimum-neuron compiled: models of the hub, folders, files. None of it can be loaded on TorchNeuron.

AutoModel.from_pretrained("optimum/bert-base-uncased-neuronx")     reported: load the original checkpoint
os.path.exists("model/neuron_config.json")                         reported
path.glob("*.neuron")                                              reported
cache_repo = "aws-neuron/optimum-neuron-cache"                     reported
"""

from __future__ import annotations

import re

# The words that people put into the names of compiled models.
_COMPILED = re.compile(
    r"""(?xi)
    (?:\A|[/_.-]) (?: neuron(?:x|sdk|core)? | inf1 | inf2 | trn1n? | trainium | inferentia2? ) (?:\Z|[/_.-])
    | (?:\A|[_-]) tp\d+ (?:\Z|[/_-])
    | \A aws-neuron/
    """
)


def looks_compiled(name: str) -> bool:
    """Whether a model or folder is named like an artefact of a compilation."""
    return bool(_COMPILED.search(name))
