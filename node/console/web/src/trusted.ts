// The addresses of the page's own scripts that a browser with trusted types lets be run beside it.

type Script = "/worker.js" | "/graph.js";

interface Policy {
  createScriptURL(s: string): string;
}

let policy: Policy | undefined;

/** trusted gives such an address. */
export function trusted(script: Script): string {
  const types = (globalThis as { trustedTypes?: { createPolicy(name: string, of: Policy): Policy } }).trustedTypes;
  if (!types) return script;
  policy ??= types.createPolicy("locket", { createScriptURL: (s) => (s === "/graph.js" ? s : "/worker.js") });
  return policy.createScriptURL(script);
}
