"""Runs a ported program and observes it, on the neuron device or on the emulated one.

The parent (``launch``) never imports torch; the child (``child``, one for each rank) runs the program and writes a record.
"""
