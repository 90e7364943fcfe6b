export { ServerAbsent } from './absent.ts';
export { composeCommand } from './compose.ts';
export { type Call, type Cost } from './dynamodb-call.ts';
export * from './fault-proxy.ts';
export * from './fault-rules.ts';
export { freePort } from './free-port.ts';
export { NatsCluster, type NatsMember } from './nats-cluster.ts';
export { Server } from './server.ts';
export * from './services.ts';
