"""A process and its pipes by what can be done with them: those of uvloop are of none of asyncio's classes."""

from typing import Protocol, runtime_checkable


@runtime_checkable
class ProcessTransport(Protocol):
    """A child process."""

    def get_pid(self) -> int | None: ...

    def get_returncode(self) -> int | None: ...

    def get_pipe_transport(self, fd: int) -> object: ...

    def send_signal(self, signal: int) -> None: ...

    def close(self) -> None: ...


@runtime_checkable
class IntoProcess(Protocol):
    """The pipe to its standard input."""

    def is_closing(self) -> bool: ...

    def write(self, data: bytes) -> None: ...


@runtime_checkable
class OutOfProcess(Protocol):
    """The pipe from its standard output."""

    def is_closing(self) -> bool: ...

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...
