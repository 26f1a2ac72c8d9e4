// Marks tables and pictures that are wider than the page, which only a hint tells from ones that end there.
"use strict";
(() => {
  const mark = () => {
    for (const each of document.querySelectorAll(".wide")) {
      each.classList.toggle("overflows", each.scrollWidth > each.clientWidth);
    }
  };
  window.addEventListener("load", mark); // pictures have a width only now
  window.addEventListener("resize", mark);
})();
