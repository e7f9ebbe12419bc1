// Saving a file as a download of the browser.

import { fetchFile } from "./api";

/** save downloads data as a file with a name. */
export function save(name: string, file: Blob) {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(file);
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 60e3);
}

/** saveFrom saves the answer of an API path. */
export const saveFrom = async (path: string, name: string) => save(name, await fetchFile(path));
