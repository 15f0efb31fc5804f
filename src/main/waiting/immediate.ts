// Turns of the event loop, by the functions that Node had when this was loaded: a test that replaces the global
// ones (fake timers) must not keep a compactor waiting for ever. Deadlines are left to such tests.

import timers from 'node:timers';

export const setImmediate: typeof timers.setImmediate = timers.setImmediate;
export const clearImmediate: typeof timers.clearImmediate = timers.clearImmediate;
