export * from './op-store.ts';
export * from './prefix-registry.ts';
export * from './presence-board.ts';
