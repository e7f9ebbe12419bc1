// The members of a community: adding, proposing and removing them.

import { useRef, useState } from "preact/hooks";
import { post } from "./api";
import type { Act, View } from "./community";
import { Copied } from "./given";
import { t, type Word } from "./i18n";
import { Icon } from "./icons";
import { Dialog, DialogEnd, T, tellError } from "./widgets";

export interface Member {
  member?: string;
  name: string;
  role?: "owner" | "moderator" | "member";
  words: string;
  key?: string;
  by?: string;
  you?: boolean;
  leaving?: boolean;
}

interface Part {
  view: View;
  act: Act;
  remove: (of: { what: string; name: string; person?: boolean }) => void;
}

/** A person to be added, with the words of their key. */
interface Guest {
  name: string;
  key: string;
  words: string;
  moderator: boolean;
  by?: string; // who proposed
}

/** mayPutOut reports whether the wearer may remove a member. */
const mayPutOut = (v: View, m: Member) => !m.you && m.member && (v.role === "owner" ? m.role !== "owner" : v.role === "moderator" && m.role === "member");

export function Members({ view: v, act, remove }: Part) {
  const [guest, choose] = useState<Guest>();
  const [busy, work] = useState(false);
  const fields = useRef<HTMLFormElement>(null);
  const read = (e: SubmitEvent) => {
    e.preventDefault();
    const form = new FormData(e.currentTarget as HTMLFormElement);
    work(true);
    post<{ key: string; words: string }>("/v1/communities/key", { key: String(form.get("key")) })
      .then((k) => choose({ ...k, name: String(form.get("name")).trim(), moderator: !!form.get("moderator") }), tellError)
      .finally(() => work(false));
  };
  return (
    <section class="panel pool-members">
      <h2>{t("pool.members")}</h2>
      <ul class="rows">
        {v.members.map((m) => (
          <li key={m.member}>
            <Icon name="you" size={16} />
            <span class="rows-text">
              <strong>
                <T text={m.name} most={60} />
              </strong>{" "}
              <span class="badge">{t(`pool.role.${m.role}` as Word)}</span> {m.you && <span class="badge">{t("pool.itsYou")}</span>}
              {m.leaving && <span class="badge warn">{t("pool.leaving")}</span>}
              <span class="row-says muted">
                <T text={t("share.words", { words: m.words })} most={200} />
              </span>
            </span>
            {mayPutOut(v, m) && (
              <button type="button" class="button small danger" data-does="removeFromCommunity" aria-label={t("share.putOut", { name: m.name.slice(0, 60) })} onClick={() => remove({ what: m.member!, name: m.name, person: true })}>
                {t("share.out")}
              </button>
            )}
          </li>
        ))}
      </ul>
      <details data-does="inviteToCommunity">
        <summary>{t(v.role === "member" ? "pool.propose" : "pool.invite")}</summary>
        <p class="muted">{t(v.role === "member" ? "pool.proposeSays" : "pool.inviteSays")}</p>
        <form ref={fields} class="fields" onSubmit={read}>
          <label>
            {t("pool.guest")}
            <input name="name" required maxLength={60} pattern="[^=]*" autocomplete="off" />
          </label>
          <label>
            {t("sharer.key")}
            <textarea name="key" rows={3} required spellcheck={false} placeholder="locket-member-1.…" />
          </label>
          {v.role === "owner" && (
            <label class="check">
              <input type="checkbox" name="moderator" />
              <span>
                {t("pool.moderator")}
                <span class="row-says muted">{t("pool.moderatorSays")}</span>
              </span>
            </label>
          )}
          <button class="button" disabled={busy}>
            {busy ? t("wait") : t("pool.read")}
          </button>
        </form>
        <p class="muted">{t("pool.link")}</p>
        <Copied text={v.link} name={t("share.linkName")} />
      </details>
      {guest && <LetIn guest={guest} view={v} act={act} close={() => choose(undefined)} done={() => fields.current?.reset()} />}
    </section>
  );
}

/** The people whom members proposed and who wait to be added. */
export function Waits({ view: v, act }: Omit<Part, "remove">) {
  const [guest, choose] = useState<Guest>();
  return (
    <section class="panel pool-waits">
      <h2>{t("pool.waiting")}</h2>
      <p class="muted">{t("pool.waitingSays")}</p>
      <ul class="rows">
        {v.waiting.map((m) => (
          <li key={m.words}>
            <span class="rows-text">
              <strong>
                <T text={m.name} most={60} />
              </strong>
              <span class="row-says muted">
                <T text={t("pool.proposedBy", { name: m.by ?? "" })} most={120} />
              </span>
            </span>
            {v.role !== "member" && (
              <button type="button" class="button small" data-does="inviteToCommunity" aria-label={`${t("pool.let")}: ${m.name.slice(0, 60)}`} onClick={() => choose({ name: m.name, key: m.key ?? "", words: m.words, moderator: false, by: m.by })}>
                {t("pool.let")}
              </button>
            )}
          </li>
        ))}
      </ul>
      {guest && <LetIn guest={guest} view={v} act={act} close={() => choose(undefined)} />}
    </section>
  );
}

/** LetIn asks for the words of a key to be compared before it is added. The request contains the key itself, so that no other is added. */
function LetIn({ guest: g, view: v, act, close, done }: { guest: Guest; view: View; act: Act; close: () => void; done?: () => void }) {
  const [busy, work] = useState(false);
  const submit = (e: SubmitEvent) => {
    e.preventDefault();
    work(true);
    act("POST", `/v1/communities/${v.id}/members`, { who: `${g.name.replaceAll("=", " ")}=${g.key}`, words: g.words, moderator: g.moderator || undefined }, (w) => t(w.role === "member" ? "pool.proposed" : "pool.isMember", { name: g.name }))
      .then(() => (done?.(), close()), tellError)
      .finally(() => work(false));
  };
  return (
    <Dialog title={t("sharer.compare")} close={close}>
      <form onSubmit={submit}>
        <p>
          <T text={t("pool.compareSays", { name: g.name.slice(0, 60) })} most={400} />
        </p>
        <ul class="pair-words">
          {g.words.split(" ").map((w, i) => (
            <li key={i}>{w}</li>
          ))}
        </ul>
        {g.by && (
          <p class="notice warn">
            <Icon name="warn" />
            <span>
              <T text={t("pool.other", { by: g.by.slice(0, 60) })} most={300} />
            </span>
          </p>
        )}
        <p class="muted">{t("pool.readsAll")}</p>
        <DialogEnd close={close} busy={busy} word={t(v.role === "member" ? "pool.doPropose" : "pool.let")} />
      </form>
    </Dialog>
  );
}

/** Removing removes an item or a member, or undoes a removal, with a reason that all members can read. */
export function Removing({ id, of: r, act, close }: { id: string; of: { what: string; name: string; undo?: boolean; person?: boolean }; act: Act; close: () => void }) {
  const [busy, work] = useState(false);
  const title = r.undo ? t("pool.restore") : r.person ? t("share.putOut", { name: r.name.slice(0, 60) }) : t("pool.remove");
  const submit = (e: SubmitEvent) => {
    e.preventDefault();
    work(true);
    const reason = String(new FormData(e.currentTarget as HTMLFormElement).get("reason")).trim();
    const back = (v: View) => {
      const removal = v.removed.find((i) => i.id === r.what)?.removal;
      return removal && { what: removal };
    };
    act("POST", `/v1/communities/${id}/removals`, { what: r.what, reason }, t(r.undo ? "pool.restored" : r.person ? "pool.putOut" : "pool.hidden"), r.undo || r.person ? undefined : back)
      .then(close, tellError)
      .finally(() => work(false));
  };
  return (
    <Dialog title={title} close={close}>
      <form class="fields" onSubmit={submit}>
        {!r.person && (
          <blockquote>
            <T text={r.name} most={300} />
          </blockquote>
        )}
        <p>{t(r.undo ? "pool.restoreSays" : r.person ? "pool.putOutSays" : "pool.removeSays")}</p>
        <label>
          {t("pool.reason")}
          <textarea name="reason" rows={3} required maxLength={400} autofocus />
        </label>
        <DialogEnd close={close} busy={busy} danger={!r.undo} word={r.undo ? t("pool.restore") : r.person ? t("share.out") : t("pool.remove")} />
      </form>
    </Dialog>
  );
}
