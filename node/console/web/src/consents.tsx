// Consents: requests that a rule shows the wearer before something is given out, and the wearer's decisions.

import { useState } from "preact/hooks";
import { Afar } from "./afar";
import { post } from "./api";
import { moment, said, t } from "./i18n";
import { Icon } from "./icons";
import { More } from "./more";
import { Own, Seen, Texts } from "./seen";
import type { Kind } from "./types";
import { Passphrase } from "./vault";
import { asProblem, changes, Failure, kindIcon, T, tell, tellError, useLoaded, useSteady, Waiting } from "./widgets";

interface Item {
  id: string;
  type: Kind;
  text: string;
  was?: string;
  beyond?: string[]; // a document's content, details, steps
  mark: string;
}

interface Consent {
  id: string;
  who: string; // reader:NAME, app:NAME, worker:NAME or buyer
  action: string;
  purpose?: string;
  rule: string;
  words: string;
  redacted?: boolean;
  asked: number;
  last: string;
  waits: Item[];
  more?: boolean;
  lapses?: string;
  most: string; // 30d, 24h
  answer?: "allowed" | "refused";
  until?: string;
  all?: boolean;
  shown?: Item[];
}

/** How many memories of one request are shown before "show all" is pressed. */
const few = 20;

export function ConsentsPage() {
  const { value, error } = useLoaded<{ consents: Consent[] }>("/v1/consents");
  const waits = useSteady(value?.consents.filter((c) => c.waits.length > 0) ?? [], (c) => c.id);
  const answered = value?.consents.filter((c) => c.answer) ?? [];
  return (
    <div class="page consents">
      <a class="back" href="/sharing">
        <Icon name="left" size={14} /> {t("nav.sharing")}
      </a>
      <header class="page-head">
        <h1>{t("consent.title")}</h1>
        <p class="muted">{t("consent.says")}</p>
      </header>
      {error && <Failure error={error} />}
      {!value && !error && <Waiting />}
      {value && !waits.length && (
        <p class="notice good">
          <Icon name="check" /> {t("consent.none")}
        </p>
      )}
      {waits.map((c) => (
        <Question key={c.id} consent={c} />
      ))}
      {answered.length > 0 && (
        <section class="panel">
          <h2>{t("consent.answered")}</h2>
          <ul class="rows">
            {answered.map((c) => (
              <Answered key={c.id} consent={c} />
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

/** nameOf says who asks: an app by its name, and so on. */
function nameOf(who: string): string {
  const [kind, ...name] = who.split(":");
  return name.length ? `${name.join(":").slice(0, 60)} (${said("party", kind === "reader" ? "person" : kind)})` : said("consent.who", kind);
}

const answer = (id: string, body: object) => post<Consent>(`/v1/consents/${id}`, body);

function Question({ consent: c }: { consent: Consent }) {
  const [busy, work] = useState(false);
  const [closed, wait] = useState<object>(); // the consent that waits until the vault is open
  const who = nameOf(c.who);
  const [shown, show] = useState(c.waits);
  const seen = shown.filter((w) => c.waits.some((now) => now.id === w.id)); // what was forgotten since is gone
  const came = c.waits.filter((now) => !shown.some((w) => w.id === now.id && w.mark === now.mark && w.text === now.text)).length; // what came or changed since
  // The wearer allows exactly what was shown: the marks tell the node what that was.
  const say = (act: "allow" | "refuse") => (e: SubmitEvent | MouseEvent) => {
    e.preventDefault();
    const form = (e.currentTarget as HTMLElement).closest("form")!;
    const field = (name: string) => form.elements.namedItem(name) as HTMLInputElement;
    void send({
      act,
      for: field("for").value || undefined,
      ...(act === "allow" && { remember: !came && field("remember")?.checked, of: seen.map((w) => ({ id: w.id, mark: w.mark })) }),
    });
  };
  const send = async (body: object) => {
    work(true);
    try {
      const now = await answer(c.id, body).catch((e) => {
        if (!asProblem(e).is("vault-locked")) throw e;
        return post("/v1/vault/unlock", { ttl: c.most }).then(() => answer(c.id, body));
      });
      tell({ text: t(now.answer === "allowed" ? "consent.allowed" : "consent.refused", { who, until: moment(now.until!) }) });
      changes();
    } catch (e) {
      if (asProblem(e).is("wrong-passphrase")) return wait(body);
      tellError(e);
      changes(); // it may have changed since
    } finally {
      work(false);
    }
  };
  return (
    <>
      <form class="panel consent" aria-label={t("consent.of", { who })} onSubmit={say("allow")}>
        <h2>
          {t(`consent.act.${c.action}` as "consent.act.read", { who })}
          {c.purpose && (
            <span class="muted">
              {" "}
              · <T text={c.purpose} most={300} />
            </span>
          )}
        </h2>
        <p class="muted">
          {t("consent.asked", { n: c.asked, at: moment(c.last) })}
          {c.lapses && " " + t("consent.lapses", { at: moment(c.lapses) })}
        </p>
        <p>
          <Icon name="lock" size={14} /> <T text={c.words} most={400} />
        </p>
        {seen.length > 0 && <h3>{t(c.action === "buy" ? "consent.goods" : "consent.shows", { n: seen.length })}</h3>}
        <Items items={seen} />
        {c.more && <p class="muted">{t("consent.more")}</p>}
        {c.action === "buy" && <p class="notice">{t("consent.buySays")}</p>}
        <div class="actions">
          <label>
            {t("consent.for")}{" "}
            <select name="for">
              <option value="">{t("consent.most", { most: lastsFor(c.most) })}</option>
              {["1h", "1d", "7d", "30d"].filter((d) => hoursOf(d) < hoursOf(c.most)).map((d) => (
                <option key={d} value={d}>
                  {lastsFor(d)}
                </option>
              ))}
            </select>
          </label>
          {c.action !== "buy" && c.action !== "reveal" && (
            <label class="check">
              <input type="checkbox" name="remember" disabled={came > 0} /> {t("consent.remember")}
            </label>
          )}
        </div>
        <Afar does="answerConsent" by="locket consent" />
        <div class="actions" data-does="answerConsent">
          <button class="button solid" disabled={busy || !seen.length}>
            {t("consent.yes")}
          </button>
          <button type="button" class="button" data-act="refuse" disabled={busy} onClick={say("refuse")}>
            {t("consent.no")}
          </button>
        </div>
        {came > 0 && ( // below the buttons, so that it moves none
          <div class="notice warn came" role="status">
            <span>{t("consent.came", { n: came })}</span>
            <button type="button" class="button small" onClick={() => show(c.waits)}>
              {t("consent.see")}
            </button>
          </div>
        )}
      </form>
      {closed && <Passphrase close={() => wait(undefined)} done={() => (wait(undefined), void send(closed))} />}
    </>
  );
}

function Items({ items }: { items: Item[] }) {
  const [all, show] = useState(false);
  return (
    <>
      <ul class="rows">
        {items.slice(0, all ? undefined : few).map((w) => (
          <li key={w.id}>
            <Icon name={kindIcon[w.type] ?? "share"} size={16} />
            <span class="rows-text">
              {w.text ? <Seen text={w.text} /> : <span class="muted">{t("consent.nothing")}</span>}
              {w.was && (
                <span class="row-says muted">
                  {t("consent.was")} <Own was={w.was.slice(0, 2000)} text={w.text} />
                </span>
              )}
              <Texts all={w.beyond ?? []} />
            </span>
          </li>
        ))}
      </ul>
      {items.length > few && !all && (
        <More show={() => show(true)}>{t("consent.all", { n: items.length })}</More>
      )}
    </>
  );
}

function Answered({ consent: c }: { consent: Consent }) {
  const who = nameOf(c.who);
  const refuse = () =>
    answer(c.id, { act: "refuse" }).then((now) => {
      tell({ text: t("consent.refused", { who, until: moment(now.until!) }) });
      changes();
    }, tellError);
  return (
    <li>
      <span class="rows-text">
        <strong>
          <T text={who} most={100} />
        </strong>{" "}
        <span class={`badge${c.answer === "refused" ? " warn" : ""}`}>{t(c.answer === "allowed" ? "consent.isAllowed" : "consent.isRefused")}</span>
        <span class="row-says muted">
          <T text={[c.words, c.all ? t("consent.allLater") : "", c.until ? t("consent.until", { at: moment(c.until) }) : ""].filter(Boolean).join(" · ")} most={500} />
        </span>
        {!!c.shown?.length && (
          <details>
            <summary>{t("consent.shown", { n: c.shown.length })}</summary>
            <Items items={c.shown} />
          </details>
        )}
      </span>
      {c.answer === "allowed" && (
        <button type="button" class="button small danger" data-does="answerConsent" aria-label={`${t("consent.back")}: ${who}`} onClick={refuse}>
          {t("consent.back")}
        </button>
      )}
    </li>
  );
}

/** hoursOf reads a length of time as the node writes it: 30d, 24h, 1h30m. */
function hoursOf(d: string): number {
  let n = 0;
  for (const [, v, unit] of d.matchAll(/([\d.]+)([dhms])/g)) n += Number(v) * { d: 24, h: 1, m: 1 / 60, s: 1 / 3600 }[unit]!;
  return n;
}

function lastsFor(d: string): string {
  const h = hoursOf(d);
  return h >= 24 && h % 24 === 0 ? t("consent.days", { n: h / 24 }) : h >= 1 ? t("consent.hours", { n: Math.round(h * 10) / 10 }) : t("time.minutes", { n: Math.round(h * 60) });
}
