"""A Ray cluster of two nodes on this machine, of one core each, in a process of its own.

It prints its address. The line "head" on standard input takes its head away; the end of standard input ends it.
"""

import os
import sys

from pytest_medfaith.bulk.ray_bridge import QUIET

os.environ.update(QUIET)

from ray.cluster_utils import Cluster

MEMORY = 80 * 2**20  # bytes of the object store of a node, the least that Ray takes

cluster = Cluster()
head = cluster.add_node(
    num_cpus=1, object_store_memory=MEMORY, include_dashboard=False, include_log_monitor=False
)
cluster.add_node(num_cpus=1, object_store_memory=MEMORY, include_log_monitor=False)
print(cluster.address, flush=True)  # noqa: T201 - the test reads it
for _ in sys.stdin:
    cluster.remove_node(head, allow_graceful=False)
    print("gone", flush=True)  # noqa: T201 - likewise
cluster.shutdown()
