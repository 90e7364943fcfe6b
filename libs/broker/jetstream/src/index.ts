export { type JetStreamAuth, type JetStreamTls } from './connection-options.ts';
export { type JetStreamBrokerOptions, connectJetStreamBroker } from './connect.ts';
