"""The keys of Quick review, each of which presses a button; they rest while a field has the focus.

Apart from the page they are for: the shell puts them into every tab, before that page is imported.
"""

REVIEW_KEYS = """<script>document.addEventListener("keydown", (event) => {
  const page = document.querySelector(".review-page");
  if (!page || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (document.querySelector(":is(.q-menu, .q-dialog__inner):not([class*=leave-active])")) return;
  const note = page.querySelector("textarea");
  if (event.target === note && event.key === "Escape") return note.blur();
  if (event.target.closest("input:not([type=checkbox]), textarea, [role=combobox]")) return;
  const presses = { j: "review-next", k: "review-previous", 1: "thumb-down", 2: "thumb-up",
                    c: "save-as-case-button", f: "review-fork", u: "review-undo" };
  const key = event.key.toLowerCase();
  if (key === "e") note?.focus();
  else if (presses[key]) page.querySelector(`[data-testid=${presses[key]}]`)?.click();
  else return;
  event.preventDefault();
});</script>"""
