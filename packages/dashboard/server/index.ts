export { createDashboard, type Dashboard } from './create-dashboard.js'
export type { ColumnRule, DashboardOptions, DashboardUser, TokenUser } from './dashboard-options.js'
export { type RunningDashboard, type StartDashboardOptions, startDashboard } from './start-dashboard.js'
