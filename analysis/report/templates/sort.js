// Puts a button into every header of a table of three rows or more; it sorts the rows by its column.
"use strict";
(() => {
  const text = (row, column) => row.cells[column].textContent.trim();
  // "1,018 ± 334" counts as 1018; a cell without a number goes last either way
  const value = (row, column) => Number.parseFloat(text(row, column).replaceAll(",", "").replace("−", "-"));

  function compare(one, other, column, sign) {
    const [left, right] = [value(one, column), value(other, column)];
    if (column === 0 || (Number.isNaN(left) && Number.isNaN(right))) {
      return sign * text(one, column).localeCompare(text(other, column), "en", { numeric: true });
    }
    if (Number.isNaN(left) || Number.isNaN(right)) return Number.isNaN(left) - Number.isNaN(right);
    return sign * (left - right);
  }

  function sort(table, header, column) {
    const descending = header.getAttribute("aria-sort") === "ascending";
    for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const rows = [...table.tBodies[0].rows];
    rows.sort((one, other) => compare(one, other, column, descending ? -1 : 1));
    table.tBodies[0].append(...rows);
  }

  for (const table of document.querySelectorAll("table")) {
    if (table.tBodies[0].rows.length < 3) continue;
    [...table.tHead.rows[0].cells].forEach((header, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...header.childNodes);
      button.addEventListener("click", () => sort(table, header, column));
      header.append(button);
    });
  }
})();
