// The buttons that show more of the list before them.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { goOn } from "./focus";
import { t } from "./i18n";

export const More = ({ show, children }: { show: () => void; children: ComponentChildren }) => (
  <button type="button" class="button small" onClick={(e) => (goOn(e.currentTarget), show())}>
    {children}
  </button>
);

/** MoreNear shows more as soon as it is near the screen. */
export function MoreNear({ show }: { show: () => void }) {
  const ref = useRef<HTMLButtonElement>(null);
  const load = () => (document.activeElement === ref.current && goOn(ref.current!), show());
  useEffect(() => {
    const look = new IntersectionObserver((seen) => seen.some((s) => s.isIntersecting) && load(), { rootMargin: "800px" });
    look.observe(ref.current!);
    return () => look.disconnect();
  });
  return (
    <button ref={ref} type="button" class="button more" onClick={load}>
      {t("more")}
    </button>
  );
}
