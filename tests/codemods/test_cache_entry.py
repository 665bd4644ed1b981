"""Entries of the hub of compiled programs go with the calls that take them."""

from tests.porting import assert_ported, codes


def test_an_entry_goes_with_its_context() -> None:
    assert_ported(
        """\
        from optimum.neuron.utils import ModelCacheEntry, hub_neuronx_cache
        entry = ModelCacheEntry("gpt2", {})
        with hub_neuronx_cache("inference", entry=entry), open("log") as log:
            build(log)
        """,
        """\
        with open("log") as log:
            build(log)
        """,
    )


def test_an_entry_that_is_read_elsewhere_is_for_a_person() -> None:
    source = """\
    from optimum.neuron.utils import ModelCacheEntry
    entry = ModelCacheEntry("gpt2", {})
    print(entry)
    """
    assert codes(source) == [(1, "NP382"), (2, "NP382")]
