"""Words nobody knows -> words that were meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeml.lang.measures import MEASURES
from treeml.lang.suggest import HABITS, edit_distance, suggest
from treeml.lang.words import TYPES, UNITS, VERBS


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("leafs", "leaves"),
        ("policy_value", "gain"),
        ("dept", "depth"),
        ("Depth", "depth"),
        ("error-rate", "error_rate"),
        ("max_depth", "depth"),
        ("min_samples_leaf", "support"),
        ("minsup", "support"),
        ("alpha", "k * leaves"),
        ("lambda", "k * leaves"),
        ("ccp_alpha", "k * leaves"),
        ("mae", "mean_absolute_error"),
        ("mean_abs_error", "mean_absolute_error"),
        ("f_score", "f1(...)"),
        ("rmse", "mse"),
        ("r2_score", "r2"),
        ("demographic_parity", "parity_gap"),
        ("balanced_acuracy", "balanced_accuracy"),
        ("mean_squared_eror", "mse"),
        ("neg_mean_squared_error", "mse"),
        ("neg_log_loss", "log_loss"),
        ("roc_auc_ovr_weighted", "auc(...)"),
        ("roc_auc_score", "auc(...)"),
        ("f1_macro", "f1"),
        ("recall_macro", "balanced_accuracy"),
        ("f1_micro", "accuracy"),
        ("explained_variance_score", "r2"),
        ("neg_brier_score", "brier"),
        ("ibs", "brier"),
        ("hamming", "error_rate"),
        ("l2_loss", "squared_loss"),
        ("mse_loss", "mse"),
        ("cox_loss", "survival_loss"),
        ("fnr", "recall(...)"),
        ("n_nodes", "splits"),
        ("leaf_penalty", "k * leaves"),
        ("neg_weather_score", None),
        ("_score", None),
        ("weather_forecast", None),
        ("zzz", None),
        ("x", None),
        ("depth", None),
    ],
)
def test_measures(word, meant):
    assert suggest(word, MEASURES) == meant


def test_a_word_of_another_tool_is_translated_only_where_the_translation_fits():
    assert suggest("max_depth", ["income", "age"]) is None
    assert suggest("min", VERBS) == "minimize"
    assert suggest("min", UNITS) is None


def test_every_word_of_another_tool_has_a_translation():
    known = {*MEASURES, *VERBS, *UNITS, *TYPES}
    for word, meant in HABITS.items():
        assert any(suggest(word, [candidate]) == meant for candidate in known), word


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_edit_distance_is_a_distance(left, right):
    distance = edit_distance(left, right, 9)
    assert distance == edit_distance(right, left, 9)
    assert (distance == 0) == (left == right)
    assert abs(len(left) - len(right)) <= distance <= max(len(left), len(right))
    assert edit_distance(left, right, 1) == distance or (distance > 1 and edit_distance(left, right, 1) > 1)


def test_neighbors_swapped_are_one_slip():
    assert edit_distance("predcit", "predict", 3) == 1
