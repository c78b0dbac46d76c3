"""Web pages as text."""

import pytest

from app.tools.http.readable import readable


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>one<p>two", "one\n\ntwo"),
        ("<h2>Head</h2>text", "## Head\n\ntext"),
        ("a<br>b&nbsp;&amp; c", "a\nb & c"),
        ("<svg><title>no</title><svg></svg>no</svg>yes", "yes"),
        ("<template><script>no</template>no</script>no</template>yes", "yes"),
        ("<noscript>no<body>yes", "yes"),
        ("<title>T</title><h1>T</h1>x", "# T\n\nx"),
        ("<title>T\n t</title>x", "T t\n\nx"),
        ("<a>no link</a> <a href='/x'>link</a> </a>", "no link [link](/x)"),
        ("<pre> a\n  b</pre><pre>c</pre>", " a\n  b\n\nc"),
        ("plain < text & more", "plain < text & more"),
        ("<p>text \0 with zero", "text with zero"),
        ("", ""),
    ],
)
def test_a_page_reads_like_text(html: str, text: str) -> None:
    assert readable(html) == (text, False)


def test_the_end_of_a_page_that_takes_too_long_is_left_out() -> None:
    assert readable("<p>text", seconds=-1) == ("", True)
