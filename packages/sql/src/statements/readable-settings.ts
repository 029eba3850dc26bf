/** Dates and numbers as the driver reads them, in full, whatever the role or the database sets; for the session. */
export const READABLE_SETTINGS = `set_config('datestyle', 'ISO, YMD', false), set_config('intervalstyle', 'postgres', false),
  set_config('extra_float_digits', '1', false)`
