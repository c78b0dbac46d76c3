"""Printed text: shown at once, kept, bounded."""

import asyncio

from app.tools.function.printing import LONGEST_PRINT, PrintingContext
from tests.tools.context import Context


async def test_too_much_is_counted_not_kept() -> None:
    context = Context()
    printing = PrintingContext(context)
    printing.printed("a" * (LONGEST_PRINT - 1))
    printing.printed("bcd")
    printing.printed("e" * 1_000)
    kept = printing.finish()
    assert kept == "a" * (LONGEST_PRINT - 1) + "b\n[… 1,002 more characters were printed and not kept]"
    assert "".join(context.shown) == kept


async def test_another_thread_may_print() -> None:
    context = Context()
    printing = PrintingContext(context)
    await asyncio.to_thread(lambda: [printing.printed(f"{number} ") for number in range(100)])
    assert printing.finish() == "".join(context.shown) == "".join(f"{number} " for number in range(100))


async def test_what_comes_after_the_end_is_dropped() -> None:
    context = Context()
    printing = PrintingContext(context)
    printing.printed("in time")
    printing.finish()
    printing.printed("too late")
    assert printing.finish() == "in time"
    assert context.shown == ["in time"]


async def test_a_context_is_wrapped_once() -> None:
    printing = PrintingContext(Context())
    assert PrintingContext.of(printing) is printing
