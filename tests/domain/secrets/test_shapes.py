"""Keys that plainly are another provider's."""

import pytest

from app.domain.errors import WorkbenchError
from app.domain.secrets.shapes import check_owner


@pytest.mark.parametrize(
    ("key", "owner"),
    [
        ("sk-ant-api03-0123456789", "Anthropic"),
        ("sk-or-v1-0123456789", "OpenRouter"),
        ("AIzaSy0123456789012345678901234567890", "Google"),
        ("gsk_0123456789", "Groq"),
        ("xai-0123456789", "xAI"),
        ("AKIA0123456789ABCDEF", "Amazon"),
        ("ghp_0123456789", "GitHub"),
    ],
)
def test_a_key_of_another_provider_is_told_without_being_quoted(key: str, owner: str):
    with pytest.raises(WorkbenchError, match=f"a key of {owner}.*not sent to Mistral") as told:
        check_owner(key, "mistral", "Mistral")
    assert "0123456789" not in str(told.value)


@pytest.mark.parametrize(
    ("key", "provider"),
    [
        ("sk-proj-0123456789", "openai"),
        ("sk-0123456789", "deepseek"),
        ("sk-ant-api03-0123456789", "anthropic"),
        ("0123456789abcdef", "mistral"),
        ("AKIA0123456789ABCDEF", "bedrock"),
    ],
)
def test_a_key_that_may_be_its_own_is_let_through(key: str, provider: str):
    check_owner(key, provider, "It")
