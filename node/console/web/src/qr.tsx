// A QR code, for the camera of another device.

import { useEffect, useState } from "preact/hooks";
import { post } from "./api";

export function QR({ text, label }: { text: string; label: string }) {
  const [rows, set] = useState<string[]>([]);
  useEffect(() => {
    const stop = new AbortController();
    post<{ rows: string[] }>("/v1/qr", { text }, stop.signal).then((q) => set(q.rows), () => undefined); // the text is shown beside it anyway
    return () => stop.abort();
  }, [text]);
  if (!rows.length) return null;
  const path = rows.flatMap((row, y) => [...row.matchAll(/1+/g)].map((m) => `M${m.index} ${y}h${m[0].length}v1h-${m[0].length}z`)).join("");
  return (
    <svg class="qr" viewBox={`0 0 ${rows.length} ${rows.length}`} role="img" aria-label={label} shape-rendering="crispEdges">
      <path d={path} />
    </svg>
  );
}
