export const nothing = { run: () => {} }
