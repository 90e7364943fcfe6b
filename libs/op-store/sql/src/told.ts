import type { FaultCode } from '@tidemark/libs-kernel';

/** Whether the text of a fault is for whoever sent the value, and so names neither a place of the server nor what a database said (SEC-2). */
export const isTold = (code: FaultCode): boolean => code === 'invalid' || code === 'too_large';
