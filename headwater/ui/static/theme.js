// Set the theme that the reader chose before anything is painted. A module would run too late.
try {
  const theme = localStorage.getItem("headwater.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // A browser without storage follows its system.
}
