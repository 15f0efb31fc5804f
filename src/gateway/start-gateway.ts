// The front door of the gateway.

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
 * @throws RangeError that names each option that is wrong; what listening fails with, as `EADDRINUSE`
 */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const complete = completeGatewayOptions(options);
  const engine =
    complete.engine === 'inline' ? createEngine(complete) : createThreadedEngine(complete);
  try {
    return await serve(complete, engine);
  } catch (error) {
    await engine.close();
    throw error;
  }
}
