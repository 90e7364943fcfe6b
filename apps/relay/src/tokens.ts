export const OP_STORE = Symbol('OpStore');
export const PUSH = Symbol('PushService');
export const PULL = Symbol('TailService');
export const REGISTRY = Symbol('PrefixRegistry');
export const MACHINES = Symbol('MachinesService');
export const INTAKE = Symbol('Intake');
export const STOPPING = Symbol('stopping');
export const LOG = Symbol('Logger');
