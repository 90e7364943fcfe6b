import { connectSqlite as connectJoined, type SqliteOptions, type SqliteStores } from '@tidemark/libs-op-store-sql';

/** Takes the place of the SQLite adapter in a relay: the same, but an append begins when the last one has ended. */
export async function connectSqlite(options: SqliteOptions): Promise<SqliteStores> {
  const stores = await connectJoined(options);
  const { opStore } = stores;
  let last: Promise<unknown> = Promise.resolve();
  return {
    ...stores,
    opStore: {
      ...opStore,
      append(stream, ops) {
        const appended = last.then(() => opStore.append(stream, ops));
        last = appended.catch(() => {});
        return appended;
      },
    },
  };
}
