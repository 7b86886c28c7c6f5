"""A run of pytest with the plugin: what it expects, collects, judges and shows."""
