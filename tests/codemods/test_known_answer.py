"""Questions of optimum-neuron with one answer on TorchNeuron."""

from tests.porting import assert_ported


def test_nothing_is_collected_before_the_run() -> None:
    assert_ported(
        """\
        from optimum.neuron.utils.misc import is_precompilation
        steps = 5 if is_precompilation() else 100
        if not is_precompilation():
            train(steps)
        if is_precompilation():
            warn()
        flag = is_precompilation()
        """,
        """\
        steps = 100
        train(steps)
        flag = False
        """,
    )


def test_a_package_that_cannot_be_there() -> None:
    assert_ported(
        """\
        from optimum.neuron.utils.import_utils import is_neuronx_distributed_available
        if is_neuronx_distributed_available() and parallel:
            shard()
        """,
        "",
    )
