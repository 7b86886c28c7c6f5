"""Names what the package depends on; the weights of the checker "default" are a distribution of their own."""

import os
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

WEIGHTS = "0.1.0"  # the version that this code was measured with; weights/pyproject.toml holds the same


class Dependencies(MetadataHookInterface):
    """Adds the weights: in a clone from the folder beside this file, in a release from the package index."""

    def update(self, metadata: dict) -> None:
        """Sets `dependencies` to those that pyproject.toml lists for this hook, and the weights."""
        folder = Path(self.root) / "weights"
        in_clone = (folder / "pyproject.toml").is_file() and not os.environ.get("MEDFAITH_RELEASE")
        weights = (
            f"pytest-medfaith-weights @ {folder.as_uri()}"
            if in_clone
            else f"pytest-medfaith-weights=={WEIGHTS}"
        )
        metadata["dependencies"] = [*self.config["dependencies"], weights]
