// The button that shows more of the list before it.

import type { ComponentChildren } from "preact";
import { goOn } from "./focus";

export const More = ({ show, children }: { show: () => void; children: ComponentChildren }) => (
  <button type="button" class="button small" onClick={(e) => (goOn(e.currentTarget), show())}>
    {children}
  </button>
);
