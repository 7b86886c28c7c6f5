"""A Ray cluster of two nodes on this machine, of one core each, in a process of its own.

It prints its address. The line "head" on standard input takes its head away; the end of standard input ends it.
"""

import os
import sys
from typing import Any

from pytest_medfaith.bulk.ray_bridge import QUIET

os.environ.update(QUIET)

from ray.cluster_utils import Cluster

MEMORY = 80 * 2**20  # bytes of the object store of a node, the least that Ray takes

NODE = {"num_cpus": 1, "object_store_memory": MEMORY, "include_log_monitor": False}
TRIES = 3  # Ray gives a node 30 seconds to start, which a busy machine may not give


def started() -> tuple[Cluster, Any]:
    """Returns the cluster and its head."""
    cluster = Cluster()
    try:
        head = cluster.add_node(**NODE, include_dashboard=False)
        cluster.add_node(**NODE)
    except Exception:
        cluster.shutdown()
        raise
    return cluster, head


for number in range(TRIES):
    try:
        cluster, head = started()
    except Exception:  # noqa: PERF203 - as many tries as it takes
        if number == TRIES - 1:
            raise
    else:
        break
print(cluster.address, flush=True)  # noqa: T201 - the test reads it
for _ in sys.stdin:
    cluster.remove_node(head, allow_graceful=False)
    print("gone", flush=True)  # noqa: T201 - likewise
cluster.shutdown()
