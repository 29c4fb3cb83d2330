"""%bench on a card: what is restored, rejected and compared, and what is said of it."""
import os

import pytest

from gpu_cells import KERNELS


def bench(driver, keys, setup="", **env):
    """The result and the text of one %bench of add_one."""
    answer = driver.cells(KERNELS + setup, f"%bench add_one<<<1, 64>>>(64, x) device=gpu {keys}", **env)[1].ok()
    assert max(map(len, answer.text.splitlines())) <= 83
    return answer.results[0], answer.text


def test_buffers_are_restored_before_each_sample_and_stay_as_they_are(driver):
    """Were they not, add_one would have counted its repeats."""
    _, timed, check = driver.cells(KERNELS, "%bench add_one<<<1, 64>>>(64, x) device=gpu repeat=7",
                                   "%check x[0] == 0\n%check x[63] == 63")
    timed.ok()
    check.ok()


def test_median_spread_minimum_and_clock_are_those_of_the_samples(driver):
    result, text = bench(driver, "repeat=9")
    measured = result["measured"]
    samples = sorted(measured["samples_us"])
    assert len(samples) == 9 == measured["repeat"]
    assert measured["median_us"] == pytest.approx(samples[4])
    assert measured["min_us"] == pytest.approx(samples[0])
    assert measured["iqr_us"] == pytest.approx(samples[6] - samples[2])
    assert 300 < measured["clock_mhz"] < 4000
    assert result["modelled"] is None and "(measured)" in text
    assert result["device"]["source"] == "gpu"


def test_shares_say_of_what(driver):
    result, text = bench(driver, "bytes=512 flops=64 repeat=5")
    card = driver.cells("%device gpu")[0].ok().results[0]["properties"]
    peak = 2 * card["memoryClockRate"] * card["memoryBusWidth"] / 8 / 1e6
    assert result["peak_gbs"] == pytest.approx(peak)
    assert result["peak_source"] == "driver"
    assert result["bandwidth_share"] == pytest.approx(result["gbs"] / peak)
    assert 0.2 * peak < result["copy_gbs"]
    assert result["copy_share"] == pytest.approx(result["gbs"] / result["copy_gbs"])
    assert "2 x memory clock x bus width, as the driver says" in text
    assert "within the card, in this run:" in text


def test_a_copy_reaches_most_of_the_peak_of_a_card(card):
    result, _ = bench(card, "bytes=512 repeat=5")
    assert 0.6 * result["peak_gbs"] < result["copy_gbs"] < 1.02 * result["peak_gbs"]


def test_a_memory_bound_launch_reaches_what_a_copy_reaches(card):
    scale = "__global__ void scale(int n, float4 *x)\n{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n" \
            "    if (i < n) {\n        float4 v = x[i];\n        v.x *= 2, v.y *= 2, v.z *= 2, v.w *= 2;\n" \
            "        x[i] = v;\n    }\n}\n%buffer x float4[16M] = zeros"
    result = card.cells(scale, "n = 16777216\n%bench scale<<<n / 256, 256>>>(n, x) device=gpu bytes={32*n} "
                               "flops={4*n} repeat=10")[1].ok().results[0]
    assert 0.8 < result["copy_share"] < 1.2
    assert result["measured"]["iqr_us"] < 0.1 * result["measured"]["median_us"]


def test_repeats_in_which_the_card_throttled_are_done_again(fake, fake_library):
    link = os.path.join(fake_library, "libnvidia-ml.so.1")
    if not os.path.exists(link):
        os.symlink("libcuda.so.1", link)
    result, text = bench(fake, "repeat=5", FAKE_NVML_THROTTLED="4")
    assert result["measured"]["repeat"] == 5 and result["measured"]["rejected"] == 4
    assert "4 thrown away (throttled)" in text
    _, answer = fake.cells(KERNELS, "%bench add_one<<<1, 64>>>(64, x) device=gpu repeat=5", FAKE_NVML_THROTTLED="999")
    assert answer.error == "DeviceError" and "the card throttled in all 15 repeats: no times" in answer.report


def test_a_launch_says_what_it_is_made_of(driver):
    _, answer = driver.cells(KERNELS, "%launch add_one<<<8, 64>>>(64, x) device=gpu")
    (result,) = answer.ok().results
    assert result["registers"] > 0 and result["spills"] == 0
    assert result["static_bytes"] == 0 and result["dynamic_bytes"] == 0
    assert result["occupancy"]["driver_blocks"] == result["occupancy"]["active_blocks"]
    assert result["waves"] == pytest.approx(8 / 32 / driver.cells("%device gpu")[0].results[0]["sms"])
    assert result["measured"]["time_us"] > 0 and result["modelled"] is None
    assert f"{result['registers']} registers a thread, no spills; shared 0 static + 0 dynamic bytes" in answer.text
