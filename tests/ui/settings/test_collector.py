"""What Settings says of where spans go."""

from app.ui.settings.collector import _state


def test_a_password_in_an_address_of_the_environment_is_not_shown():
    told = _state("https://user:s3cret@host/v1/traces?key=abc", "")
    assert "cannot be used" in told and "s3cret" not in told and "key=abc" not in told
