"""``python -m neuron_port.emulator [options] script.py args``."""

from neuron_port.emulator.command import main

if __name__ == "__main__":
    main()
