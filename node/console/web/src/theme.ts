// Dark or light: the system's setting, unless the wearer chose one.

import { useEffect } from "preact/hooks";

const themeName = "locket.theme";

function apply() {
  const own = localStorage.getItem(themeName);
  if (own === "dark" || own === "light") document.documentElement.dataset.theme = own;
  else delete document.documentElement.dataset.theme;
}

export const useTheme = () => useEffect(apply, []);

export function switchTheme() {
  const dark = document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  localStorage.setItem(themeName, dark === "dark" ? "light" : "dark");
  apply();
}
