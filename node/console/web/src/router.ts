// Where in the console the browser is: a path and a query, as in any page.

import { useEffect, useState } from "preact/hooks";

const moved = new EventTarget();

export function go(to: string, replace = false) {
  if (to === location.pathname + location.search) return;
  history[replace ? "replaceState" : "pushState"](null, "", to);
  moved.dispatchEvent(new Event("go"));
  if (!replace) scrollTo(0, 0);
}

addEventListener("popstate", () => moved.dispatchEvent(new Event("go")));

addEventListener("click", (e) => {
  if (e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
  const a = (e.target as Element).closest?.("a[href]") as HTMLAnchorElement | null;
  if (!a || a.origin !== location.origin || a.target || a.hasAttribute("download")) return;
  e.preventDefault();
  go(a.pathname + a.search);
});

export function usePlace(): { path: string[]; query: URLSearchParams; key: string } {
  const [key, set] = useState(location.pathname + location.search);
  useEffect(() => {
    const on = () => set(location.pathname + location.search);
    moved.addEventListener("go", on);
    return () => moved.removeEventListener("go", on);
  }, []);
  const url = new URL(key, location.origin);
  return { path: url.pathname.split("/").filter(Boolean).map(decodeURIComponent), query: url.searchParams, key };
}
