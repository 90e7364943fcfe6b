export { connectSqlite, type SqliteOptions, type SqliteStores } from './sqlite/connect.ts';
