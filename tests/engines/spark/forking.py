"""Workers of Spark, forked from a process that has imported what tasks import.

Each would else take two seconds of CPU for that, and a chain of tasks has a worker for each link.
"""

import gc

import numpy as np
import pyspark.worker  # noqa: F401
from pyspark.daemon import manager

import policy_engine.engines.spark.linking
import policy_engine.engines.spark.run  # noqa: F401
from policy_engine.kernels.siphash import derive_key

if __name__ == "__main__":
    derive_key(np.zeros(2, np.uint64), 1)  # numba prepares itself with its first kernel
    gc.freeze()
    manager()
