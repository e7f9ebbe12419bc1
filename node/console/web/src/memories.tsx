// Memories: what is remembered, by kind and by category.

import { useRef, useState } from "preact/hooks";
import { get, shared, type Problem } from "./api";
import { said, shortDay, t } from "./i18n";
import { Icon, type IconName } from "./icons";
import { FactTree } from "./facts";
import { Edit } from "./memory";
import { MoreNear } from "./more";
import { go } from "./router";
import type { Kind, Memory, Status, Why } from "./types";
import { Vault } from "./vault";
import { asProblem, Empty, Failure, iconOf, isPhoto, isSound, kindIcon, Photo, plainText, Sound, T, useLoaded, Waiting } from "./widgets";

const kinds: Kind[] = ["core", "semantic", "episodic", "procedural", "resource", "vault"];
const states = ["active", "superseded", "archived"] as const;

export function MemoriesPage({ view, query, status }: { view: string; query: URLSearchParams; status: Status }) {
  const kind = kinds.find((k) => k === view);
  const category = query.get("category") ?? "";
  const state = states.find((s) => s === query.get("state")) ?? "active";
  const total = Object.values(status.memories).reduce((a, b) => a + b, 0);
  const counts = (n: number) => (state === "active" ? n : undefined); // the node counts only current memories
  const tree = kind === "semantic" && state === "active" && !category && query.get("as") !== "list";
  const address = (to: { view?: string; category?: string; state?: string; as?: string }) => {
    const p = new URLSearchParams();
    const c = to.category ?? category;
    const s = to.state ?? state;
    if (c) p.set("category", c);
    if (s !== "active") p.set("state", s);
    if (to.as) p.set("as", to.as);
    const v = to.view ?? view;
    return "/memories" + (v ? "/" + v : "") + (p.size ? "?" + p : "");
  };
  return (
    <div class="page memories">
      <header class="page-head with-button">
        <div>
          <h1>{kind ? t(`kind.${kind}`) : t("nav.memories")}</h1>
          <p class="muted">{kind ? t(`about.${kind}`) : t("about.all")}</p>
        </div>
        {!kind && (
          <a class="button" href="/import">
            {t("import.title")}
          </a>
        )}
      </header>
      <nav class="tabs" aria-label={t("kinds.label")}>
        <Tab to={address({ view: "" })} here={!kind} icon="memories" name={t("kind.all")} n={counts(total)} />
        {kinds.map((k) => (
          <Tab key={k} to={address({ view: k, category: "" })} here={k === kind} icon={kindIcon[k]} name={t(`kind.${k}`)} n={counts(status.memories[k] ?? 0)} />
        ))}
      </nav>
      {kind === "semantic" && state === "active" && (
        <div class="chips" role="group" aria-label={t("facts.as")}>
          <a class="chip" href={address({ category: "" })} aria-current={tree ? "page" : undefined}>
            {t("facts.tree")}
          </a>
          <a class="chip" href={address({ as: "list" })} aria-current={tree ? undefined : "page"}>
            {t("facts.list")}
          </a>
        </div>
      )}
      {kind === "vault" ? (
        <Vault />
      ) : tree ? (
        <FactTree />
      ) : (
        <div class="memories-grid">
          <Categories here={category} address={(c) => address({ category: c, as: kind === "semantic" ? "list" : undefined })} />
          <div>
            <div class="chips" role="group" aria-label={t("states.label")}>
              {states.map((s) => (
                <button key={s} type="button" class="chip" aria-pressed={s === state} onClick={() => go(address({ state: s, as: kind === "semantic" && s === "active" ? "list" : undefined }), true)}>
                  {t(`states.${s}`)}
                </button>
              ))}
            </div>
            <List key={[kind, category, state].join()} kind={kind} category={category} state={state} />
          </div>
        </div>
      )}
    </div>
  );
}

function Tab({ to, here, icon, name, n }: { to: string; here: boolean; icon: IconName; name: string; n?: number }) {
  return (
    <a href={to} aria-current={here ? "page" : undefined}>
      <Icon name={icon} size={16} /> {name} {n !== undefined && <span class="count">{n}</span>}
    </a>
  );
}

function Categories({ here, address }: { here: string; address: (c: string) => string }) {
  const { value } = useLoaded<{ categories: { name: string; memories: number }[] }>("/v1/categories");
  const list = value?.categories.filter((c) => c.memories > 0 || c.name === here) ?? [];
  const most = Math.max(1, ...list.map((c) => c.memories));
  return (
    <nav class="categories" aria-label={t("categories.label")}>
      <a href={address("")} aria-current={!here ? "page" : undefined}>
        {t("categories.all")}
      </a>
      {list.map((c) => (
        <a key={c.name} href={address(c.name)} aria-current={c.name === here ? "page" : undefined}>
          <T text={said("category", c.name)} most={40} />
          <span class="count">{c.memories}</span>
          <i class="meter" aria-hidden="true">
            <i style={{ width: `${(c.memories / most) * 100}%` }} />
          </i>
        </a>
      ))}
    </nav>
  );
}

interface Page {
  memories: Memory[];
  next?: string;
  cold?: number;
}

/** List shows memories page by page; by is a filter in JSON. */
export function List({ kind, category, state, by }: { kind?: Kind; category: string; state: string; by?: object }) {
  const p = new URLSearchParams({ limit: "60", state });
  if (kind) p.set("type", kind);
  if (category || by) p.set("filters", JSON.stringify(by ?? { categories: category }));
  const path = "/v1/memories?" + p;
  const after = (page: Page) => path + "&cursor=" + encodeURIComponent(page.next!);
  const wanted = useRef(1); // number of pages shown: after a change all are loaded again, so that no row in view disappears
  const load = async (path: string, signal: AbortSignal) => {
    const pages = [await shared<Page>(path, signal)];
    while (pages.length < wanted.current && pages.at(-1)!.next) pages.push(await get<Page>(after(pages.at(-1)!), signal));
    return pages;
  };
  const loaded = useLoaded<Page[]>(path, { load });
  const [more, set] = useState<{ of?: Page[]; pages: Page[]; error?: Problem }>({ pages: [] });
  const busy = useRef(false);
  if (loaded.error) return <Failure error={loaded.error} />;
  if (!loaded.value) return <Waiting />;
  const later = more.of === loaded.value ? more.pages : []; // those of an earlier list are loaded again with it
  const pages = [...loaded.value, ...later];
  const last = pages.at(-1)!;
  async function loadMore() {
    if (busy.current) return;
    busy.current = true;
    wanted.current = pages.length + 1;
    try {
      const page = await get<Page>(after(last));
      set({ of: loaded.value, pages: [...later, page] });
    } catch (e) {
      set({ of: loaded.value, pages: later, error: asProblem(e) });
    } finally {
      busy.current = false;
    }
  }
  const list = pages.flatMap((p) => p.memories).filter((m) => kind || m.type !== "vault");
  if (!list.length && kind !== "core") return <Nothing kind={kind} />;
  const view = kind === "resource" ? <Gallery list={list} /> : kind === "procedural" ? <Guides list={list} /> : kind === "core" ? <Blocks list={list} /> : <Rows list={list} />;
  return (
    <div>
      {view}
      {last.next && !more.error && <MoreNear show={loadMore} />}
      {more.error && <Failure error={more.error} />}
      {!!pages[0].cold && <p class="muted">{t("list.cold", { n: pages[0].cold })}</p>}
    </div>
  );
}

const Nothing = ({ kind }: { kind?: Kind }) => (
  <Empty icon={kind ? kindIcon[kind] : "memories"} title={t("list.empty")}>
    <p>{kind === "core" ? t("list.emptyCore") : t("list.emptyHow")}</p>
  </Empty>
);

function Rows({ list }: { list: Memory[] }) {
  return (
    <ul class="rows">
      {list.map((m) => (
        <li key={m.id}>
          <RowLink m={m} />
        </li>
      ))}
    </ul>
  );
}

const RowLink = ({ m }: { m: Memory }) => (
  <a href={`/memory/${m.id}`} class={`is-${m.state}`}>
    <span class={`card-icon kind-${m.type}`}>
      <Icon name={iconOf(m)} size={16} />
    </span>
    <span class="rows-text">
      <T text={plainText(m)} most={220} />
    </span>
    {m.pinned && <Icon name="pin" size={14} />}
    <span class="rows-when">{shortDay(m.evidence?.[0]?.at ?? m.learnt)}</span>
  </a>
);

function Gallery({ list }: { list: Memory[] }) {
  return (
    <ul class="gallery">
      {list.map((m) => (
        <li key={m.id}>
          {isSound(m) ? (
            <div class="tile sound-tile">
              <Sound memory={m} label={t("sound.play")} />
              <Caption m={m} />
            </div>
          ) : (
            <a class="tile" href={`/memory/${m.id}`}>
              {isPhoto(m) ? <Photo memory={m} /> : <span class="photo doc"><Icon name="fact" size={32} /></span>}
              <Caption m={m} plain />
            </a>
          )}
        </li>
      ))}
    </ul>
  );
}

function Caption({ m, plain }: { m: Memory; plain?: boolean }) {
  const own = m.fields?.resource?.title;
  const title = m.metadata?.place || (own === "Recording" ? t("sound.title") : own?.startsWith("Photo, ") ? t("photo.title") : own) || m.text;
  const when = shortDay(m.evidence?.[0]?.at ?? m.learnt);
  return (
    <span class="caption">
      {plain ? <T text={title} most={60} /> : <a href={`/memory/${m.id}`}><T text={title} most={60} /></a>}
      <span class="muted">{when}</span>
    </span>
  );
}

/** titleOf returns the title of a procedure, without its steps. */
export const titleOf = (m: Memory) => m.fields?.procedural?.description || (m.fields?.procedural?.steps?.length ? m.text.split(/[:：]/)[0] : m.text);

function Guides({ list }: { list: Memory[] }) {
  return (
    <div class="guides">
      {list.map((m) => (
        <article key={m.id} class="panel">
          <h2>
            <a href={`/memory/${m.id}`}>
              <T text={titleOf(m)} most={160} />
            </a>
          </h2>
          <Steps m={m} />
        </article>
      ))}
    </div>
  );
}

/** The steps of a procedure, with boxes to tick. The ticks are not stored. */
export function Steps({ m }: { m: Memory }) {
  return (
    <ol class="steps">
      {(m.fields?.procedural?.steps ?? []).map((s, i) => (
        <li key={i}>
          <label>
            <input type="checkbox" />
            <span>
              <T text={s} most={600} />
            </span>
          </label>
        </li>
      ))}
    </ol>
  );
}

function Blocks({ list }: { list: Memory[] }) {
  const [held, hold] = useState<Memory[]>([]); // those that are being corrected: they stay even if they are no longer current
  const blocks = new Map<string, Memory[]>();
  const there = new Set(list.map((m) => m.id));
  for (const m of [...list, ...held.filter((m) => !there.has(m.id))]) {
    const name = m.fields?.core?.block ?? "human";
    blocks.set(name, [...(blocks.get(name) ?? []), m]);
  }
  if (!blocks.size) return <Nothing kind="core" />;
  return (
    <div class="guides">
      {[...blocks].map(([name, of]) => {
        const limit = Math.max(...of.map((m) => m.fields?.core?.limit ?? 2000));
        const used = of.reduce((n, m) => n + [...m.text].length, 0);
        return (
          <article key={name} class="panel">
            <h2>
              <T text={said("block", name)} most={60} />
            </h2>
            <label class="limit">
              <span class="muted">{t("block.used", { used, limit })}</span>
              <meter min={0} max={limit} high={limit * 0.9} value={used} />
            </label>
            <ul class="rows">
              {of.map((m) => (
                <Line key={m.id} m={m} there={there.has(m.id)} hold={(on) => hold((all) => [...all.filter((x) => x.id !== m.id), ...(on ? [m] : [])])} />
              ))}
            </ul>
          </article>
        );
      })}
    </div>
  );
}

/** A line of a block, which can be corrected in place. */
function Line({ m, there, hold }: { m: Memory; there: boolean; hold: (on: boolean) => void }) {
  const [edits, set] = useState(false);
  const left = useLoaded<Why>(there ? null : `/v1/memories/${m.id}/why`); // of one that is no longer in the list
  const edit = (on: boolean) => (set(on), hold(on));
  if (left.error?.is("not-found")) return null;
  if (edits)
    return (
      <li>
        <Edit m={left.value?.memory ?? m} close={() => edit(false)} />
      </li>
    );
  return (
    <li class="block-line">
      <RowLink m={m} />
      <button type="button" class="plain" aria-label={`${t("do.correct")}: ${m.text.slice(0, 60)}`} title={t("do.correct")} onClick={() => edit(true)}>
        <Icon name="edit" size={16} />
      </button>
    </li>
  );
}
