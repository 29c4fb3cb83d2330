"""%schedule device=gpu: where and when the blocks of a launch ran, beside the model."""
import pytest


def schedule(driver, keys):
    """The result of one %schedule on the card."""
    answer, = driver.cells(f"%schedule {keys} device=gpu")
    (result,) = answer.ok().results
    assert max(map(len, answer.text.splitlines())) <= 83
    return result, answer.text


def overlap_most(blocks):
    """Most blocks that one SM held at once."""
    most = 0
    for b in blocks:
        most = max(most, sum(1 for c in blocks if c["sm"] == b["sm"] and c["start"] <= b["start"] < c["end"]))
    return most


def test_blocks_stay_whole_on_one_sm(driver):
    """F54: all threads of a block go to one SM together."""
    result, text = schedule(driver, "grid=300 block=256 cost=20000")
    assert result["device"]["source"] == "gpu"
    assert result["measured"]["strangers"] == 0
    assert f"all {300 * 256:,} threads ran on the SM of their block" in text


def test_a_place_that_is_free_is_taken_at_once(driver):
    """F58: block by block, not wave by wave; no more resident than resources allow."""
    result, _ = schedule(driver, 'grid=1000 block=1024 cost="20000 + 10000 * (i % 3)"')
    assert result["blocks_per_sm"] == 2
    blocks = result["timeline"]["blocks"]
    assert len(blocks) == 1000 and overlap_most(blocks) == 2
    assert 0 <= result["measured"]["replace_cycles"] < 5000
    assert result["measured"]["sms_used"] == result["sms"]
    # The first of the second wave does not wait for the last of the first one.
    places = result["places"]
    assert blocks[places]["start"] < max(b["end"] for b in blocks[:places])


@pytest.mark.parametrize("per_sm", [1, 2, 7])
def test_as_many_blocks_are_resident_as_the_model_holds(driver, per_sm):
    result, _ = schedule(driver, f"grid=2000 block=128 per_sm={per_sm} cost=30000")
    assert result["blocks_per_sm"] == per_sm
    assert overlap_most(result["timeline"]["blocks"]) == per_sm


def test_waves_take_the_time_that_they_are(driver):
    """F60: time is ceil(blocks / (SMs * blocks an SM)), whatever the order."""
    times = {}
    sms = driver.cells("%device gpu")[0].ok().results[0]["sms"]
    for waves in (1, 2, 3):
        result, _ = schedule(driver, f"grid={waves * sms} per_sm=1 cost=100000")
        times[waves] = result["measured"]["cycles"]
    one_more, _ = schedule(driver, f"grid={sms + 1} per_sm=1 cost=100000")
    assert times[2] / times[1] == pytest.approx(2, rel=0.05)
    assert times[3] / times[1] == pytest.approx(3, rel=0.05)
    assert one_more["measured"]["cycles"] / times[1] == pytest.approx(2, rel=0.05)


def test_measured_and_modelled_stand_apart_and_agree(driver):
    result, text = schedule(driver, "grid=1000 block=512 cost=50000 jitter=5000")
    measured, modelled = result["measured"], result["modelled"]
    assert result["cycles"] == measured["cycles"]
    assert measured["cycles"] == pytest.approx(modelled["cycles"], rel=0.1)
    assert measured["time_us"] == pytest.approx(measured["cycles"] / measured["clock_mhz"], rel=0.001)
    assert f"{measured['cycles']:,} cycles" in text and f"{modelled['cycles']:,} modelled" in text


def test_a_model_alone_measures_nothing(driver):
    result = driver.cells("%schedule grid=1000 device=H200")[0].ok().results[0]
    assert result["measured"] is None and result["modelled"]["cycles"] == result["cycles"]
    assert result["device"]["source"] == "model"


@pytest.mark.parametrize("keys, error", [("sms=2", "a card runs blocks on all of its"),
                                         ("grid=2M", "a card's timeline has 1 to 1048576 blocks"),
                                         ("block=1024 per_sm=3", "the card holds 2 of these blocks")])
def test_what_a_card_cannot_is_refused(driver, keys, error):
    answer, = driver.cells(f"%schedule {keys} device=gpu")
    assert answer.error in ("ValueError", "LaunchError")
    assert error in " ".join(answer.report.split()), answer.report
