// Light and dark: as the system has it, or as it was chosen.

import { useState } from "preact/hooks";

const dark = matchMedia("(prefers-color-scheme: dark)");

function apply(name: string): void {
  document.documentElement.dataset.theme = name;
  dispatchEvent(new Event("theme"));
}

export function beginTheme(): void {
  apply(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => apply(dark.matches ? "dark" : "light"));
}

export function ThemeSwitch() {
  const [isDark, setDark] = useState(document.documentElement.dataset.theme === "dark");
  const change = (): void => {
    setDark(!isDark);
    apply(isDark ? "light" : "dark");
  };
  return (
    <button type="button" class="plain" aria-pressed={isDark} onClick={change}>
      {isDark ? "Light" : "Dark"}
    </button>
  );
}
