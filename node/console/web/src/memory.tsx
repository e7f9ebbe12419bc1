// A memory's own page: its content, its sources and its history.

import { useState } from "preact/hooks";
import { call, post } from "./api";
import { Quote } from "./ask";
import { forget } from "./forget";
import { mediumDate, moment, said, t } from "./i18n";
import { dateOf } from "./i18n";
import { Icon } from "./icons";
import { Steps, titleOf } from "./memories";
import type { Change, Memory, Why } from "./types";
import { asProblem, changes, Empty, Failure, iconOf, isPhoto, isSound, Photo, plainText, Sound, T, tell, tellError, useLoaded, Waiting } from "./widgets";
import { WhereIs } from "./where";

export function MemoryPage({ id }: { id: string }) {
  const { value: why, error } = useLoaded<Why>(`/v1/memories/${encodeURIComponent(id)}/why`);
  const [edits, edit] = useState(false);
  if (error?.is("not-found"))
    return (
      <Empty icon="why" title={t("memory.gone")}>
        <a class="button" href="/memories">
          {t("nav.memories")}
        </a>
      </Empty>
    );
  if (error)
    return (
      <>
        <Failure error={error} />
        {error.is("cold") && <WhereIs id={id} />}
      </>
    );
  if (!why) return <Waiting />;
  const m = why.memory;
  return (
    <div class="page memory">
      <a class="back" href={`/memories/${m.type}`}>
        <Icon name="left" size={14} /> {t(`kind.${m.type}`)}
      </a>
      {edits ? <Edit m={m} close={() => edit(false)} /> : <Head m={m} />}
      {!edits && <Actions m={m} edit={() => edit(true)} />}
      {!!m.conflict?.length && (
        <p class="notice warn">
          <Icon name="warn" />
          <a href="/review">{t("memory.disputed")}</a>
        </p>
      )}
      <Facts m={m} />
      {isPhoto(m) && <Photo memory={m} large />}
      {isSound(m) && <Sound memory={m} label={t("sound.play")} />}
      {!!m.fields?.procedural?.steps?.length && (
        <section class="panel">
          <h2>{t("memory.steps")}</h2>
          <Steps m={m} />
        </section>
      )}
      {m.fields?.resource?.content && (
        <section class="panel">
          <h2>{t("memory.content")}</h2>
          <p class="content">
            <T text={m.fields.resource.content} most={20000} />
          </p>
        </section>
      )}
      <section>
        <h2>{t("memory.evidence")}</h2>
        {(why.evidence ?? []).map((e, i) => (
          <Quote key={i} evidence={e} text={e.excerpt} />
        ))}
        {!why.evidence?.length && <p class="muted">{t("memory.noEvidence")}</p>}
      </section>
      {(why.replaced?.length || why.into) && (
        <section>
          <h2>{t("memory.changed")}</h2>
          <ol class="chain">
            {why.replaced?.map((r) => (
              <li key={r.id}>
                <span class="muted">{r.text === m.text ? t("memory.same") : t("memory.before")}</span>
                <a href={`/memory/${r.id}`}>
                  <T text={r.text} most={300} />
                </a>
              </li>
            ))}
            <li class="now">
              <span class="muted">{t("memory.this")}</span>
              <T text={m.text} most={300} />
            </li>
            {why.into && (
              <li>
                <span class="muted">{m.repeats ? t("memory.same") : t("memory.after")}</span>
                <a href={`/memory/${why.into.id}`}>
                  <T text={why.into.text} most={300} />
                </a>
              </li>
            )}
          </ol>
        </section>
      )}
      <WhereIs id={m.id} />
      <section>
        <h2>{t("memory.history")}</h2>
        <ol class="history">
          {why.history.filter((c) => c.memory === m.id).map((c) => (
            <Changed key={c.seq} c={c} />
          ))}
        </ol>
      </section>
    </div>
  );
}

function Head({ m }: { m: Memory }) {
  return (
    <header class={`memory-head is-${m.state}`}>
      <span class={`card-icon large kind-${m.type}`}>
        <Icon name={iconOf(m)} size={24} />
      </span>
      <div>
        <h1>
          <T text={isSound(m) ? plainText(m) : titleOf(m)} most={1500} />
        </h1>
        <p class="badges">
          {m.pinned && <span class="badge">{t("state.pinned")}</span>}
          <State m={m} />
          {m.cold && <span class="badge">{t("state.cold")}</span>}
          {m.categories?.map((c) => (
            <a key={c} class="badge" href={"/memories?category=" + encodeURIComponent(c)}>
              <T text={said("category", c)} most={40} />
            </a>
          ))}
        </p>
      </div>
    </header>
  );
}

/** State says whether a memory is still current. */
const State = ({ m }: { m: Memory }) => (m.state === "active" ? null : <span class="badge warn">{m.repeats ? t("state.repeated") : t(`state.${m.state as "superseded" | "archived"}`)}</span>);

const patch = (id: string, body: unknown) => call<Memory>("PATCH", `/v1/memories/${id}`, body);

function Actions({ m, edit }: { m: Memory; edit: () => void }) {
  const did = (text: string, undo?: () => Promise<unknown>) => (changes(), tell({ text, undo }));
  const pin = () =>
    post(`/v1/memories/${m.id}/${m.pinned ? "unpin" : "pin"}`).then(
      () => did(m.pinned ? t("did.unpinned") : t("did.pinned"), () => post(`/v1/memories/${m.id}/${m.pinned ? "pin" : "unpin"}`)),
      tellError,
    );
  const archived = m.state === "archived";
  const archive = () =>
    patch(m.id, { archived: !archived }).then(() => did(archived ? t("did.unarchived") : t("did.archived"), () => patch(m.id, { archived })), tellError);
  return (
    <div class="actions" role="group" aria-label={t("memory.actions")}>
      <button type="button" class="button" aria-pressed={!!m.pinned} onClick={pin}>
        <Icon name="pin" size={16} /> {m.pinned ? t("do.unpin") : t("do.pin")}
      </button>
      {m.type !== "vault" && m.state !== "superseded" && (
        <button type="button" class="button" onClick={edit}>
          <Icon name="edit" size={16} /> {t("do.correct")}
        </button>
      )}
      {m.state !== "superseded" && (
        <button type="button" class="button" onClick={archive}>
          <Icon name="archive" size={16} /> {archived ? t("do.unarchive") : t("do.archive")}
        </button>
      )}
      <button type="button" class="button danger" onClick={() => forget({ ids: [m.id] }, `/memories/${m.type}`)}>
        <Icon name="forget" size={16} /> {t("do.forget")}
      </button>
    </div>
  );
}

/** The parts of a memory that can be corrected here. */
const saysOf = (m: Memory) => ({ text: m.text, value: m.slot?.value ?? "" });

/** Edit corrects a memory. */
export function Edit({ m, close }: { m: Memory; close: () => void }) {
  const [read] = useState(saysOf(m)); // as it was when the wearer began to edit
  const [text, set] = useState(read.text);
  const [value, setValue] = useState(read.value);
  const [busy, work] = useState(false);
  const slot = m.slot && m.type !== "resource" ? m.slot : undefined;
  const now = saysOf(m);
  const changed = now.text !== read.text || now.value !== read.value;
  async function save(was: typeof now) {
    const body: Record<string, unknown> = {};
    const back: Record<string, unknown> = {};
    if (text.trim() !== was.text) (body.text = text.trim()), (back.text = was.text);
    if (slot && value !== was.value) (body.value = value), (back.value = was.value);
    if (!Object.keys(body).length) return close();
    work(true);
    try {
      const said = saysOf(await patch(m.id, { ...body, was }));
      close();
      changes();
      tell({ text: t("did.corrected"), undo: () => patch(m.id, { ...back, was: said }) });
    } catch (e) {
      work(false);
      if (asProblem(e).is("changed")) changes(); // the current text is shown beside what was written here
      else tellError(e);
    }
  }
  return (
    <form
      class="edit panel"
      onSubmit={(e) => (e.preventDefault(), changed || void save(read))}
      onKeyDown={(e) => e.key === "Escape" && close()}
    >
      <label>
        {t("edit.text")}
        <textarea rows={3} autofocus value={text} onInput={(e) => set(e.currentTarget.value)} required />
      </label>
      {slot && (
        <label>
          {t("edit.value", { what: slot.attribute.replaceAll("_", " ") })}
          <input value={value} onInput={(e) => setValue(e.currentTarget.value)} />
        </label>
      )}
      {m.state !== "active" && (
        <p>
          <State m={m} />
        </p>
      )}
      {changed && (
        <div class="notice bad meanwhile" role="alert">
          <Icon name="warn" />
          <div>
            <strong>{t("edit.changed")}</strong>
            <dl>
              <dt>{t("edit.theirs")}</dt>
              <dd>
                <Says of={now} slot={!!slot} />
              </dd>
              <dt>{t("edit.mine")}</dt>
              <dd>
                <Says of={{ text, value }} slot={!!slot} />
              </dd>
            </dl>
            <div class="actions">
              <button type="button" class="button" disabled={busy || !text.trim()} onClick={() => save(now)}>
                {t("edit.keepMine")}
              </button>
              <button type="button" class="button" onClick={close}>
                {t("edit.takeTheirs")}
              </button>
            </div>
          </div>
        </div>
      )}
      <div class="actions">
        <button class="button solid" disabled={busy || changed || !text.trim()}>
          {t("edit.save")}
        </button>
        <button type="button" class="button" onClick={close}>
          {t("cancel")}
        </button>
        <span class="muted">{t("edit.says")}</span>
      </div>
    </form>
  );
}

function Says({ of, slot }: { of: { text: string; value: string }; slot: boolean }) {
  return (
    <>
      <T text={of.text} most={1500} />
      {slot && of.value && (
        <span class="muted">
          {" · "}
          <T text={of.value} most={300} />
        </span>
      )}
    </>
  );
}

function Facts({ m }: { m: Memory }) {
  const e = m.fields?.episodic;
  const rows: [string, string][] = [];
  // A plan for a whole day has its date as it was said, maybe in another zone, and no hour.
  if (e?.started) rows.push([t("fact.when"), /^\d{4}-\d\d-\d\d$/.test(m.slot?.value ?? "") ? mediumDate(m.slot!.value) : moment(e.started)]);
  if (e?.place) rows.push([t("fact.where"), e.place]);
  if (e?.actor) rows.push([t("fact.who"), e.actor]);
  if (m.true_from) rows.push([t("fact.since"), mediumDate(dateOf(m.true_from))]);
  if (m.true_to) rows.push([t("fact.until"), m.type === "resource" ? moment(m.true_to) : mediumDate(dateOf(m.true_to))]);
  if (m.entities?.length) rows.push([t("fact.names"), m.entities.map((x) => x.name).join(", ")]);
  rows.push([t("fact.heard"), t("fact.times", { n: m.heard })]);
  rows.push([t("fact.sure"), t(m.confidence >= 0.85 ? "sure.high" : m.confidence >= 0.6 ? "sure.some" : "sure.low")]);
  rows.push([t("fact.by"), said("by", m.source.plugin ?? "") + (m.source.device && m.source.device !== "api" ? " · " + m.source.device : "")]);
  rows.push([t("fact.learnt"), moment(m.learnt)]);
  rows.push([t("fact.kept"), t(m.cold ? "fact.elsewhere" : "fact.here")]);
  return (
    <dl class="facts">
      {rows.map(([name, v]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <T text={v} most={300} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Changed({ c }: { c: Change }) {
  return (
    <li>
      <time dateTime={c.at}>{moment(c.at)}</time>
      <div>
        <strong>{said("change", c.event)}</strong>
        {c.old && c.event === "NOOP" && (
          <p>
            <T text={c.old} most={400} />
          </p>
        )}
        {c.old && c.event !== "NOOP" && c.old !== c.new && (
          <p>
            <del>
              <T text={c.old} most={400} />
            </del>
          </p>
        )}
        {c.new && (
          <p>
            <ins>
              <T text={c.new} most={400} />
            </ins>
          </p>
        )}
        <p class="muted">{said("by", c.by.plugin ?? "")}</p>
      </div>
    </li>
  );
}
