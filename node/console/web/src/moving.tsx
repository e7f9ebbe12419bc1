// Moving sales and purchases to another market: shown first, then moved.

import { useState } from "preact/hooks";
import { post, type Problem } from "./api";
import { t } from "./i18n";
import { Icon } from "./icons";
import { agree } from "./known";
import { asProblem, changes, Failure, T } from "./widgets";

interface Listing {
  listing: string;
  now?: string;
  title: string;
  orders: number;
  open?: number;
  why?: string;
}

interface Order {
  order: string;
  title: string;
  open?: boolean;
  reviewed?: boolean;
  why?: string;
}

interface Moves {
  to: string;
  abandon: boolean;
  moved: boolean; // false: it would be moved
  listings: Listing[];
  orders: Order[];
  failed: Problem[]; // a whole part
}

/** move asks both markets. A failure of one does not stop the other. */
async function move(to: string, abandon: boolean, dry: boolean): Promise<Moves> {
  const out: Moves = { to, abandon, moved: !dry, listings: [], orders: [], failed: [] };
  const dry_run = dry || undefined;
  try {
    out.listings = (await post<{ moves: Listing[] }>("/v1/market/moves", { to, abandon: abandon || undefined, dry_run })).moves;
  } catch (e) {
    out.failed.push(asProblem(e));
  }
  try { // after the listings, because an order needs its listing there
    out.orders = (await post<{ moves: Order[] }>("/v1/market/order-moves", { to, dry_run })).moves;
  } catch (e) {
    out.failed.push(asProblem(e));
  }
  return out;
}

export function MovePage() {
  const [moves, set] = useState<Moves>();
  const [busy, work] = useState(false);
  const run = (to: string, abandon: boolean, dry: boolean) => {
    work(true);
    move(to, abandon, dry)
      .then((m) => {
        set(m);
        if (!dry) changes();
      })
      .finally(() => work(false));
  };
  const look = (e: SubmitEvent) => {
    e.preventDefault();
    const form = new FormData(e.currentTarget as HTMLFormElement);
    const to = String(form.get("to")).trim();
    agree(to);
    run(to, form.get("abandon") === "on", true);
  };
  const stays = moves && [...moves.listings, ...moves.orders].filter((m) => m.why);
  return (
    <div class="page sharing shop moving">
      <a class="back" href="/market">
        <Icon name="left" size={14} /> {t("shop.title")}
      </a>
      <header class="page-head">
        <h1>{t("move.title")}</h1>
        <p class="muted">{t("move.says")}</p>
      </header>
      <section class="panel">
        <form class="fields" onSubmit={look} onInput={() => set(undefined)}>
          <label>
            {t("move.to")}
            <input name="to" data-act="move" type="url" required maxLength={300} placeholder="https://relay.example" spellcheck={false} autocomplete="off" />
          </label>
          <label class="check">
            <input type="checkbox" name="abandon" />
            <span>
              {t("move.abandon")}
              <span class="row-says muted">{t("move.abandonSays")}</span>
            </span>
          </label>
          <div class="actions">
            <button class="button" disabled={busy}>
              {busy && !moves ? t("wait") : t("move.look")}
            </button>
          </div>
        </form>
      </section>
      {moves && (
        <section class="panel moves" aria-live="polite">
          <h2>{moves.moved ? t("move.done") : t("move.would")}</h2>
          {moves.failed.map((p) => (
            <Failure key={p.message} error={p} />
          ))}
          {!moves.listings.length && !moves.orders.length && !moves.failed.length && <p class="muted">{t("move.nothing")}</p>}
          <ul class="rows">
            {moves.listings.map((l) => (
              <Row key={l.listing} title={l.title} kind={t("move.listing")} why={l.why} moved={moves.moved} says={[t("move.orders", { n: l.orders }), l.open && t("move.open", { n: l.open }), moves.moved && l.now && t("move.now", { id: l.now.slice(0, 10) })]} />
            ))}
            {moves.orders.map((o) => (
              <Row key={o.order} title={o.title} kind={t("move.order")} why={o.why} moved={moves.moved} says={[o.reviewed && t("move.review"), o.open && t("move.goesOn")]} />
            ))}
          </ul>
          {!moves.moved && !!(moves.listings.length || moves.orders.length) && (
            <>
              <p class="notice warn">
                <Icon name="warn" />
                <span>{t(moves.abandon ? "move.lost" : "move.undo")}</span>
              </p>
              <div class="actions">
                <button type="button" class={`button solid${moves.abandon ? " danger" : ""}`} data-act="move-do" disabled={busy} onClick={() => run(moves.to, moves.abandon, false)}>
                  {busy ? t("wait") : t("move.do")}
                </button>
              </div>
            </>
          )}
          {moves.moved && !stays!.length && !moves.failed.length && (
            <p class="notice good">
              <Icon name="check" /> {t("move.all")}
            </p>
          )}
          {moves.moved && (!!stays!.length || !!moves.failed.length) && (
            <>
              <p class="notice warn" role="alert">
                <Icon name="warn" /> <span>{t("move.again")}</span>
              </p>
              <div class="actions">
                <button type="button" class="button" data-act="move-again" disabled={busy} onClick={() => run(moves.to, moves.abandon, false)}>
                  {busy ? t("wait") : t("move.againDo")}
                </button>
              </div>
            </>
          )}
        </section>
      )}
    </div>
  );
}

function Row({ title, kind, says, why, moved }: { title: string; kind: string; says: unknown[]; why?: string; moved: boolean }) {
  return (
    <li>
      <span class="rows-text">
        <strong>
          <T text={title} most={120} />
        </strong>{" "}
        <span class={`badge${why ? " warn" : ""}`}>{why ? t("move.not") : moved ? t("move.moved") : kind}</span>
        <span class="row-says muted">{[moved || why ? kind : "", ...says].filter(Boolean).join(" · ")}</span>
        {why && (
          <span class="row-says">
            <T text={why} most={500} />
          </span>
        )}
      </span>
    </li>
  );
}
