import { z } from 'zod';

/** For transforms: the value is refused for this reason. */
export function refuse(context: z.core.$RefinementCtx, message: string): never {
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
}
