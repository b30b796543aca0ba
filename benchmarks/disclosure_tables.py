"""What is published of disclosure risk, and why our figures differ: for `disclosure_risk.py`.

Torra: Privacy models and disclosure risk: integral privacy, 2017, after Nin, Herranz and Torra
(2008) and Abril, Navarro-Arribas and Torra (2012, 2015).
"""

import numpy as np

from policy_engine.kernels.linkage.learned import bilinear, choquet, weighted_mean

KNOWN = np.array(
    [
        *([8, 9, 1, 3], [6, 7, 10, 2], [10, 3, 4, 1], [7, 1, 2, 6], [9, 4, 6, 4]),
        *([2, 2, 8, 8], [1, 10, 3, 9], [4, 8, 7, 10], [5, 5, 5, 5], [3, 6, 9, 7]),
    ],
    dtype=float,
)
MASKED = np.array(
    [
        *([10, 10, 3, 5], [5, 5, 8, 1], [8, 4, 2, 2], [9, 2, 4, 4], [7, 3, 5, 6]),
        *([4, 1, 10, 10], [3, 9, 1, 7], [2, 6, 9, 8], [6, 7, 6, 3], [1, 8, 7, 9]),
    ],
    dtype=float,
)
WINDOWS = ({2, 3, 5, 6, 9}, {2, 7, 8, 9, 10}, {2, 6, 8}, {2, 3, 4, 9})
"""Of the second record, by column: the numbers of masked records, from 1."""
INTERSECTIONS = [{1}, {2}, {3}, {4}, {4, 5}, {6}, {7}, {8}, {5, 9}, {8, 10}]

PERCENTS = (2, 4, 6, 8, 10, 12, 14, 16, 18, 20)
SWAPPED = {
    ("census", "DLD"): (73.52, 58.4, 43.76, 32.13, 23.64, 18.96, 15.63, 13.59, 11.5, 10.87),
    ("census", "RSLD"): (77.73, 66.65, 54.65, 41.28, 29.21, 19.87, 16.14, 13.81, 12.21, 10.88),
    ("census", "PLD"): (71.28, 42.92, 22.49, 11.74, 6.03, 3.46, 2.06, 1.29, 0.83, 0.59),
    ("eia", "DLD"): (21.71, 10.61, 7.4, 5.98, 5.19, 4.87, 4.55, 4.54, 4.54, 4.36),
    ("eia", "RSLD"): (43.27, 12.54, 7.69, 6.12, 5.6, 5.39, 5.28, 5.19, 5.2, 5.15),
    ("eia", "PLD"): (16.85, 4.79, 2.03, 1.12, 0.69, 0.51, 0.32, 0.23, 0.22, 0.18),
    ("census", "DLD band"): 3.5,
    ("census", "RSLD band"): 3.5,
    ("eia", "DLD band"): 1.5,
    ("eia", "RSLD band"): 3,
}

COLUMNS = ("FEDTAX", "STATETAX", "PEARNVAL", "INTVAL", "AFNLWGT", "POTHVAL")
BLOCKS = {
    "M4-33": ((2, 3), (2, 3)),
    "M4-28": ((2, 2), (2, 8)),
    "M4-82": ((2, 8), (2, 2)),
    "M5-38": ((3, 3), (2, 8)),
    "M6-385": ((2, 3), (2, 8), (2, 5)),
    "M6-853": ((2, 8), (2, 5), (2, 3)),
}
FAMILIES = {"WM": weighted_mean, "CI": choquet, "SB": bilinear}
LEARNED = {
    "M4-33": {"AM": 84, "MD": 94, "WM": 95.5, "CI": 95.75, "SB": 96.75},
    "M4-28": {"AM": 68.5, "MD": 90, "WM": 93, "CI": 93.75, "SB": 94.5},
    "M4-82": {"AM": 71, "MD": 92.75, "WM": 94.25, "CI": 94.25, "SB": 95.25},
    "M5-38": {"AM": 39.75, "MD": 88.25, "WM": 90.5, "CI": 91.25, "SB": 92.25},
    "M6-385": {"AM": 78, "MD": 98.5, "WM": 99.25, "CI": 99.75, "SB": 99.75},
    "M6-853": {"AM": 84.75, "MD": 98, "WM": 98.75, "CI": 99.25, "SB": 99.5},
}

_PROTOCOL = (
    "The protocol is inferred from the fit: a value whose partner is swapped already stays, and "
    "the mean is over the first 1 to half of the columns in the order of the file."
)
REASONS = {
    "worked": "Exact: here p=2 is two ranks, elsewhere a share of the records.",
    "census DLD": _PROTOCOL,
    "census RSLD": _PROTOCOL,
    "eia DLD": f"{_PROTOCOL} Of EIA, a tie counts as a link.",
    "eia RSLD": _PROTOCOL,
    "unsettled": "EIA RSLD at p=2 would need eight known columns: one of them, or a misprint.",
    "census PLD": (
        "The agreement rule is not published; ten bins of ten columns, and the swap without "
        "unswapped values, which DLD and RSLD contradict. Not reconciled."
    ),
    "eia PLD": "The agreement rule is not published; ten bins of six columns. Not reproduced.",
    "plain": "Nothing is published of the likelihood attack.",
    "variants": (
        "Published without figures: the intersection collapses because it leaves out the truth; "
        "who knows the mechanism scores how likely each move is."
    ),
    "fitted": (
        "Columns and records are not published; these columns were found by a search that fits "
        "AM and MD, with the covariance of the true differences for MD."
    ),
    "learned": "As above, and not fitted: WM, CI and SB follow from columns found for AM and MD.",
    "held out": "Published figures are in-sample: of those from whose links was learned.",
    "scale": "Published are the goals; CPU seconds of a second run, warm.",
}
