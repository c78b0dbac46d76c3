"""Providers as our tests meet them: real HTTP servers on 127.0.0.1 that act as a model's name says."""
