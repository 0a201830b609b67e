"""An unknown word -> the word that was probably meant.

Edit distance finds typing mistakes; a table translates the words of other tools.
"""

from __future__ import annotations

from collections.abc import Iterable

# Words of other tools and papers -> the words of this language; the right side may be a formula.
HABITS: dict[str, str] = {
    # size of a tree
    "max_depth": "depth",
    "maxdepth": "depth",
    "height": "depth",
    "levels": "depth",
    "max_leaf_nodes": "leaves",
    "max_leaves": "leaves",
    "num_leaves": "leaves",
    "simplicity": "leaves",
    "interpretability": "leaves",
    "n_leaves": "leaves",
    "leaf_count": "leaves",
    "nodes": "splits",
    "max_num_nodes": "splits",
    "n_nodes": "splits",
    "num_nodes": "splits",
    "node_count": "splits",
    "size": "leaves",
    # rows in a leaf
    "min_samples_leaf": "support",
    "min_child_samples": "support",
    "min_leaf_size": "support",
    "min_support": "support",
    "min_sup": "support",
    "min_leaf_node_size": "support",
    "min_samples_split": "support",
    "minsup": "support",
    "minbucket": "support",
    "min_leaf": "support",
    "min_samples": "support",
    "min_node_size": "support",
    "min_weight_fraction_leaf": "support",
    # price of a leaf
    "alpha": "k * leaves",
    "lambda": "k * leaves",
    "ccp_alpha": "k * leaves",
    "complexity": "k * leaves",
    "regularization": "k * leaves",
    "cost_complexity": "k * leaves",
    "leaf_penalty": "k * leaves",
    "sparsity": "k * leaves",
    "sparsity_penalty": "k * leaves",
    "min_impurity_decrease": "k * leaves",
    # errors
    "misclassification": "error_rate",
    "misclassifications": "errors",
    "zero_one_loss": "error_rate",
    "misclassification_score": "errors",
    "misclassification_rate": "error_rate",
    "misclassification_error": "error_rate",
    "classification_error": "error_rate",
    "misclassified": "errors",
    "error_count": "errors",
    "cost_complex_accuracy": "error_rate + k * leaves",
    "loss": "errors",
    "error": "error_rate",
    "acc": "accuracy",
    "accuracy_score": "accuracy",
    "top_k_accuracy": "accuracy",
    "f1_micro": "accuracy",
    "precision_micro": "accuracy",
    "recall_micro": "accuracy",
    "recall_weighted": "accuracy",
    "informedness": "balanced_accuracy",
    "youden": "balanced_accuracy",
    "hamming_loss": "error_rate",
    "hamming": "error_rate",
    "hinge_loss": "errors",
    "precision_score": "precision(...)",
    "recall_score": "recall(...)",
    "lift": "precision(...)",
    "balanced_accuracy_score": "balanced_accuracy",
    "bacc": "balanced_accuracy",
    "balanced_acc": "balanced_accuracy",
    "bal_acc": "balanced_accuracy",
    "cohens_kappa": "kappa",
    "fpr": "rate(...)",
    "false_positive_rate": "rate(...)",
    "tpr": "recall(...)",
    "sensitivity": "recall(...)",
    "true_positive_rate": "recall(...)",
    "fnr": "recall(...)",
    "false_negative_rate": "recall(...)",
    "miss_rate": "recall(...)",
    "tnr": "specificity(...)",
    "true_negative_rate": "specificity(...)",
    "fall_out": "specificity(...)",
    "ppv": "precision(...)",
    "negative_predictive_value": "npv(...)",
    "f1_score": "f1(...)",
    "f_measure": "f1(...)",
    "fbeta_score": "fbeta(...)",
    "f2": "fbeta(...)",
    "f_score": "f1(...)",
    "fscore": "f1(...)",
    "dice": "f1(...)",
    "jaccard_score": "jaccard(...)",
    "iou": "jaccard(...)",
    "matthews_corrcoef": "mcc(...)",
    "matthews": "mcc(...)",
    "phi": "mcc(...)",
    "geometric_mean": "gmean",
    "geometric_mean_score": "gmean",
    "g_mean": "gmean",
    # numbers
    "mean_squared_error": "mse",
    "mean_square_error": "mse",
    "mean_sq_error": "mse",
    "friedman_mse": "mse",
    "mse_loss": "mse",
    "l2": "squared_loss",
    "l2_loss": "squared_loss",
    "rss": "squared_loss",
    "residual_sum_of_squares": "squared_loss",
    "root_mean_squared_error": "rmse",
    "sse": "squared_loss",
    "squared_error": "mse",
    "mae": "mean_absolute_error",
    "absolute_error": "mean_absolute_error",
    "mean_abs_error": "mean_absolute_error",
    "mae_loss": "mean_absolute_error",
    "l1": "absolute_loss",
    "l1_loss": "absolute_loss",
    "mad": "mean_absolute_error",
    "mean_absolute_deviation": "mean_absolute_error",
    "r2_score": "r2",
    "adjusted_r2": "r2",
    "r_squared": "r2",
    "rsquared": "r2",
    "d2_score": "r2",
    "variance": "mse",
    "huber": "mean_absolute_error",
    "huber_loss": "mean_absolute_error",
    "mape": "mean_absolute_error",
    "mean_absolute_percentage_error": "mean_absolute_error",
    "explained_variance": "r2",
    "mean_squared_log_error": "mse",
    "root_mean_squared_log_error": "rmse",
    "median_absolute_error": "mean_absolute_error",
    "medae": "mean_absolute_error",
    "d2_absolute_error": "mean_absolute_error",
    "roc_auc": "auc(...)",
    "auc_roc": "auc(...)",
    "auroc": "auc(...)",
    "pr_auc": "auc(...)",
    "gini_coefficient": "auc(...)",
    "cross_entropy": "log_loss",
    "binary_crossentropy": "log_loss",
    "categorical_crossentropy": "log_loss",
    "logistic_loss": "log_loss",
    "mutual_info": "log_loss",
    "d2_log_loss": "log_loss",
    "deviance": "log_loss",
    "average_precision": "precision(...)",
    "entropy": "log_loss",
    "information_gain": "log_loss",
    "gain_ratio": "log_loss",
    "perplexity": "log_loss",
    "nll": "log_loss",
    "likelihood": "log_loss",
    "log_likelihood": "log_loss",
    "negative_log_likelihood": "log_loss",
    "impurity": "gini",
    "aic": "description_length",
    "bic": "description_length",
    "mdl": "description_length",
    "minimum_description_length": "description_length",
    "bits": "description_length",
    "cohen_kappa": "kappa",
    "cohen_kappa_score": "kappa",
    "gini_impurity": "gini",
    "gini_index": "gini",
    "c_index": "concordance",
    "concordance_index": "concordance",
    "concordance_index_censored": "concordance",
    "concordance_index_ipcw": "concordance",
    "harrell": "concordance",
    "integrated_brier_score": "brier",
    "ibs": "brier",
    "brier_score": "brier",
    "brier_score_loss": "brier",
    "d2_brier": "brier",
    "partial_likelihood": "survival_loss",
    "cox_loss": "survival_loss",
    "survival": "survival_loss",
    "survival_analysis": "survival_loss",
    "hazard_loss": "survival_loss",
    "pinball_loss": "quantile_loss(...)",
    "mean_pinball_loss": "quantile_loss(...)",
    "d2_pinball": "quantile_loss(...)",
    "silhouette": "cluster_loss(...)",
    "inertia": "cluster_loss(...)",
    "quantile": "quantile_loss(...)",
    "percentile": "quantile_loss(...)",
    # fairness
    "demographic_parity": "parity_gap",
    "fairness": "parity_gap",
    "statistical_parity": "parity_gap",
    "disparate_impact": "parity_gap",
    "equal_opportunity": "opportunity_gap",
    "equality_of_opportunity": "opportunity_gap",
    "predictive_equality": "predictive_gap",
    "equalized_odds": "odds_gap",
    "equalised_odds": "odds_gap",
    # columns
    "n_features": "features_used",
    "monotonic": "monotone",
    "monotonicity": "monotone",
    "columns": "features_used",
    "features": "features_used",
    "n_columns": "features_used",
    "max_num_features": "features_used",
    "num_features": "features_used",
    "number_of_features": "features_used",
    "misclassification_cost": "mistake_cost",
    "cost": "mistake_cost",
    "costs": "mistake_cost",
    "cost_sensitive": "mistake_cost",
    "misclass_cost": "mistake_cost",
    "total_cost": "mistake_cost + test_cost",
    "profit": "gain",
    "policy_value": "gain",
    "reward": "gain",
    "payoff": "gain",
    "revenue": "gain",
    "utility": "gain",
    "welfare": "gain",
    "confidence": "purity",
    "certainty": "purity",
    "questions": "depth",
    "rules": "leaves",
    "groups": "leaves",
    "segments": "leaves",
    "macro_f1": "balanced_accuracy",
    "macro_recall": "balanced_accuracy",
    "recall_macro": "balanced_accuracy",
    "balanced": "balanced_accuracy",
    "mean_test_cost": "test_cost",
    "average_cost": "mistake_cost",
    "expected_cost": "mistake_cost",
    # statements
    "minimise": "minimize",
    "maximise": "maximize",
    "min": "minimize",
    "max": "maximize",
    "optimize": "minimize",
    "constraint": "require",
    "subject": "require",
    "ensure": "require",
    "assert": "require",
    "st": "require",
    "such": "require",
    "where": "require",
    "target": "predict",
    "label": "predict",
    "output": "predict",
    "classify": "predict",
    "load": "data",
    "read": "data",
    "dataset": "data",
    "file": "data",
    "import": "include",
    "parameter": "param",
    "let": "param",
    "var": "param",
    "const": "param",
    "inputs": "features",
    "discretize": "binarize",
    "bin": "binarize",
    "bins": "binarize",
    "exclude": "forbid",
    "warmstart": "start",
    "solver": "solve",
    "using": "solve",
    "print": "report",
    "show": "report",
    "output_report": "report",
    "test": "validate",
    "forest": "ensemble",
    # types
    "numeric": "number",
    "numerical": "number",
    "float": "number",
    "real": "number",
    "continuous": "number",
    "int": "integer",
    "bool": "binary",
    "boolean": "binary",
    "categorical": "category",
    "nominal": "category",
    "factor": "category",
    "ordinal": "ordered",
    "string": "text",
    "str": "text",
    # units of time
    "sec": "s",
    "secs": "s",
    "second": "s",
    "seconds": "s",
    "m": "min",
    "mins": "min",
    "minute": "min",
    "minutes": "min",
    "hr": "h",
    "hrs": "h",
    "hour": "h",
    "hours": "h",
    "msec": "ms",
    "millisecond": "ms",
    "milliseconds": "ms",
    "row": "rows",
    "samples": "rows",
    "percent": "%",
}


_SHORT = 9  # letters of a habit whose typing mistakes are not looked for
_ADDED_BY_SCORERS = ("_score", "_macro", "_micro", "_weighted", "_samples", "_ovr", "_ovo")  # in this order
_MOST_CANDIDATES = 5000  # that are compared by edit distance: a table may have a million columns


def suggest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that was probably meant by `word`, or None if none is close.

    A habit of other tools is preferred to a typing mistake if its translation is among the candidates; the translation
    may be a formula (`alpha` -> `k * leaves`), whose measure has to be a candidate.
    """
    known = list(dict.fromkeys(candidates))
    same = _same_letters(word, known)
    if same is not None:
        return same
    habit = HABITS.get(_folded(word)) or _habit_without_signs(word)
    if habit is not None and any(candidate in _words(habit) for candidate in known):
        return habit
    return _within_typing_mistakes(word, known) or _mistyped_habit(word, known) or _scorer(word, known)


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The same for names chosen by users, such as columns and files, without the habits of other tools."""
    known = list(dict.fromkeys(candidates))
    return _same_letters(word, known) or _within_typing_mistakes(word, known)


def did_you_mean(word: str, candidates: Iterable[str]) -> tuple[str, ...]:
    """The help line of a message about an unknown word; empty if no candidate is close."""
    near = suggest(word, candidates)
    return () if near is None else (f"did you mean `{near}`?",)


def _habit_without_signs(word: str) -> str | None:
    """A habit that is written without its signs: `f1score` for `f1_score`."""
    letters = _letters(word)
    return next((meant for habit, meant in HABITS.items() if len(letters) > 4 and _letters(habit) == letters), None)


def _mistyped_habit(word: str, known: list[str]) -> str | None:
    """A long habit with a typing mistake: `mean_squared_eror`. Short ones resemble too many words."""
    if len(word) <= _SHORT:
        return None
    meant = [
        habit
        for habit, formula in HABITS.items()
        if len(habit) > _SHORT and any(each in _words(formula) for each in known)
    ]
    found = _within_typing_mistakes(word, meant)
    return None if found is None else HABITS[found]


def _scorer(word: str, known: list[str]) -> str | None:
    """A measure with what scikit-learn adds to its name: `neg_log_loss`, `f1_macro`, `explained_variance_score`."""
    measure = _folded(word).removeprefix("neg_")
    for added in _ADDED_BY_SCORERS:
        measure = measure.removesuffix(added)
    if measure == _folded(word) or not measure:
        return None
    return measure if measure in known else suggest(measure, known)


def _same_letters(word: str, known: list[str]) -> str | None:
    """The first candidate that differs only in case, spaces and signs: `Max HR` for `max_hr`."""
    letters = _letters(word)
    return next((each for each in known if each != word and letters and _letters(each) == letters), None)


def _within_typing_mistakes(word: str, known: list[str]) -> str | None:
    """The candidate within one to three typing mistakes of `word`, depending on its length."""
    folded = _folded(word)
    allowed = 1 if len(word) <= 4 else 2 if len(word) <= 9 else 3
    close = [
        (distance, -len(_shared_start(folded, candidate.casefold())), candidate)
        for candidate in known[:_MOST_CANDIDATES]
        if candidate != word
        and abs(len(candidate) - len(word)) <= allowed
        and (distance := edit_distance(folded, candidate.casefold(), allowed)) <= min(allowed, len(candidate) - 1)
    ]
    return min(close)[2] if close else None


def edit_distance(left: str, right: str, limit: int) -> int:
    """The number of letters to add, drop, change or swap with their neighbor; `limit + 1` if it exceeds the limit."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, letter in enumerate(left, start=1):
        before_that, before, row = before, row, [i]
        for j, other in enumerate(right, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == right[j - 2] and left[i - 2] == other:
                cost = min(cost, before_that[j - 2] + 1)
            row.append(cost)
        if min(row) > limit and (not before or min(before) > limit):
            return limit + 1
    return row[-1]


def _folded(word: str) -> str:
    return word.casefold().replace("-", "_").replace(" ", "_")


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))


def _words(formula: str) -> list[str]:
    return ["%"] if formula == "%" else formula.replace("(...)", "").replace("*", " ").split()


def _shared_start(left: str, right: str) -> str:
    length = 0
    while length < min(len(left), len(right)) and left[length] == right[length]:
        length += 1
    return left[:length]
