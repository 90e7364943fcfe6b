export * from './change-fault.ts';
export { beats, strongest } from './strongest.ts';
export * from './stored-mark.ts';
export * from './views.ts';
export * from './watermark-state.ts';
export * from './well-formed.ts';
