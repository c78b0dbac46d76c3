import pytest

from app.domain.errors import WorkbenchError
from app.domain.providers import checked_address, custom_name


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("", ""),
        ("  https://api.example.com/v1/ ", "https://api.example.com/v1"),
        ("http://localhost:8000", "http://localhost:8000"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
    ],
)
def test_an_address_is_taken_without_what_surrounds_it(written: str, address: str):
    assert checked_address(written) == address


@pytest.mark.parametrize(
    "written",
    [
        *("api.example.com", "localhost:8000", "ftp://x.example", "https://", "http:///v1", "http://x:port", "sk-abc"),
        *("http://a b.example", "http://x:99999", "javascript:alert(1)", "http://[::1", 'http://x.example/"v1'),
    ],
)
def test_what_is_no_address_is_refused_with_an_example(written: str):
    with pytest.raises(WorkbenchError, match=r"is no address.*https://"):
        checked_address(written)


@pytest.mark.parametrize(
    "written", ["https://me:hush@x.example", "https://x.example/v1?key=hush", "https://x.example/#hush"]
)
def test_an_address_that_carries_a_secret_is_refused_without_quoting_it(written: str):
    with pytest.raises(WorkbenchError) as caught:
        checked_address(written)
    assert "hush" not in str(caught.value)


def test_a_server_of_ones_own_is_named_after_its_title():
    assert custom_name(" Team Server (EU) ", {"openai"}) == "team-server-eu"
    for title in ("", "---", "日本"):
        with pytest.raises(WorkbenchError, match="letters"):
            custom_name(title, set())
    with pytest.raises(WorkbenchError, match="already"):
        custom_name("OpenAI", {"openai"})
