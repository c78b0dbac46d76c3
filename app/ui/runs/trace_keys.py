"""The keys of a list of runs: j and k or the arrows go from row to row, x chooses one, / goes to the search.

Apart from the page they are for: the shell puts them into every tab, before that page is imported.
"""

# Enter needs nothing: what the keys go to are links. Other pages have no such list, there it does nothing.
RUNS_KEYS = """<script>document.addEventListener("keydown", (event) => {
  const page = document.querySelector(".runs-page");
  if (!page || event.ctrlKey || event.metaKey || event.altKey) return;
  // What fades away is not open any more: the next key is meant for the list.
  if (document.querySelector(":is(.q-menu, .q-dialog__inner):not([class*=leave-active])")) return;
  const search = page.querySelector("input[type=search]");
  const fromSearch = event.target === search && event.key === "ArrowDown";
  if (!fromSearch && event.target.closest("input:not([type=checkbox]), textarea, [role=combobox]")) return;
  const links = [...page.querySelectorAll(".runs-request a")];
  const row = document.activeElement.closest("[data-testid=run-row]");
  const at = row ? links.indexOf(row.querySelector(".runs-request a")) : -1;
  const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
  if (event.key === "/") search.focus();
  else if (step && links.length) links[Math.min(links.length - 1, Math.max(0, at + step))].focus();
  else if (event.key === "x" && row) row.querySelector("input").click();
  else return;
  event.preventDefault();
});</script>"""
