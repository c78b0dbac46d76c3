from functools import partial
from inspect import signature

from app.start.signatures import expects_arguments


class Handler:
    def plain(self) -> None: ...

    def with_event(self, event: object) -> None: ...

    def with_default(self, event: object = None, *others: object, **named: object) -> None: ...

    @classmethod
    def of_class(cls, event: object) -> None: ...

    def __call__(self, event: object) -> None: ...


def test_a_handler_is_known_to_take_an_argument_or_none_however_often_it_is_asked():
    for one in (Handler(), Handler()):
        assert not expects_arguments(one.plain)
        assert expects_arguments(one.with_event)
        assert not expects_arguments(one.with_default)
        assert expects_arguments(one.of_class)
        assert expects_arguments(one)
        assert not expects_arguments(partial(one.with_event, None))
    assert not expects_arguments(lambda: None)
    assert expects_arguments(signature)
