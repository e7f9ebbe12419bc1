// The addresses of the page's own scripts that a browser with trusted types may load.

declare const GRAPH: string; // see build.mjs

/** The script of the whole graph, which is separate from the others. */
export const skyScript = GRAPH;

interface Policy {
  createScriptURL(s: string): string;
}

let policy: Policy | undefined;

/** trusted returns such an address. */
export function trusted(script: string): string {
  const types = (globalThis as { trustedTypes?: { createPolicy(name: string, of: Policy): Policy } }).trustedTypes;
  if (!types) return script;
  policy ??= types.createPolicy("locket", { createScriptURL: (s) => (s === skyScript ? s : "/worker.js") });
  return policy.createScriptURL(script);
}
