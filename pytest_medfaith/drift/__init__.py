"""Watches the rate of a live system over time: samples of its logs are checked and tested against a bound."""
