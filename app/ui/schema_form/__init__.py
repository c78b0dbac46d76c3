"""Forms made of JSON schemas."""
