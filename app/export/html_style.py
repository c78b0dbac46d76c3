"""The looks of an exported run, light and dark by what the reader's system prefers."""

STYLE = """
:root{color-scheme:light dark;--bg:#f6f7f9;--card:#fff;--ink:#1b1f24;--faint:#5b6573;--line:#d9dee5;--user:#1d5fd1;
--user-ink:#fff;--call:#2563c9;--good:#1a7f4b;--bad:#c0322b;--code:#f0f2f5}
@media (prefers-color-scheme:dark){:root{--bg:#111418;--card:#1a1e24;--ink:#e6e9ee;--faint:#9aa5b4;--line:#323a45;
--user:#2b63bd;--call:#6ea4ff;--good:#4cc38a;--bad:#ff8078;--code:#232931}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.55 system-ui,sans-serif}
main{max-width:60rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.5rem;margin:0 0 .5rem;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:2rem 0 .75rem}
h3{font-size:.95rem;margin:0;color:var(--faint)}
nav a{margin-right:1rem}
a{color:var(--call)}
table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}
th{white-space:nowrap}
header th{width:8rem}
td.n,th.n{text-align:right;white-space:nowrap}
.wide{overflow-x:auto}
.step{content-visibility:auto;contain-intrinsic-size:auto 16rem;border-left:2px solid var(--line);
padding:.25rem 0 .25rem 1rem;margin:1rem 0}
.card{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.6rem .8rem;margin:.5rem 0;
overflow-wrap:anywhere}
.card.user{background:var(--user);color:var(--user-ink);margin-left:12%;border-color:var(--user)}
.card.user a,.card.user .faint{color:inherit}
.card p:first-child{margin-top:0}
.card p:last-child{margin-bottom:0}
.card.call{border-left:4px solid var(--call)}
.card.ok{border-left:4px solid var(--good)}
.card.bad{border-left:4px solid var(--bad)}
.card.note{color:var(--faint);font-size:.9rem}
.faint{color:var(--faint);font-size:.85rem}
.text{white-space:pre-wrap}
pre{background:var(--code);border-radius:.4rem;padding:.5rem .6rem;margin:.4rem 0;overflow:auto;max-height:30rem;
white-space:pre-wrap;font:13px/1.45 ui-monospace,monospace;color:var(--ink)}
summary{cursor:pointer}
img{max-width:100%;height:auto;display:block;border-radius:.4rem;margin:.4rem 0}
blockquote{margin:.4rem 0;padding-left:.8rem;border-left:3px solid var(--line)}
@media print{.step{content-visibility:visible}pre{max-height:none}}
"""
