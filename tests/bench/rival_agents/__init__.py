"""The agent of P6 as other frameworks run it, each behind FastAPI in a process and an environment of its own."""
