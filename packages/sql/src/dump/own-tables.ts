/** The tables that our migrations make in the schema tasks; all others there are users' task tables. A test compares. */
export const OWN_TABLES = [
  'migrations',
  'template',
  'types',
  'leases',
  'schedules',
  'occurrences',
  'marks',
  'installation',
  'rates',
  'freed_keys',
  'unique_rules',
  'groups',
  'group_types',
  'group_ends',
  'attempts',
  'batches',
  'audit',
] as const

/** Of these no rows are carried over: the target has its own, or they are about processes that live elsewhere. */
export const NOT_CARRIED: readonly string[] = ['migrations', 'template', 'leases', 'batches']
