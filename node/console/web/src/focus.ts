// The focused element may disappear: a row, a page, or the element that a dialog would return the focus to. The browser then drops the focus,
// and keyboard users start from the top. Here the element in its place gets the focus, and Tab continues from there. It also drops the focus of
// an element that is moved, as a row is when a list is sorted again: it gets the focus back.

/** The position of an element: its parent and its index there. */
interface Place {
  of: Element;
  n: number;
}

/** placesOf returns the positions of an element and its ancestors, innermost first. */
function placesOf(e: Element): Place[] {
  const all: Place[] = [];
  for (let p = e.parentElement; p && p !== document.documentElement; e = p, p = p.parentElement) all.push({ of: p, n: [...p.children].indexOf(e) });
  return all;
}

let last: Element | undefined; // the element that has the focus, or had it until it was removed
let left: Element | undefined; // the element that the wearer has just left, unless it turns out that it was moved
let places: Place[] = []; // of last
let behind: Place[] = []; // of the element that was focused before the dialog with last in it

addEventListener("focusin", (e) => {
  const to = e.target as Element;
  if (!to.closest("dialog")) behind = [];
  else if (!last?.closest("dialog")) behind = places;
  last = to;
  places = placesOf(to);
});

// A click on empty space means that the wearer left the element; its removal does not. A browser may send focusout before the removal.
addEventListener("focusout", (e) => {
  const from = e.target as Element;
  if (e.relatedTarget) return;
  queueMicrotask(() => {
    if (from !== last || !from.isConnected || !document.hasFocus() || (from as HTMLButtonElement).disabled) return;
    [left, last] = [last, undefined];
    setTimeout(() => (left = undefined));
  });
});

/** take focuses an element without adding it to the Tab order. It reports whether that worked. */
function take(e: Element): boolean {
  if (!e.hasAttribute("tabindex")) {
    e.setAttribute("tabindex", "-1");
    e.addEventListener("blur", () => e.removeAttribute("tabindex"), { once: true });
  }
  (e as HTMLElement).focus({ preventScroll: true });
  return document.activeElement === e;
}

/** near returns the element now at a former position, and its parent. It skips an element that Tab reaches, so that a repeated key press does not press it. */
function near({ of, n }: Place): Element[] {
  const next = of.children[Math.min(n, of.children.length - 1)] as HTMLElement | undefined;
  return next && next.tabIndex < 0 ? [next, of] : [of];
}

new MutationObserver((seen) => {
  if (document.activeElement && document.activeElement !== document.body) return;
  const was = last ?? left;
  if (was?.isConnected && seen.some((m) => [...m.removedNodes].some((n) => n.contains(was)))) (was as HTMLElement).focus({ preventScroll: true });
  if (!last || last.isConnected) return;
  const stay = [...places, ...behind].filter((p) => p.of.isConnected && p.of !== document.body);
  [...stay.flatMap(near), ...document.querySelectorAll("main")].some(take);
}).observe(document, { childList: true, subtree: true });

/** goOn focuses the first row that comes after those before a button. The button that asked for more may be gone by then. */
export function goOn(button: Element) {
  const before = button.previousElementSibling;
  const row = before?.matches("ul, ol, .guides") ? before.lastElementChild : before;
  if (!row) return;
  const from = document.activeElement;
  const look = new MutationObserver(() => {
    const next = row.nextElementSibling;
    if (!row.isConnected || (next && next !== button)) look.disconnect();
    if (next && next !== button && (document.activeElement === from || !from?.isConnected)) take(next);
  });
  look.observe(row.parentElement!, { childList: true });
}
