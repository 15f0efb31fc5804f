// The front door of the gateway.

import { openStore } from '../main/state/open-store.js';
import { createEngine } from './engine/engine.js';
import { createThreadedEngine } from './engine/threaded-engine.js';
import { completeGatewayOptions } from './server/options.js';
import type { GatewayOptions } from './server/options.js';
import { serve } from './server/gateway.js';
import type { Gateway } from './server/gateway.js';

/**
 * Starts a server between agents and their providers: it passes requests on and shows what ctxfold would have saved, or
 * compacts the histories in them on their way.
 *
 * @throws RangeError that names each option that is wrong; what listening fails with, as `EADDRINUSE`;
 *   CtxfoldError `STORE_FAILED` when a package for the store is not installed
 */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const complete = completeGatewayOptions(options);
  // The thread would have nobody to tell that a package is missing.
  if (complete.store !== undefined) await (await openStore(complete.store)).close();
  const engine =
    complete.engine === 'inline' ? await createEngine(complete) : createThreadedEngine(complete);
  try {
    return await serve(complete, engine);
  } catch (error) {
    await engine.close();
    throw error;
  }
}
