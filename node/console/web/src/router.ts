// Where in the console the browser is: a path and a query, as in any page.

import { useEffect, useState } from "preact/hooks";

const moved = new EventTarget();

export function go(to: string, replace = false) {
  if (to !== location.pathname + location.search) history[replace ? "replaceState" : "pushState"](null, "", to);
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

/** usePlace returns where the browser is. times counts how often the wearer went to the present place. */
export function usePlace(): { path: string[]; query: URLSearchParams; key: string; times: number } {
  const [{ key, times }, set] = useState({ key: location.pathname + location.search, times: 1 });
  useEffect(() => {
    const on = () => set((was) => {
      const key = location.pathname + location.search;
      return { key, times: key === was.key ? was.times + 1 : 1 };
    });
    moved.addEventListener("go", on);
    return () => moved.removeEventListener("go", on);
  }, []);
  const url = new URL(key, location.origin);
  return { path: url.pathname.split("/").filter(Boolean).map(decodeURIComponent), query: url.searchParams, key, times };
}
