// The last step of a share, a sale, or something for a community: what others would see
// beside the wearer's own memories. Nothing has been sent yet.

import { useEffect, useState } from "preact/hooks";
import { post, type Problem } from "./api";
import { putIn } from "./community";
import { reasonOf, t } from "./i18n";
import { Icon } from "./icons";
import { Beyond, Own, Seen } from "./seen";
import { listed } from "./sell";
import { requestOf, type Form, type Part, type Preview } from "./shareform";
import { Alone, type Share } from "./sharing";
import { asProblem, Failure, T, tell, Waiting } from "./widgets";

/** The two views beside each other, and what a reader might still infer. */
export function Look({ form, change, back, made }: Part & { back: () => void; made: (s: Share) => void }) {
  const [state, set] = useState<{ of: Form; preview?: Preview; error?: Problem }>();
  const [busy, work] = useState(false);
  useEffect(() => {
    const stop = new AbortController();
    post<Preview>(form.pool ? `/v1/communities/${form.pool.id}/preview` : form.sale ? "/v1/market/preview" : "/v1/shares/preview", requestOf(form), stop.signal).then(
      (preview) => set({ of: form, preview }),
      (e) => stop.signal.aborted || set({ of: form, error: asProblem(e) }),
    );
    return () => stop.abort();
  }, [form]);
  const again = (
    <button type="button" class="button" onClick={back}>
      {t("sharer.back")}
    </button>
  );
  const leave = (m: Form["without"][0]) => {
    change((f) => ({ without: [...f.without, m] }));
    tell({ text: t("sharer.isOut"), undo: async () => change((f) => ({ without: f.without.filter((o) => o.id !== m.id) })) });
  };
  if (!state) return <Waiting />;
  if (!state.preview)
    return (
      <>
        <LeftOut form={form} change={change} />
        {state.error!.is("not-found") ? (
          <div class="notice warn">
            <Icon name="why" />
            <div>
              <strong>{t("sharer.nothing")}</strong>
              <p>{t("sharer.nothingSays")}</p>
              <p class="muted">
                <T text={reasonOf(state.error!)} most={300} />
              </p>
            </div>
          </div>
        ) : state.error!.is("unsupported") ? (
          <Alone />
        ) : (
          <Failure error={state.error!} />
        )}
        {again}
      </>
    );
  const p = state.preview;
  const who = form.pool?.name ?? (form.sale ? t("sell.buyer") : p.readers.map((r) => r.name).join(", "));
  const give = () => {
    work(true);
    const body = requestOf(form, p.confirm);
    (form.pool ? putIn(form.pool.id, body) : form.sale ? listed(body) : post<Share>("/v1/shares", body).then(made))
      .catch((e) => {
        const problem = asProblem(e);
        if (!problem.is("conflict")) return tell({ text: reasonOf(problem) });
        tell({ text: form.sale ? reasonOf(problem) : t("sharer.changed") });
        change({}); // loads the preview again
      })
      .finally(() => work(false));
  };
  return (
    <>
      <p class="muted">{t("sharer.lookSays", { n: p.memories.length })}</p>
      <table class="two-views">
        <thead>
          <tr>
            <th scope="col">{t("sharer.yours")}</th>
            <th scope="col">
              <T text={form.pool ? t("pool.theirs") : t("sharer.theirs", { who })} most={100} />
            </th>
          </tr>
        </thead>
        <tbody>
          {p.memories.map((m) => (
            <tr key={m.of}>
              <td data-of={t("sharer.yours")}>
                <a href={`/memory/${m.of}`} target="_blank" rel="noopener">
                  {m.was ? <Own was={m.was} text={m.text} /> : <T text={m.text} />}
                </a>
              </td>
              <td data-of={who}>
                <Seen text={m.text} />
                <Beyond of={m.copy} />
                {m.or && (
                  <p class="muted">
                    <T text={t("sell.or", { text: m.or })} />
                  </p>
                )}
                <div class="view-tools">
                  <details>
                    <summary>{t("sharer.exact")}</summary>
                    <pre>
                      <bdi>{JSON.stringify(m.copy, null, 1)}</bdi>
                    </pre>
                  </details>
                  <button type="button" class="button small" aria-label={t("sharer.leaveOut", { what: (m.was ?? m.text).slice(0, 80) })} onClick={() => leave({ id: m.of, text: m.was ?? m.text })}>
                    {t("sharer.leave")}
                  </button>
                </div>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <LeftOut form={form} change={change} />
      {p.marks && <p class="muted">{t(!p.marks.marked ? "sell.unmarked" : p.marks.robust ? "sell.marked" : "sell.markedAsIs", { n: p.marks.spots, least: p.marks.least })}</p>}
      {p.left_out > 0 && <p class="muted">{t("sharer.leftOut", { n: p.left_out })}</p>}
      {!!p.few && <p class="muted">{t("sharer.few", { n: p.few })}</p>}
      {p.held?.map((h) => (
        <p key={h.why} class="muted">
          {t("sharer.held", { n: h.memories })} <T text={h.why} most={200} />
        </p>
      ))}
      <Risks preview={p} form={form} change={change} />
      {form.sale || form.pool ? (
        <p class="notice warn">
          <Icon name="warn" />
          <span>{t(form.pool ? "pool.stays" : "sell.undo")}</span>
        </p>
      ) : (
        <section class="panel">
          <h2>{t("sharer.compare")}</h2>
          <p class="muted">{t("sharer.compareSays")}</p>
          <ul class="rows">
            {p.readers.map((r) => (
              <li key={r.name}>
                <Icon name="key" size={16} />
                <span class="rows-text">
                  <T text={r.name} most={60} />
                </span>
                <strong>{r.words}</strong>
              </li>
            ))}
          </ul>
        </section>
      )}
      <footer class="actions">
        {again}
        <button type="button" class="button solid" disabled={busy || state.of !== form} onClick={give}>
          <Icon name="share" size={16} /> {form.pool ? t("pool.put") : form.sale ? t("sell.do", { price: form.sale.price.slice(0, 40) }) : t("sharer.give", { who: who.slice(0, 80) })}
        </button>
      </footer>
    </>
  );
}

/** The memories that the wearer left out, with buttons to include them again. */
function LeftOut({ form, change }: Part) {
  if (!form.without.length) return null;
  return (
    <section class="panel left-out">
      <h2>{t("sharer.without", { n: form.without.length })}</h2>
      <ul class="rows">
        {form.without.map((m) => (
          <li key={m.id}>
            <span class="rows-text">
              <T text={m.text} most={160} />
            </span>
            <button type="button" class="button small" aria-label={t("sharer.takeIn", { what: m.text.slice(0, 80) })} onClick={() => change((f) => ({ without: f.without.filter((o) => o.id !== m.id) }))}>
              {t("sharer.take")}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What a reader might infer, in the page's words, each with its remedy. */
function Risks({ preview: p, form, change }: Part & { preview: Preview }) {
  const quoted = (kind: string) => [...new Set(p.risks.filter((r) => r.kind === kind).flatMap((r) => /“(.+?)”/.exec(r.what)?.[1] ?? []))];
  const drop = (word: string) => change({ words: [...form.words, word] });
  const has = (kind: string) => p.risks.some((r) => r.kind === kind);
  if (!p.risks.length)
    return (
      <p class="notice good">
        <Icon name="check" /> {t("risk.none")}
      </p>
    );
  return (
    <section class="panel risks">
      <h2>{t("risk.title")}</h2>
      <p class="muted">{t("risk.says")}</p>
      {(["reaches", "name"] as const).map(
        (kind) =>
          has(kind) && (
            <div key={kind} class="risk">
              <p>
                <Icon name="warn" size={16} /> {t(`risk.${kind}`)}
              </p>
              <div class="chips">
                {quoted(kind).map((w) => (
                  <button key={w} type="button" class="chip" aria-label={t("risk.take", { word: w.slice(0, 60) })} onClick={() => drop(w)}>
                    <T text={w} most={60} /> <Icon name="close" size={12} />
                  </button>
                ))}
              </div>
            </div>
          ),
      )}
      {has("exact") && (
        <div class="risk">
          <p>
            <Icon name="warn" size={16} /> {t("risk.exact")}
          </p>
          <button type="button" class="button small" onClick={() => change({ times: "times=month" })}>
            {t("risk.round")}
          </button>
        </div>
      )}
      {has("script") && (
        <p class="risk">
          <Icon name="warn" size={16} /> {t("risk.script")}
        </p>
      )}
      {p.risks
        .filter((r) => r.kind === "joins")
        .map((r) => (
          <p key={r.what} class="risk">
            <Icon name="warn" size={16} /> <T text={r.what} most={300} />
          </p>
        ))}
    </section>
  );
}
