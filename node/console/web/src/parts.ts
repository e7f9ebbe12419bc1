// The parts of the script that are loaded on demand. Their names contain a hash of their content, so an upgraded node has other names.

export type Part = "rest" | "words" | "graph";

const renewed = (part: Part) => "locket.renewed." + part;

/** took records that a part was loaded. */
export const took = (part: Part) => sessionStorage.removeItem(renewed(part));

/** renew reloads the page when one of its parts is gone, once until the part has been loaded. It reports whether it reloads. */
export function renew(part: Part): boolean {
  if (sessionStorage.getItem(renewed(part))) return false;
  sessionStorage.setItem(renewed(part), "yes");
  location.reload();
  return true;
}
