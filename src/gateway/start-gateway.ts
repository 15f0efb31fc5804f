// Creates the gateway's engine and its server.

import { openStore } from '../main/state/open-store.js';
import { createEngine } from './engine/engine.js';
import { ThreadedEngine } from './engine/threaded-engine.js';
import { completeGatewayOptions } from './server/options.js';
import type { GatewayOptions } from './server/options.js';
import { serve } from './server/gateway.js';
import type { Gateway } from './server/gateway.js';

/**
 * Starts a proxy server between agents and their providers. It either forwards requests unchanged and shows what ctxfold would have
 * saved, or compacts the histories in them.
 *
 * @throws RangeError naming each invalid option; TypeError for an invalid store; errors of listening, such as `EADDRINUSE`;
 *   CtxfoldError `STORE_FAILED` if a package for the store is not installed
 */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const complete = completeGatewayOptions(options);
  // Opened here, because the thread could not report a missing package to the caller.
  if (complete.store !== undefined) await (await openStore(complete.store)).close();
  const engine =
    complete.engine === 'inline' ? await createEngine(complete) : new ThreadedEngine(complete);
  try {
    return await serve(complete, engine);
  } catch (error) {
    await engine.close();
    throw error;
  }
}
