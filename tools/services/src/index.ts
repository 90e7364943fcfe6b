export { ServerAbsent } from './absent.ts';
export { composeCommand } from './compose.ts';
export { Server } from './server.ts';
export * from './services.ts';
