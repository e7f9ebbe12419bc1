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

/** changes makes everything on the page load again, after something that the wearer did here. */
export const changes = () => changed.dispatchEvent(new CustomEvent("change", { detail: "here" }));

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
      timer = setTimeout(() => changed.dispatchEvent(new Event("change")), 120);
    }, set);
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, []);
  return alive;
}

interface Loading<V> {
  load?: (path: string, signal: AbortSignal) => Promise<V>; // replaces a plain GET
  of?: string; // what is loaded; absent: the path. While more of the same is loaded, the value stays
  asks?: boolean; // it asks a market, which could tell from a reload when something is heard: only what the wearer does here reloads it
}

/** same reports whether two answers of the API are equal. */
function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || !a || !b || Array.isArray(a) !== Array.isArray(b)) return false;
  const [all, of] = [Object.entries(a), b as Record<string, unknown>];
  return all.length === Object.keys(b).length && all.every(([k, v]) => k in of && same(v, of[k]));
}

/** useLoaded loads a path of the API, and again when something changes on the node. An equal answer keeps the value. */
export function useLoaded<V>(path: string | null, { load = shared, of = path ?? undefined, asks }: Loading<V> = {}): Loaded<V> {
  const [state, set] = useState<{ of?: string; value?: V; error?: Problem }>({});
  const [turn, again] = useState(0);
  const loads = useRef(false);
  const stale = useRef(false); // it changed while it was loaded
  const failed = useRef(false); // the node did not answer
  useLayoutEffect(() => {
    // Requested before the page is drawn, because drawing takes longer than most answers.
    if (path === null) return;
    const stop = new AbortController();
    loads.current = true;
    stale.current = false;
    load(path, stop.signal)
      .then(
        (value) => {
          failed.current = false;
          set((s) => (s.of === of && !s.error && same(s.value, value) ? s : { of, value }));
        },
        (error) => {
          if (stop.signal.aborted) return;
          failed.current = asProblem(error).status === 0;
          set((s) => (s.of === of && s.value && !(error instanceof Problem && error.status === 404) ? s : { of, error: asProblem(error) }));
        },
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
    const on = (e: Event) => {
      if (asks && !failed.current && !(e as CustomEvent).detail) return;
      loads.current ? (stale.current = true) : again((n) => n + 1);
    };
    changed.addEventListener("change", on);
    return () => changed.removeEventListener("change", on);
  }, []);
  const is = of !== undefined && state.of === of;
  return { value: is ? state.value : undefined, error: is ? state.error : undefined, again: () => again((n) => n + 1) };
}

/** useSteady keeps a list in the order in which its items were first shown, so that a new item moves no button from under the pointer. */
export function useSteady<V>(list: V[], idOf: (v: V) => string): V[] {
  const places = useRef(new Map<string, number>());
  for (const v of list) if (!places.current.has(idOf(v))) places.current.set(idOf(v), places.current.size);
  return list.toSorted((a, b) => places.current.get(idOf(a))! - places.current.get(idOf(b))!);
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
  if (isSound(m) && m.text.startsWith("Recording of")) return m.tags?.includes("waiting") ? `${t("sound.title")} · ${t("sound.waits")}` : t("sound.title");
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
let presses = 0; // of all buttons that play a sound

/** Sound plays a recording, starting a number of seconds in. */
export function Sound({ memory: m, from = 0, label, small }: { memory: Memory; from?: number; label: string; small?: boolean }) {
  const [at, set] = useState<number | null>(null); // seconds; null: not playing
  const [bad, fail] = useState(false);
  const [length, setLength] = useState(0);
  const stop = useRef<() => void>();
  const wanted = useRef(0); // the press whose recording is awaited; 0: none
  useEffect(() => () => ((wanted.current = 0), stop.current?.()), []);
  async function toggle() {
    if (stop.current) return stop.current();
    playing?.stop();
    const press = (wanted.current = ++presses);
    try {
      const url = await media(m.id);
      if (press !== wanted.current || press !== presses) return URL.revokeObjectURL(url); // the page was left, or something else pressed
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
  const beside = useRef(false); // the press began beside the dialog; a drag that selects text may end there, too
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
      onPointerDown={(e) => (beside.current = e.target === ref.current)}
      onClick={(e) => e.target === ref.current && beside.current && close()}
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
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let n = 0;
    const on = (e: Event) => {
      const toast = { ...(e as CustomEvent<Toast>).detail, n: n++ };
      set((l) => [...l.slice(-2), toast]);
      const close = () => set((l) => l.filter((x) => x !== toast));
      const late = () => (box.current?.matches(":has(.toast:hover, :focus)") ? setTimeout(late, 1000) : close()); // not from under the pointer or the focus
      setTimeout(late, toast.undo ? 12000 : 6000);
      void toast.until?.then(close);
    };
    toasts.addEventListener("tell", on);
    return () => toasts.removeEventListener("tell", on);
  }, []);
  return (
    <div ref={box} class="toasts" role="status" aria-live="polite">
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
