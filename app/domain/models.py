"""What is known of a model before it is called."""

from app.domain.messages import Usage
from app.domain.values import Value


class Price(Value):
    """US dollars for one token."""

    input: float
    output: float
    cached: float | None = None
    """For an input token read from the provider's cache; as `input` where the provider names none."""
    cache_write: float | None = None

    def cost(self, usage: Usage) -> float:
        """US dollars of that usage; cached tokens are part of the input tokens and paid at their own price."""
        cached = self.input if self.cached is None else self.cached
        cache_write = self.input if self.cache_write is None else self.cache_write
        fresh_tokens = max(0, usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens)
        return (
            fresh_tokens * self.input
            + usage.cached_tokens * cached
            + usage.cache_write_tokens * cache_write
            + usage.output_tokens * self.output
        )


class ModelCard(Value):
    """A model as the catalog lists it."""

    name: str
    """`provider/model`."""
    provider: str
    title: str
    context_window: int | None = None
    """Tokens of prompt it takes; `None` where nobody said."""
    price: Price | None = None
    """`None` when it is unpriced; a free model has a price of zero."""
    sees_images: bool = False
    reads_pdf: bool = False
    hears: bool = False
    sees_videos: bool = False
    calls_tools: bool = True
    reasons: bool = False
