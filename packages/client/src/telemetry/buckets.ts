/** Upper bounds for how long tasks wait and run, in seconds: from a millisecond to an hour. */
export const TASK_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600]

/** Upper bounds for how late a sleeping worker gets its tasks, in seconds. */
export const WAKE_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
