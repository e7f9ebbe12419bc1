// The parts of the script that are loaded when they are needed. Their names hold what they are: after an upgrade the node has others.

export type Part = "rest" | "words" | "graph";

const renewed = (part: Part) => "locket.renewed." + part;

/** took notes that a part was loaded. */
export const took = (part: Part) => sessionStorage.removeItem(renewed(part));

/** renew loads the page anew, a part of which is not there any more: once, until the part is loaded. It reports whether it does. */
export function renew(part: Part): boolean {
  if (sessionStorage.getItem(renewed(part))) return false;
  sessionStorage.setItem(renewed(part), "yes");
  location.reload();
  return true;
}
