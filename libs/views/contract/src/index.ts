export * from './change-fault.ts';
export * from './views.ts';
export * from './watermark-state.ts';
export * from './well-formed.ts';
