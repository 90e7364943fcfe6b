export { connectSqliteViews, type SqliteViewsOptions } from './sqlite/connect.ts';
