"""``python -m neuron_port`` is ``neuron-port``."""

from __future__ import annotations

from neuron_port.cli import main

if __name__ == "__main__":
    main()
