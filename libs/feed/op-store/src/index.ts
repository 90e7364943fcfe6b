export { type OpStoreFeedOptions, connectOpStoreFeed } from './connect.ts';
export type { Bell } from './doorbells.ts';
