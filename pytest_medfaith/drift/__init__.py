"""The rate of a live system over time: samples of its logs are checked, kept, and tested against a bound."""
