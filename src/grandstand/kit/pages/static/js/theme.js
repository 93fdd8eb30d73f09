// The colours a person chose, kept in a cookie so that the server renders the next page in them.
const order = ["system", "light", "dark"];
const YEAR = 365 * 24 * 60 * 60;

function next(theme) {
  return order[(order.indexOf(theme) + 1) % order.length];
}

function show(button, theme) {
  document.documentElement.dataset.theme = theme;
  document.querySelector('meta[name="color-scheme"]').content = theme === "system" ? "light dark" : theme;
  button.value = next(theme);
  button.title = `Colours: ${theme}`;
  button.setAttribute("aria-label", `Colours: ${theme}. Change to ${next(theme)}`);
  document.dispatchEvent(new Event("theme-changed"));
}

for (const button of document.querySelectorAll("[data-theme-toggle]")) {
  button.addEventListener("click", (event) => {
    event.preventDefault();
    const theme = button.value;
    const secure = location.protocol === "https:" ? "; secure" : "";
    document.cookie = `grandstand_theme=${theme}; path=/; max-age=${YEAR}; samesite=lax${secure}`;
    show(button, theme);
  });
}
