export { type EmbeddedBrokerOptions, connectEmbeddedBroker } from './connect.ts';
