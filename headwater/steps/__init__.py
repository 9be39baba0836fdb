"""Record the steps of a run on pandas and PySpark data frames, and send them with the run.

    from headwater import steps
    from headwater.steps import track_transformation

    @track_transformation
    def clean(orders):
        return orders.dropna().drop_duplicates()

    with steps.run(job="daily_orders", namespace="shop"):
        clean(pandas.read_csv("orders.csv"))

A step never changes what a function does: an error of Headwater is logged, never raised.
"""

from headwater.steps.estimate import ShareEstimate, estimate_share, miss_probability
from headwater.steps.fingerprints import Fingerprint, fingerprint
from headwater.steps.row_changes import RowTracking, rows
from headwater.steps.run import StepRun, run
from headwater.steps.sample import is_sampled
from headwater.steps.tracking import track_transformation

__all__ = [
    "Fingerprint",
    "RowTracking",
    "ShareEstimate",
    "StepRun",
    "estimate_share",
    "fingerprint",
    "is_sampled",
    "miss_probability",
    "rows",
    "run",
    "track_transformation",
]
