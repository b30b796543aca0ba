/** Light or dark: as the system has it, until it is chosen here. */

export type Theme = "system" | "light" | "dark";
const KEY = "policy-engine-theme";

export function chosenTheme(): Theme {
  const kept = window.localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "system";
}

export function applyTheme(theme: Theme): void {
  if (theme === "system") {
    delete document.documentElement.dataset["theme"];
    window.localStorage.removeItem(KEY);
  } else {
    document.documentElement.dataset["theme"] = theme;
    window.localStorage.setItem(KEY, theme);
  }
}
