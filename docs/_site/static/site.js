"use strict";

// A page that is opened as a file must not read others: its search shows titles without excerpts.
DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = location.protocol !== "file:";

// The keyboard scrolls only what has the focus.
function focusScrollable() {
  for (const each of document.querySelectorAll("pre, .table-wrapper")) {
    if (each.scrollWidth > each.clientWidth) {
      each.tabIndex = 0;
    } else {
      each.removeAttribute("tabindex");
    }
  }
}

addEventListener("load", focusScrollable);
addEventListener("resize", focusScrollable);
