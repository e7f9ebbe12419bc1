// The session with the node, and its API.

const keyName = "locket.key";

/** The state of the session: starting, open, or the reason why there is none. */
export type Session = "starting" | "open" | "none" | "ended" | "used" | "unmade";

let session: Session = "starting";
const watchers = new Set<(s: Session) => void>();

export function onSession(f: (s: Session) => void): () => void {
  watchers.add(f);
  f(session);
  return () => watchers.delete(f);
}

function become(s: Session) {
  session = s;
  if (s !== "open") localStorage.removeItem(keyName);
  watchers.forEach((f) => f(s));
}

/** Problem is an error that the node answered with. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly type: string,
    message: string,
    readonly field?: string,
  ) {
    super(message);
  }
  /** The last part of the type, which is stable: clients may depend on it. */
  get kind(): string {
    return this.type.replace(/^.*[:/]/, "");
  }
  is(name: string): boolean {
    return this.kind === name;
  }
}

async function problemOf(res: Response): Promise<Problem> {
  try {
    const p = await res.json();
    return new Problem(res.status, String(p.type ?? ""), String(p.detail ?? p.title ?? res.status), p.field);
  } catch {
    return new Problem(res.status, "", res.statusText || String(res.status));
  }
}

async function send(method: string, path: string, body?: unknown, signal?: AbortSignal, type = "application/json"): Promise<Response> {
  const key = localStorage.getItem(keyName) ?? "";
  const headers: Record<string, string> = { "Locket-Console": key };
  if (body !== undefined) headers["Content-Type"] = type;
  if (method !== "GET") fresh();
  let res: Response;
  try {
    res = await fetch(path, { method, headers, body: body === undefined || body instanceof Blob ? body : JSON.stringify(body), signal, redirect: "error" });
  } catch (e) {
    if (signal?.aborted) throw e;
    throw new Problem(0, "unreachable", "unreachable");
  }
  if (method !== "GET") fresh();
  if (res.ok) return res;
  const p = await problemOf(res);
  if (p.status === 401 && p.field === "session") become("ended");
  throw p;
}

export async function call<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const res = await send(method, path, body, signal);
  return (await res.json()) as T;
}

/** A request that several callers may share, with the number of callers that use it. */
interface Asked {
  answer: Promise<unknown>;
  stop: AbortController;
  users: number;
}

/** The recent requests, by path. */
const asked = new Map<string, Asked>();

/** fresh stops sharing the answers of earlier requests. It is called when the page changes something or hears of a change. */
const fresh = () => asked.clear();

/** ask requests a path. Other callers share its answer until keep ms after it arrived, unless something changes earlier. */
function ask(path: string, keep = 1000): Asked {
  const stop = new AbortController();
  const a: Asked = { answer: call("GET", path, undefined, stop.signal), stop, users: 0 };
  asked.set(path, a);
  const gone = () => void (asked.get(path) === a && asked.delete(path));
  a.answer.then(() => setTimeout(gone, keep), gone);
  return a;
}

/** How long the page waits, in ms, for the data that it is about to show before it draws without it. */
const patience = 400;

/** ahead requests what will be shown and waits a moment for it: drawing the page once is faster than drawing it bit by bit. */
async function ahead(paths: string[]) {
  const all = paths.map((path) => {
    const a = ask(path, 3000);
    a.users++;
    return a.answer;
  });
  await Promise.race([Promise.allSettled(all), new Promise((r) => setTimeout(r, patience))]);
}

/** The operations that the node allows this page on another machine; undefined: all that a page may do. */
let allowed: Set<string> | undefined;
const hiding = new CSSStyleSheet();
document.adoptedStyleSheets = [hiding];

/** allow hides the controls of operations that are not in the list. */
export function allow(operations?: string[]) {
  if (!operations === !allowed) return;
  allowed = operations && new Set(operations);
  hiding.replaceSync(operations ? `[data-does]:not(${operations.map((o) => `[data-does="${o}"]`).join()}){display:none!important}` : "");
}

/** may reports whether the page may call an operation of the API, given its operationId. */
export const may = (operation: string) => !allowed || allowed.has(operation);

/** away reports whether the page is open on another machine than the node's. */
export const away = () => !!allowed;

/** reachable reports whether the node answers at all. The service worker never answers this request. */
export const reachable = () => call("GET", "/v1/status").then(() => true, (e) => !(e instanceof Problem && e.status === 0));

export const get = <T>(path: string, signal?: AbortSignal) => call<T>("GET", path, undefined, signal);

/** shared is get for data that is only displayed: parts of a page that need the same data share one request. */
export function shared<T>(path: string, signal?: AbortSignal): Promise<T> {
  const a = asked.get(path) ?? ask(path);
  a.users++;
  return new Promise((done, fail) => {
    (a.answer as Promise<T>).then(done, fail);
    const leave = () => {
      fail(signal!.reason);
      if (--a.users) return;
      if (asked.get(path) === a) asked.delete(path);
      a.stop.abort();
    };
    signal?.addEventListener("abort", leave, { once: true });
  });
}
export const post = <T>(path: string, body?: unknown, signal?: AbortSignal) => call<T>("POST", path, body, signal);

/** sendFile sends a file as it is. */
export const sendFile = async <T>(path: string, file: Blob, type: string) => (await (await send("POST", path, file, undefined, type)).json()) as T;

/** fetchFile returns the answer of an API path unchanged. */
export const fetchFile = async (path: string) => (await send("GET", path)).blob();

/** media fetches a photo or a recording and returns an object URL for it. */
export async function media(id: string, signal?: AbortSignal): Promise<string> {
  const res = await send("GET", `/v1/memories/${encodeURIComponent(id)}/media`, undefined, signal);
  const blob = await res.blob();
  const type = /^(image\/(png|jpeg|gif|webp)|audio\/[\w.+-]+)$/.test(blob.type) ? blob.type : "application/octet-stream";
  return URL.createObjectURL(new Blob([blob], { type }));
}

/** begin exchanges the code of the link for a session, or continues the existing one. needs lists what will be requested first; meanwhile runs while the node answers. */
export async function begin(needs: () => string[], meanwhile: () => void) {
  const code = /^#open=([A-Z0-9]+)$/.exec(location.hash)?.[1];
  if (code) {
    history.replaceState(null, "", location.pathname);
    const exchanged = fetch("/session", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ code }) });
    meanwhile();
    const res = await exchanged;
    if (!res.ok) return become("used");
    localStorage.setItem(keyName, (await res.json()).key);
  }
  if (!localStorage.getItem(keyName)) return become("none");
  const answers = ahead(needs());
  if (!code) meanwhile();
  await answers;
  if (session === "starting") become("open");
}

/** ended shows that the session is over, and nothing of the memory: the node was locked. */
export const ended = () => become("ended");

/** leave ends the session. A setup that ends before its home was created leaves nothing behind. */
export async function leave(as: "ended" | "unmade" = "ended") {
  await send("DELETE", "/session").catch(() => undefined);
  become(as);
}

/** watch calls f whenever something has changed on the node, until it is stopped. */
export function watch(f: () => void, alive: (ok: boolean) => void): () => void {
  const stop = new AbortController();
  const told = () => (fresh(), f());
  void (async () => {
    let first = true;
    let away = false;
    for (let wait = 500; !stop.signal.aborted; wait = Math.min(wait * 2, 15000)) {
      try {
        const res = await send("GET", "/v1/live", undefined, stop.signal);
        const reader = res.body!.pipeThrough(new TextDecoderStream()).getReader();
        wait = 250;
        alive(true);
        if (away) told(); // changes that came while the page was not listening
        away = false;
        for (let rest = ""; ; ) {
          const { value, done } = await reader.read();
          if (done) break;
          const events = (rest + value).split("\n\n");
          rest = events.pop()!;
          if (events.some((e) => e.startsWith("event: change"))) {
            if (!first) told();
            first = false;
          }
        }
      } catch (e) {
        if (e instanceof Problem && e.status === 401) return;
      }
      if (stop.signal.aborted) return;
      alive(false);
      away = true;
      await new Promise((r) => setTimeout(r, wait));
    }
  })();
  return () => stop.abort();
}
