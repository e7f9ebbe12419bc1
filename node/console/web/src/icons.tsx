// Icons, drawn on 24 by 24 with lines of one width.

const paths = {
  day: "M12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6 7 7M17 17l1.4 1.4M5.6 18.4 7 17M17 7l1.4-1.4M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8",
  ask: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14M16 16l5 5",
  memories: "M4 6h16M4 12h16M4 18h10",
  review: "M9 11l3 3 8-8M20 12v7a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1V5a1 1 0 0 1 1-1h10",
  devices: "M8 3h8a1 1 0 0 1 1 1v16a1 1 0 0 1-1 1H8a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1M11 18h2",
  graph: "M6 8.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5M18 11.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5M9 20.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5M8.500 6.500l7 2M6.500 8.500l2 7M16.500 11l-6 5",
  share: "M12 15V4M8 8l4-4 4 4M6 12v8h12v-8",
  left: "M15 5l-7 7 7 7",
  right: "M9 5l7 7-7 7",
  play: "M8 5v14l11-7z",
  stop: "M7 7h10v10H7z",
  pin: "M9 4h6l-1 6 4 3v2H6v-2l4-3zM12 15v6",
  edit: "M4 20h4L19 9l-4-4L4 16zM13 7l4 4",
  forget: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10 11v5M14 11v5",
  archive: "M4 5h16v4H4zM6 9v10h12V9M10 13h4",
  close: "M6 6l12 12M18 6 6 18",
  place: "M12 21c-4-5-6-8-6-11a6 6 0 0 1 12 0c0 3-2 6-6 11M12 8a2 2 0 1 0 0 4 2 2 0 0 0 0-4",
  photo: "M4 6h16v13H4zM4 16l5-5 4 4 3-3 4 4M15 9.5a1 1 0 1 0 .1 0",
  sound: "M4 10v4M8 7v10M12 4v16M16 8v8M20 10v4",
  mark: "M7 4h10v16l-5-4-5 4z",
  lock: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3",
  key: "M8 12a4 4 0 1 0 0 .1M12 12h9v3M17 12v3",
  why: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M9.5 9.5a2.5 2.5 0 1 1 3.5 2.3c-.7.4-1 .8-1 1.7M12 17h.01",
  fact: "M5 4h10l4 4v12H5zM14 4v5h5M8 13h8M8 16.5h5",
  event: "M5 6h14v14H5zM5 10h14M9 3v4M15 3v4",
  how: "M5 6h.01M9 6h11M5 12h.01M9 12h11M5 18h.01M9 18h11",
  you: "M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8M4 21c1-4 4-6 8-6s7 2 8 6",
  link: "M14 4h6v6M20 4l-9 9M18 14v6H4V6h6",
  pause: "M8 5v14M16 5v14",
  theme: "M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18",
  words: "M4 6h9M8.5 4v2M11 6c-1 4-3.500 6.500-7 8.500M6 9c1 2.500 3 4.500 6 5.500M12 20l4.500-10L21 20M13.500 17h6",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  down: "M6 9l6 6 6-6",
  check: "M5 12l5 5 9-10",
  sync: "M5 12a7 7 0 0 1 12-5l2 2M19 5v4h-4M19 12a7 7 0 0 1-12 5l-2-2M5 19v-4h4",
  warn: "M12 4 2.500 20h19zM12 10v4M12 17h.01",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}

/** Mark is Locket's sign. */
export function Mark() {
  return (
    <svg width="28" height="28" viewBox="0 0 64 64" aria-hidden="true">
      <rect width="64" height="64" rx="16" class="mark-back" />
      <circle cx="32" cy="15" r="5" fill="none" class="mark-line" stroke-width="3" />
      <path d="M32 54C20 46 15 39 15 32a9 9 0 0 1 17-4 9 9 0 0 1 17 4c0 7-5 14-17 22z" class="mark-fill" />
      <circle cx="32" cy="36" r="4.500" class="mark-back" />
    </svg>
  );
}
