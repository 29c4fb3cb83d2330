"""On a real card: its properties, the divergence lesson measured, and the model beside it."""
import pytest

from gpu_cells import Driver, needs_card

pytestmark = needs_card


def run(warpbook, text):
    """The results of a cell's text, one dictionary each."""
    return Driver(warpbook).cells(text)[0].ok().results


@pytest.fixture(scope="module")
def divergence(warpbook):
    """%run divergence on the card and its model, variants by kernel."""
    (result,) = run(warpbook, "%run divergence")
    return result, {v["kernel"]: v for v in result["variants"]}


def test_the_session_starts_on_the_card(warpbook):
    (result,) = run(warpbook, "%device gpu")
    assert result["device"]["source"] == "gpu"


def test_every_result_equals_the_cpus_to_the_bit(divergence):
    result, variants = divergence
    assert len(variants) == 7
    assert all(v["correct"] for v in variants.values())
    assert result["device"]["source"] == "gpu"


def test_the_short_branch_is_a_select_and_costs_nothing(divergence):
    short = divergence[1]["short_by_lane"]
    assert short["branch"] == "selp"
    assert 0.8 < short["twin_ratio"] < 1.2


@pytest.mark.parametrize("kernel, low, high", [
    ("long_by_lane", 1.7, 2.2), ("split_24_8", 1.3, 1.7), ("paths_32", 20, 36),
    ("trips_4_to_8", 1.15, 1.5),
])
def test_a_divergent_branch_costs_what_its_passes_cost(divergence, kernel, low, high):
    assert low < divergence[1][kernel]["twin_ratio"] < high


def test_repeats_agree(divergence):
    for variant in divergence[1].values():
        measured = variant["measured"]
        assert measured["repeat"] == 20
        assert measured["iqr_us"] < 0.25 * measured["median_us"]
        assert 300 < measured["clock_mhz"] < 4000


def test_the_model_is_within_a_factor_of_two(divergence):
    for variant in divergence[1].values():
        assert 0.5 < variant["model_ratio"] < 2


def test_the_driver_agrees_on_occupancy(warpbook, divergence):
    for variant in divergence[1].values():
        (result,) = run(warpbook, f"%occupancy block=256 regs={variant['registers']} device=gpu")
        assert variant["measured"]["blocks_per_sm"] == result["active_blocks"]


def test_device_gpu_only_measures(warpbook):
    (result,) = run(warpbook, "%run divergence device=gpu n=64K repeat=5")
    for variant in result["variants"]:
        assert variant["measured"] and variant["modelled"] is None


@pytest.mark.parametrize("n, block", [(1, 32), (1000, 100), (100003, 1024), (33, 64)])
def test_any_size_is_right(warpbook, n, block):
    (result,) = run(warpbook, f"%run divergence device=gpu n={n} block={block} repeat=3")
    assert all(v["correct"] for v in result["variants"])


def test_a_card_that_is_not_there_is_a_device_error(warpbook):
    answer, = Driver(warpbook).cells("%run divergence device=gpu:99")
    assert "DeviceError: gpu:99: this machine has" in answer.report
