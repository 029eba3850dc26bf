// Before anything is painted, so that a chosen theme doesn't flash up late.
try {
  const chosen = JSON.parse(localStorage.getItem('pg-tasks') ?? '{}')
  if (chosen.theme === 'light' || chosen.theme === 'dark') document.documentElement.dataset.theme = chosen.theme
  if (typeof chosen.language === 'string') document.documentElement.lang = chosen.language
} catch {
  // Storage may be forbidden; the system's theme is fine.
}
