export { ServerAbsent } from './absent.ts';
export { composeCommand } from './compose.ts';
export { freePort } from './free-port.ts';
export { Server } from './server.ts';
export * from './services.ts';
