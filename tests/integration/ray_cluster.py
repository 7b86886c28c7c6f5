"""A Ray cluster of two nodes on this machine, of one core each, in a process of its own.

It prints its address, and whether Ray would report to its makers. The line "head" on standard input takes its
head away. The end of standard input ends the cluster.
"""

import sys
import time
from typing import Any

from ray._common.usage import usage_lib
from ray._private import services
from ray.cluster_utils import Cluster

NODE = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "include_log_monitor": False, "wait": False}
PATIENCE = 240  # seconds; Ray gives a node 30 to start, which a busy machine may not give
_get_node = services.get_node


def patient_get_node(*arguments: Any) -> Any:
    """Returns what Ray knows of a node, once it knows the node."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return _get_node(*arguments)
        except RuntimeError:  # noqa: PERF203 - it waits
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


services.get_node = patient_get_node
cluster = Cluster()
head = cluster.add_node(**NODE, include_dashboard=False)
cluster.add_node(**NODE)
cluster.wait_for_nodes(PATIENCE)
reports = usage_lib.usage_stats_enabled() or usage_lib.usage_stats_prompt_enabled()
print(cluster.address, "reports" if reports else "quiet", flush=True)  # noqa: T201 - the test reads it
for _ in sys.stdin:
    cluster.remove_node(head, allow_graceful=False)
    print("gone", flush=True)  # noqa: T201 - likewise
cluster.shutdown()
