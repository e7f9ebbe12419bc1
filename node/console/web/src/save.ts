// Saving a file to where the browser keeps what it downloads.

import { fetchFile } from "./api";

/** save gives a file to the browser, under a name. */
export function save(name: string, file: Blob) {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(file);
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 60e3);
}

/** saveFrom saves what a path of the API gives. */
export const saveFrom = async (path: string, name: string) => save(name, await fetchFile(path));
