// The page's service worker: it has the page's files, so that it starts without a network,
// and sends what waits when the network is back, in browsers that wake it for that. The
// version and the list of files stand before this line.
"use strict";
importScripts("queue.js");

self.addEventListener("install", (e) => {
  e.waitUntil(
    caches.open("locket-" + version).then((c) => c.addAll(["./", ...files.filter((f) => f !== "index.html")].map((f) => new Request(f, { cache: "reload" })))).then(() => self.skipWaiting()),
  );
});

self.addEventListener("activate", (e) => {
  e.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter((n) => n.startsWith("locket-") && n !== "locket-" + version).map((n) => caches.delete(n))))
      .then(() => self.clients.claim()),
  );
});

self.addEventListener("fetch", (e) => {
  const u = new URL(e.request.url);
  if (e.request.method !== "GET" || u.origin !== location.origin || !u.pathname.startsWith("/wear/") || u.pathname.startsWith("/wear/v1")) return;
  e.respondWith(caches.open("locket-" + version).then(async (c) => (await c.match(e.request, { ignoreSearch: true })) ?? fetch(e.request)));
});

// tell gives the page what the node says, as the page does it.
const tell = async (answer) => {
  for (const page of await self.clients.matchAll()) page.postMessage(answer);
};

self.addEventListener("sync", (e) => {
  if (e.tag === "locket-send") e.waitUntil(self.locketQueue.send(tell).then((end) => (end === "away" || end === "later" ? Promise.reject(new Error(end)) : undefined)));
});
