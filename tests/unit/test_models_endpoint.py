"""The address of an endpoint in messages: no password, and no error, whatever the address is."""

import pytest

from pytest_medfaith.models.endpoint import shown_address


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://me:secret@host:8080/v1?key=abc#secret", "https://host:8080/v1"),
        ("http://localhost:11434/v1", "http://localhost:11434/v1"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
        ("http://[", "an unreadable address"),
        ("http://me:secret@[host/v1", "an unreadable address"),
        ("https://me:se/cret@host/v1", "an unreadable address"),
        ("me:secret@host:8080/v1", "an unreadable address"),
        ("", "an unreadable address"),
    ],
)
def test_an_address_is_shown_without_its_secrets_and_an_unreadable_one_not_at_all(address, shown):
    assert shown_address(address) == shown
