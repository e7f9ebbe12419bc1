// The focused element may disappear: a row, a page, or the element that a dialog would return the focus to. The browser then drops the focus,
// and keyboard users start from the top. Here the element in its place gets the focus, and Tab continues from there.

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
  if (!e.relatedTarget) queueMicrotask(() => from === last && from.isConnected && document.hasFocus() && !(from as HTMLButtonElement).disabled && (last = undefined));
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

new MutationObserver(() => {
  if (!last || last.isConnected || (document.activeElement && document.activeElement !== document.body)) return;
  const left = [...places, ...behind].filter((p) => p.of.isConnected && p.of !== document.body);
  [...left.flatMap(near), ...document.querySelectorAll("main")].some(take);
}).observe(document, { childList: true, subtree: true });

export {};
