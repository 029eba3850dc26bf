const MENUS = 'details.menu[open], details.preferences[open]'

/** An open menu closes when something else is touched, and at Escape, which gives its button the focus. */
export function closeMenus(): () => void {
  const onPointer = (event: PointerEvent): void => {
    for (const menu of document.querySelectorAll(MENUS)) {
      if (!menu.contains(event.target as Node)) menu.removeAttribute('open')
    }
  }
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape') return
    for (const menu of document.querySelectorAll(MENUS)) {
      menu.removeAttribute('open')
      menu.querySelector('summary')?.focus()
    }
  }
  document.addEventListener('pointerdown', onPointer)
  document.addEventListener('keydown', onKey)
  return () => {
    document.removeEventListener('pointerdown', onPointer)
    document.removeEventListener('keydown', onKey)
  }
}
