// Small parts that pages share.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { media, Problem, shared, watch } from "./api";
import { reasonOf, t } from "./i18n";
import { Icon, type IconName } from "./icons";
import type { Kind, Memory } from "./types";

/** T shows a text that came from outside, and isolates its bidirectional control characters. */
export function T({ text, most = 2000 }: { text: string; most?: number }) {
  return <bdi>{text.length > most ? text.slice(0, most) + "…" : text}</bdi>;
}

export interface Loaded<V> {
  value?: V;
  error?: Problem;
  again: () => void;
}

const changed = new EventTarget();

/** changes makes everything on the page load again. */
export const changes = () => changed.dispatchEvent(new Event("change"));

/** useChanges calls f whenever something changed and when the node can be reached again. */
export function useChanges(f: () => void) {
  useEffect(() => {
    changed.addEventListener("change", f);
    return () => changed.removeEventListener("change", f);
  });
}

/** follow reloads whenever the node reports a change. */
export function useLive(): boolean {
  const [alive, set] = useState(true);
  useEffect(() => {
    let timer = 0;
    const stop = watch(() => {
      clearTimeout(timer);
      timer = setTimeout(changes, 120);
    }, set);
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, []);
  return alive;
}

/** useLoaded loads a path of the API, and again when something changes on the node. load replaces a plain GET. */
export function useLoaded<V>(path: string | null, load: (path: string, signal: AbortSignal) => Promise<V> = shared): Loaded<V> {
  const [state, set] = useState<{ path: string | null; value?: V; error?: Problem }>({ path });
  const [turn, again] = useState(0);
  const loads = useRef(false);
  const stale = useRef(false); // it changed while it was loaded
  useLayoutEffect(() => {
    // Requested before the page is drawn, because drawing takes longer than most answers.
    if (path === null) return;
    const stop = new AbortController();
    loads.current = true;
    stale.current = false;
    load(path, stop.signal)
      .then(
        (value) => set({ path, value }),
        (error) => stop.signal.aborted || set((s) => (s.path === path && s.value && !(error instanceof Problem && error.status === 404) ? s : { path, error: asProblem(error) })),
      )
      .then(() => {
        if (stop.signal.aborted) return;
        loads.current = false;
        if (stale.current) again((n) => n + 1);
      });
    return () => stop.abort();
  }, [path, turn]);
  useEffect(() => {
    // A change does not restart a slow request, or it might never finish.
    const on = () => (loads.current ? (stale.current = true) : again((n) => n + 1));
    changed.addEventListener("change", on);
    return () => changed.removeEventListener("change", on);
  }, []);
  return { value: state.path === path ? state.value : undefined, error: state.path === path ? state.error : undefined, again: () => again((n) => n + 1) };
}

export const asProblem = (e: unknown) => (e instanceof Problem ? e : new Problem(0, "", String(e)));

export function Failure({ error }: { error: Problem }) {
  return (
    <div class="notice bad" role="alert">
      <Icon name="warn" />
      <div>
        <strong>{error.status === 0 ? t("error.unreachable") : error.is("locked") ? t("error.locked") : t("error.failed")}</strong>
        {error.status !== 0 && !error.is("locked") && (
          <p>
            <T text={reasonOf(error)} />
          </p>
        )}
      </div>
    </div>
  );
}

export function Waiting() {
  return (
    <div class="waiting" role="status">
      <span class="sr">{t("wait")}</span>
      <i />
      <i />
      <i />
    </div>
  );
}

export function Empty({ icon, title, children }: { icon: IconName; title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={icon} size={28} />
      </span>
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export const kindIcon: Record<Kind, IconName> = {
  core: "you",
  episodic: "event",
  semantic: "fact",
  procedural: "how",
  resource: "photo",
  vault: "key",
};

export function iconOf(m: Memory): IconName {
  if (m.type === "resource" && m.fields?.resource?.media_type.startsWith("audio/")) return "sound";
  if (m.type === "episodic" && m.fields?.episodic?.event_type === "visit") return "place";
  if (m.type === "episodic" && m.fields?.episodic?.event_type === "bookmark") return "mark";
  return kindIcon[m.type] ?? "fact";
}

/** plainText returns a memory's text for a list. For photos and recordings it names their origin, not the camera's measurements. */
export function plainText(m: Memory): string {
  const place = m.metadata?.place;
  if (isPhoto(m) && m.text.startsWith("Photo,")) return place ? t("photo.at", { place }) : t("photo.title");
  if (isSound(m) && m.text.startsWith("Recording of")) return m.tags?.includes("waiting") ? `${t("sound.title")}, ${t("sound.waits")}` : t("sound.title");
  return m.text;
}

/** A memory as a small card that links to its page. */
export function Card({ memory: m, most = 160 }: { memory: Memory; most?: number }) {
  return (
    <a class={`card kind-${m.type} is-${m.state}`} href={`/memory/${m.id}`}>
      <span class="card-icon">
        <Icon name={iconOf(m)} size={16} />
      </span>
      <span class="card-text">
        <T text={plainText(m)} most={most} />
        {(m.state === "superseded" || m.state === "archived" || m.pinned) && (
          <span class="card-state">{m.pinned ? t("state.pinned") : m.repeats ? t("state.repeated") : t(`state.${m.state as "superseded" | "archived"}`)}</span>
        )}
      </span>
    </a>
  );
}

/** Photo shows the picture behind a memory, once it is near the screen. */
export function Photo({ memory: m, large }: { memory: Memory; large?: boolean }) {
  const ref = useRef<HTMLDivElement>(null);
  const [url, set] = useState<string | null | undefined>(undefined);
  useEffect(() => {
    const stop = new AbortController();
    let made = "";
    const look = new IntersectionObserver(
      (seen) => {
        if (!seen.some((s) => s.isIntersecting)) return;
        look.disconnect();
        media(m.id, stop.signal).then(
          (u) => set((made = u)),
          () => stop.signal.aborted || set(null),
        );
      },
      { rootMargin: "400px" },
    );
    look.observe(ref.current!);
    return () => {
      look.disconnect();
      stop.abort();
      if (made) URL.revokeObjectURL(made);
    };
  }, [m.id]);
  return (
    <div ref={ref} class={large ? "photo large" : "photo"}>
      {url ? <img src={url} alt={m.text.slice(0, 200)} /> : url === null ? <span class="photo-none">{t("photo.gone")}</span> : <span class="photo-wait" />}
    </div>
  );
}

export const isPhoto = (m: Memory) => m.type === "resource" && !!m.fields?.resource?.blob && m.fields.resource.media_type.startsWith("image/");
export const isSound = (m: Memory) => m.type === "resource" && !!m.fields?.resource?.blob && m.fields.resource.media_type.startsWith("audio/");

/** The sound that is playing. Only one plays at a time. */
let playing: { audio: HTMLAudioElement; stop: () => void } | undefined;

/** Sound plays a recording, starting a number of seconds in. */
export function Sound({ memory: m, from = 0, label, small }: { memory: Memory; from?: number; label: string; small?: boolean }) {
  const [at, set] = useState<number | null>(null); // seconds; null: not playing
  const [bad, fail] = useState(false);
  const [length, setLength] = useState(0);
  const stop = useRef<() => void>();
  useEffect(() => () => stop.current?.(), []);
  async function toggle() {
    if (stop.current) return stop.current();
    playing?.stop();
    try {
      const url = await media(m.id);
      const audio = new Audio(url);
      const end = () => {
        audio.pause();
        URL.revokeObjectURL(url);
        stop.current = undefined;
        set(null);
        if (playing?.audio === audio) playing = undefined;
      };
      stop.current = end;
      playing = { audio, stop: end };
      audio.onloadedmetadata = () => {
        setLength(audio.duration);
        audio.currentTime = Math.min(from, Math.max(0, audio.duration - 0.1));
      };
      audio.ontimeupdate = () => stop.current === end && set(audio.currentTime); // pausing fires one more time update
      audio.onended = end;
      set(from);
      await audio.play();
    } catch {
      stop.current?.();
      fail(true);
    }
  }
  const on = at !== null;
  return (
    <span class={small ? "sound small" : "sound"}>
      <button type="button" class="round" aria-pressed={on} aria-label={on ? t("sound.stop") : label} title={on ? t("sound.stop") : label} onClick={toggle} disabled={bad}>
        <Icon name={on ? "stop" : "play"} size={small ? 14 : 18} />
      </button>
      {!small && (
        <progress class="track" max={length || 1} value={on ? at : 0} aria-label={t("sound.progress")} />
      )}
      {bad && <span class="muted">{t("sound.none")}</span>}
    </span>
  );
}

/** Dialog is modal. Escape closes it, and the focus returns to where it was. */
export function Dialog({ title, close, children, wide }: { title: string; close: () => void; children: ComponentChildren; wide?: boolean }) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const d = ref.current!;
    d.showModal();
    return () => d.close();
  }, []);
  return (
    <dialog
      ref={ref}
      class={wide ? "wide" : ""}
      aria-label={title}
      onCancel={(e) => {
        e.preventDefault();
        close();
      }}
      onClose={(e) => e.currentTarget.isConnected && close()} // a browser may close it without asking
      onClick={(e) => e.target === ref.current && close()}
    >
      <header>
        <h2>{title}</h2>
        <button type="button" class="plain" aria-label={t("close")} onClick={close}>
          <Icon name="close" />
        </button>
      </header>
      {children}
    </dialog>
  );
}

/** DialogEnd has the buttons that cancel and submit a dialog's form. word is the label of the submit button. */
export function DialogEnd({ close, busy, danger, word }: { close: () => void; busy?: boolean; danger?: boolean; word: string }) {
  return (
    <footer>
      <button type="button" class="button" onClick={close}>
        {t("cancel")}
      </button>
      <button class={`button solid${danger ? " danger" : ""}`} disabled={busy}>
        {busy ? t("wait") : word}
      </button>
    </footer>
  );
}

export interface Toast {
  text: string;
  undo?: () => Promise<unknown>;
  until?: Promise<unknown>; // the notice is closed when this is settled
}

const toasts = new EventTarget();
export const tell = (toast: Toast) => toasts.dispatchEvent(new CustomEvent("tell", { detail: toast }));

/** tellError shows the error of something that a person did. */
export function tellError(e: unknown) {
  tell({ text: reasonOf(asProblem(e)) });
}

export function Toasts() {
  const [list, set] = useState<(Toast & { n: number })[]>([]);
  useEffect(() => {
    let n = 0;
    const on = (e: Event) => {
      const toast = { ...(e as CustomEvent<Toast>).detail, n: n++ };
      set((l) => [...l.slice(-2), toast]);
      const close = () => set((l) => l.filter((x) => x !== toast));
      setTimeout(close, toast.undo ? 12000 : 6000);
      void toast.until?.then(close);
    };
    toasts.addEventListener("tell", on);
    return () => toasts.removeEventListener("tell", on);
  }, []);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {list.map((toast) => (
        <div class="toast" key={toast.n}>
          <T text={toast.text} most={200} />
          {toast.undo && (
            <button
              type="button"
              onClick={() => {
                set((l) => l.filter((x) => x !== toast));
                toast.undo!().then(changes, tellError);
              }}
            >
              {t("undo")}
            </button>
          )}
        </div>
      ))}
    </div>
  );
}
