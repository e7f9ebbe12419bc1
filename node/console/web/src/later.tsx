// The pages other than the first: a separate script, loaded when one of them is opened, or some time after the first page was shown.

import { useEffect, useState } from "preact/hooks";
import { Problem, reachable } from "./api";
import { loadMore, t } from "./i18n";
import { renew, took } from "./parts";
import { Failure, useChanges, Waiting } from "./widgets";

type Rest = typeof import("./rest");

let rest: Rest | undefined;
let loading: Promise<Rest> | undefined;

/** loadRest loads them, once. */
export function loadRest(): Promise<Rest> {
  loading ??= Promise.all([import("./rest"), loadMore()]).then(([r]) => (took("rest"), (rest = r)));
  loading.catch(() => (loading = undefined)); // the next caller tries again
  return loading;
}

/** Later shows a part of the other pages, and waits until they are loaded. */
export function Later({ show }: { show: (r: Rest) => preact.ComponentChild }) {
  const [, loaded] = useState(rest);
  const [bad, fail] = useState(false);
  const load = () =>
    loadRest().then(loaded, async () => {
      if ((await reachable()) && renew("rest")) return; // the node answers but lacks this part: it is of another build
      fail(true);
    });
  const again = () =>
    loadRest().then(loaded, async () => {
      if (await reachable()) location.reload(); // some browsers cache a failed import until the page is reloaded
    });
  useEffect(() => {
    if (!rest) void load();
  }, []);
  useChanges(() => void (rest || (bad && load()))); // also when the node answers again
  if (rest) return <>{show(rest)}</>;
  if (!bad) return <Waiting />;
  return (
    <>
      <Failure error={new Problem(0, "unreachable", "unreachable")} />
      <button type="button" class="button again" onClick={again}>
        {t("error.again")}
      </button>
    </>
  );
}
