// The service worker: it keeps the page's own files, so that the page opens while
// the node can't be reached, and can say so. It never handles or stores the node's answers.

const kept = "locket-" + BUILD;
addEventListener("install", (e) => {
  const all = SHELL.map((path) => new Request(path, { cache: "reload", credentials: "omit" }));
  e.waitUntil(caches.open(kept).then((c) => c.addAll(all)).then(() => skipWaiting()));
});

addEventListener("activate", (e) => {
  const old = caches.keys().then((names) => Promise.all(names.filter((n) => n !== kept).map((n) => caches.delete(n))));
  e.waitUntil(old.then(() => clients.claim()));
});

addEventListener("fetch", (e) => {
  const url = new URL(e.request.url);
  const path = e.request.mode === "navigate" ? "/" : url.pathname;
  if (e.request.method !== "GET" || url.origin !== location.origin || !SHELL.includes(path)) return;
  e.respondWith(fetch(e.request).catch(async () => (await caches.open(kept)).match(path)));
});
