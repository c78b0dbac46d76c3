"""Where each provider hands out its keys."""

from collections.abc import Mapping

KEY_PAGES: Mapping[str, str] = {
    "openai": "https://platform.openai.com/api-keys",
    "anthropic": "https://console.anthropic.com/settings/keys",
    "gemini": "https://aistudio.google.com/apikey",
    "bedrock": "https://console.aws.amazon.com/bedrock/home#/api-keys",
    "azure": "https://ai.azure.com",
    "openrouter": "https://openrouter.ai/settings/keys",
    "mistral": "https://console.mistral.ai/api-keys",
    "groq": "https://console.groq.com/keys",
    "deepseek": "https://platform.deepseek.com/api_keys",
    "xai": "https://console.x.ai",
    "together_ai": "https://api.together.ai/settings/api-keys",
    "fireworks_ai": "https://app.fireworks.ai/settings/users/api-keys",
}
