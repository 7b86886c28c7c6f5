"""Loads pytest's own plugin tester for this repository; the plugin under test comes in by its entry point."""

pytest_plugins = ["pytester"]
