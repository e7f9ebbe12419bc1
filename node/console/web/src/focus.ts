// What has the focus may go away: a row, a page, or what a dialog would give it back to. A browser then forgets it, and who uses the keyboard
// begins anew. Here what took its place gets it, and Tab goes on from there.

/** Where something stands: in what, and as which child. */
interface Place {
  of: Element;
  n: number;
}

/** placesOf gives where an element stands, innermost first. */
function placesOf(e: Element): Place[] {
  const all: Place[] = [];
  for (let p = e.parentElement; p && p !== document.documentElement; e = p, p = p.parentElement) all.push({ of: p, n: [...p.children].indexOf(e) });
  return all;
}

let last: Element | undefined; // what has the focus, or had it until it went away
let places: Place[] = []; // of last
let behind: Place[] = []; // of what had it before the dialog in which last is

addEventListener("focusin", (e) => {
  const to = e.target as Element;
  if (!to.closest("dialog")) behind = [];
  else if (!last?.closest("dialog")) behind = places;
  last = to;
  places = placesOf(to);
});

// Who presses beside everything has left it; what goes away has not been left. A browser may say so before it is gone.
addEventListener("focusout", (e) => {
  const from = e.target as Element;
  if (!e.relatedTarget) queueMicrotask(() => from === last && from.isConnected && document.hasFocus() && !(from as HTMLButtonElement).disabled && (last = undefined));
});

/** take gives an element the focus for now, without making it a stop of Tab. It reports whether that could be done. */
function take(e: Element): boolean {
  if (!e.hasAttribute("tabindex")) {
    e.setAttribute("tabindex", "-1");
    e.addEventListener("blur", () => e.removeAttribute("tabindex"), { once: true });
  }
  (e as HTMLElement).focus({ preventScroll: true });
  return document.activeElement === e;
}

/** near gives what stands where something stood, and what that is in. A button is not pressed twice by who pressed the one before it. */
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
