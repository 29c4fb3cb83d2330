"""Experiments on a card: what the SM's clock says, beside the model; on the fake driver and on a GPU."""
import pytest

from gpu_cells import needs_card

CLOCKED = ["chase", "policy", "ilp", "units", "order", "predication", "trips", "nested", "banks", "barrier", "its"]


def test_the_clock_of_the_sms_is_what_counts(fake):
    answer = fake.cells("%device gpu\n%run barrier warps=[1,8,32] repeat=5")[0]
    result = answer.ok().results[-1]
    assert [p["measured"]["median"] for p in result["points"]] == [32, 46, 94]
    assert [len(p["measured"]["samples"]) for p in result["points"]] == [5, 5, 5]
    assert all(p["correct"] and p["measured"]["iqr"] == 0 for p in result["points"])
    for p in result["points"]:
        assert p["ratio"] == pytest.approx(p["modelled"]["value"] / p["measured"]["median"])
    errors = [abs(p["ratio"] - 1) for p in result["points"]]
    assert result["mape"] == pytest.approx(100 * sum(errors) / 3)
    assert "Modelled" not in result["conclusion"]


def test_measured_points_are_dots_and_the_model_is_a_line(fake):
    answer = fake.cells("%device gpu\n%run barrier warps=[1,8,32] repeat=3")[0]
    answer.ok()
    assert "dots: measured, lines: the model" in answer.svg
    drawn = answer.svg[answer.svg.rindex("dots: measured"):]
    assert drawn.count('stroke-width="2"') == 1  # the line; dots have a thin rim


def test_what_is_wrong_has_no_time(fake):
    answer = fake.cells("%run trips spread=[0,2] repeat=3 device=gpu")[0]
    assert all(p["correct"] is False and p["measured"] is None for p in answer.ok().results[0]["points"])
    assert answer.ok().results[0]["conclusion"].startswith("Wrong: 2 of 2")
    assert answer.ok().results[0]["mape"] is None


@needs_card
@pytest.mark.parametrize("name", CLOCKED)
def test_every_experiment_is_right_and_measured(card, name):
    result = card.cells(f"%run {name}")[0].ok().results[0]
    run = [p for p in result["points"] if p["skipped"] is None]
    assert run and all(p["correct"] for p in run)
    assert all(p["measured"]["median"] > 0 and p["modelled"]["value"] > 0 for p in run)
