export { type OpStoreFeedOptions, connectOpStoreFeed } from './connect.ts';
