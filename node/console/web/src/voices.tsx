// Voices: those that the node can tell apart, naming unknown ones, and learning one.

import { useEffect, useRef, useState } from "preact/hooks";
import { Afar } from "./afar";
import { call, get, post } from "./api";
import { moment, reasonOf, t } from "./i18n";
import { Icon } from "./icons";
import { base64, record, wavOf } from "./microphone";
import type { Memory } from "./types";
import { asProblem, changes, Dialog, Failure, isSound, Sound, T, tell, tellError, useLoaded } from "./widgets";

interface Voice {
  name: string;
  wearer?: boolean;
  known: boolean;
  seconds: number; // of speech
  learnt: string;
  heard?: string;
}

interface Voices {
  voices: Voice[];
  enrolling?: { name: string; device: string; have: number; want: number; until: string };
  failed?: string;
  known_only: boolean;
}

export function VoicesPanel() {
  const { value, error, again } = useLoaded<Voices>("/v1/voices");
  const [asked, ask] = useState<{ voice: Voice; forget: boolean }>();
  const [learning, learn] = useState(false);
  const e = value?.enrolling;
  useEffect(() => {
    if (!e) return;
    const timer = setInterval(again, 1000);
    return () => clearInterval(timer);
  }, [!!e]);
  if (error?.is("unsupported")) return null;
  const list = value?.voices ?? [];
  const done = (text: string) => {
    ask(undefined);
    learn(false);
    again();
    changes();
    tell({ text });
  };
  const submit = (ev: SubmitEvent) => {
    ev.preventDefault();
    const { voice, forget } = asked!;
    const path = "/v1/voices/" + encodeURIComponent(voice.name);
    if (forget) return void call("DELETE", path).then(() => done(t("voices.forgotten", { name: voice.name })), tellError);
    const name = String(new FormData(ev.currentTarget as HTMLFormElement).get("name")).trim();
    call("PUT", path, { name }).then(() => done(t("voices.named", { name })), tellError);
  };
  return (
    <section class="panel voices">
      <h2 data-act="voices" tabIndex={-1}>
        {t("voices.title")}
      </h2>
      <p class="muted">{t("voices.says")}</p>
      {error && <Failure error={error} />}
      {value && !e && !list.some((v) => v.wearer) && (
        <p class="notice">
          <Icon name="sound" />
          {t("voices.none")}
        </p>
      )}
      {value?.known_only && <p class="muted">{t("voices.knownOnly")}</p>}
      {value?.failed && (
        <p class="notice bad" role="alert">
          <Icon name="warn" />
          <T text={value.failed} most={300} />
        </p>
      )}
      {e && (
        <div class="notice" role="status">
          <Icon name="sound" />
          <div>
            <T text={t("voices.hears", { device: e.device, have: Math.floor(e.have), want: Math.ceil(e.want) })} most={200} />
            <progress class="track" max={e.want} value={e.have} aria-label={t("voices.progress")} />
          </div>
        </div>
      )}
      <ul class="rows">
        {list.map((v) => (
          <li key={v.name}>
            <Heard name={v.name} />
            <span class="rows-text">
              <strong>
                <T text={v.name} most={60} />
              </strong>{" "}
              {v.wearer ? <span class="badge">{t("voices.you")}</span> : !v.known && <span class="badge warn">{t("voices.unknown")}</span>}
              <span class="row-says muted">
                {t("voices.of", { n: Math.round(v.seconds) })} · {v.known ? t("voices.learnt", { at: moment(v.learnt) }) : t("voices.heard", { at: moment(v.heard ?? v.learnt) })}
              </span>
            </span>
            {!v.wearer && (
              <button type="button" class="button small" data-does="nameVoice" aria-label={`${v.known ? t("voices.rename") : t("voices.name")}: ${v.name.slice(0, 60)}`} onClick={() => ask({ voice: v, forget: false })}>
                {v.known ? t("voices.rename") : t("voices.name")}
              </button>
            )}
            <button type="button" class="button small danger" data-does="forgetVoice" aria-label={`${t("voices.forget")}: ${v.name.slice(0, 60)}`} onClick={() => ask({ voice: v, forget: true })}>
              {t("voices.forget")}
            </button>
          </li>
        ))}
      </ul>
      <Afar does="enrolVoice" by="locket voice" />
      <div class="actions">
        <button type="button" class="button" data-does="enrolVoice" data-act="enrol" onClick={() => learn(true)}>
          {t("voices.learn")}
        </button>
      </div>
      {learning && <Learn close={() => learn(false)} done={done} />}
      {asked && (
        <Dialog title={asked.forget ? t("voices.forget") : t("voices.name")} close={() => ask(undefined)}>
          <form class="edit" onSubmit={submit}>
            <p>
              <T text={asked.voice.name} most={60} />
            </p>
            <p class="muted">{asked.forget ? t("voices.forgetSays") : t("voices.nameSays")}</p>
            {!asked.forget && (
              <label>
                {t("voices.whose")} <input name="name" required maxLength={80} defaultValue={asked.voice.known ? asked.voice.name : ""} autocomplete="off" autofocus />
              </label>
            )}
            <footer>
              <button type="button" class="button" onClick={() => ask(undefined)}>
                {t("cancel")}
              </button>
              <button class={`button solid${asked.forget ? " danger" : ""}`}>{asked.forget ? t("voices.forget") : t("voices.nameDo")}</button>
            </footer>
          </form>
        </Dialog>
      )}
    </section>
  );
}

/** Heard plays the latest recording of a voice that is still stored. */
function Heard({ name }: { name: string }) {
  const [of, set] = useState<Memory>();
  useEffect(() => {
    const stop = new AbortController();
    get<{ memories: Memory[] }>("/v1/memories?type=resource&limit=10&filters=" + encodeURIComponent(JSON.stringify({ speaker: name })), stop.signal).then(
      (l) => set(l.memories.find(isSound)),
      () => undefined, // if the search fails, nothing plays
    );
    return () => stop.abort();
  }, [name]);
  return of ? <Sound memory={of} label={t("voices.hear", { name: name.slice(0, 60) })} small /> : <Icon name="sound" size={16} />;
}

/** How long to read aloud, and at most, in seconds. */
const want = 30;
const most = 120;

/** Learn learns a voice from the microphone, a file or a wearable. */
function Learn({ close, done }: { close: () => void; done: (text: string) => void }) {
  const devices = useLoaded<{ devices: { name: string; connected: boolean }[] }>("/v1/devices");
  const [since, begin] = useState<number>();
  const [now, tick] = useState(0);
  const [busy, work] = useState(false);
  const [bad, fail] = useState("");
  const form = useRef<HTMLFormElement>(null);
  const mic = useRef<Awaited<ReturnType<typeof record>>>();
  useEffect(() => () => mic.current?.drop(), []);
  useEffect(() => {
    if (since === undefined) return;
    const timer = setInterval(() => tick(Date.now()), 250);
    return () => clearInterval(timer);
  }, [since]);
  const secs = since === undefined ? 0 : Math.max(0, Math.floor((now - since) / 1000));
  const send = async (body: { sound?: string; device?: string }) => {
    const name = String(new FormData(form.current!).get("name")).trim();
    await post("/v1/voices", { name: name || undefined, ...body });
    done(body.device ? t("voices.listens") : t("voices.isLearnt"));
  };
  const run = (f: () => Promise<unknown>, unheard: string) => {
    work(true);
    fail("");
    f()
      .catch((e) => fail(e instanceof DOMException ? unheard : reasonOf(asProblem(e))))
      .finally(() => work(false));
  };
  const start = () =>
    run(async () => {
      mic.current = await record();
      tick(Date.now());
      begin(Date.now());
    }, t("voices.noMic"));
  const stop = () =>
    run(async () => {
      const m = mic.current!;
      mic.current = undefined;
      begin(undefined);
      await send({ sound: base64(await wavOf(await m.stop())) });
    }, t("voices.noSound"));
  useEffect(() => {
    if (secs >= most) stop();
  }, [secs]);
  const file = (f?: File) => f && run(async () => send({ sound: base64(await wavOf(f)) }), t("voices.noSound"));
  const on = devices.value?.devices.filter((d) => d.connected) ?? [];
  return (
    <Dialog title={t("voices.learn")} close={close}>
      <form class="fields" ref={form} onSubmit={(e) => e.preventDefault()}>
        <p>{t("voices.learnSays")}</p>
        <label>
          {t("voices.whoseElse")}
          <input name="name" maxLength={80} placeholder={t("voices.mine")} autocomplete="off" />
        </label>
        <blockquote class="muted">{t("voices.read")}</blockquote>
        <div class="actions">
          {since === undefined ? (
            <button type="button" class="button solid" disabled={busy} onClick={start} autofocus>
              {busy ? t("wait") : t("voices.record")}
            </button>
          ) : (
            <button type="button" class="button solid" onClick={stop}>
              {t("voices.enough")}
            </button>
          )}
          {since !== undefined && (
            <span role="timer" class="muted" data-secs={secs}>
              {t("voices.secs", { n: secs, want })}
            </span>
          )}
        </div>
        {since !== undefined && <progress class="track" max={want} value={Math.min(want, secs)} aria-label={t("voices.progress")} />}
        <label>
          {t("voices.file")}
          <input name="file" type="file" accept="audio/*" disabled={busy} onChange={(e) => file(e.currentTarget.files?.[0])} />
        </label>
        {on.length > 0 && (
          <div class="field">
            <p class="field-name">{t("voices.device")}</p>
            <div class="chips">
              {on.map((d) => (
                <button key={d.name} type="button" class="chip" disabled={busy} onClick={() => run(() => send({ device: d.name }), "")}>
                  <T text={d.name} most={60} />
                </button>
              ))}
            </div>
          </div>
        )}
        {bad && (
          <p class="notice bad" role="alert">
            <Icon name="warn" />
            <T text={bad} most={300} />
          </p>
        )}
      </form>
    </Dialog>
  );
}
