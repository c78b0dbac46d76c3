"""The keys of the matrix: arrows go from cell to cell, n and p to the next and previous difference, x pins a case.

Apart from the page they are for: the shell puts them into every tab, before that page is imported.
"""

# Enter needs nothing: cells are buttons. In the dialog of a cell, n and p press its buttons.
MATRIX_KEYS = """<script>document.addEventListener("keydown", (event) => {
  const page = document.querySelector(".matrix-page");
  if (!page || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const key = event.key.toLowerCase();
  if (event.target.closest("input:not([type=checkbox]), textarea, [role=combobox]")) return;
  const pair = document.querySelector(".matrix-pair");
  if (pair) {
    const turn = { n: "next", p: "previous" }[key];
    if (turn) pair.querySelector(`[data-testid=pair-${turn}]`)?.click();
    return;
  }
  if (document.querySelector(":is(.q-menu, .q-dialog__inner):not([class*=leave-active])")) return;
  const cells = [...page.querySelectorAll(".matrix-cell")].filter((one) => one.checkVisibility());
  const here = document.activeElement.closest("[data-testid=matrix-row]");
  const at = cells.indexOf(document.activeElement);
  const go = (cell) => {
    if (!cell) return;
    page.querySelectorAll(".matrix-cell[tabindex='0']").forEach((one) => { one.tabIndex = -1; });
    cell.tabIndex = 0;
    cell.focus();
  };
  const inRow = (row) => cells.filter((one) => row?.contains(one));
  const step = { arrowdown: 1, arrowup: -1, arrowright: 0, arrowleft: 0 }[key];
  if (step !== undefined && cells.length) {
    if (at < 0) go(cells[0]);
    else if (step) {
      const rows = [...page.querySelectorAll("[data-testid=matrix-row]")];
      go(inRow(rows[rows.indexOf(here) + step])[inRow(here).indexOf(cells[at])]);
    } else {
      const next = cells[at + (key === "arrowright" ? 1 : -1)];
      if (next && here.contains(next)) go(next);
    }
  } else if (key === "n" || key === "p") {
    const places = cells.map((one, place) => ("differs" in one.dataset ? place : -1)).filter((place) => place >= 0);
    const found = key === "n" ? places.find((place) => place > at) : places.findLast((place) => place < at);
    if (found !== undefined) go(cells[found]);
    else page.querySelector(`[data-testid=${key === "n" ? "next" : "previous"}-page]:not([disabled])`)?.click();
  } else if (key === "x" && here) here.querySelector("[data-pin]").click();
  else if (key === "/") page.querySelector("input[type=search]").focus();
  else return;
  event.preventDefault();
});</script>"""
