// Runs a gateway until it is interrupted.

import { startGateway } from '../../../gateway.js';
import { gatewayPage } from './gateway-page.js';
import type { GatewayOptions } from '../../../gateway.js';
import { EXIT } from '../terminal/exit-codes.js';
import { untilEnded } from '../terminal/interruptible.js';
import { tell } from '../terminal/print.js';

/** Serves; resolves to the exit code when that has ended. */
export async function runGateway(options: GatewayOptions): Promise<number> {
  const gateway = await startGateway({ ...options, page: gatewayPage });
  tell(`listens on ${gateway.url} (${options.mode ?? 'observe'})`);
  tell(`page: ${gateway.url}/ctxfold`);
  try {
    await untilEnded();
    return EXIT.done;
  } finally {
    await gateway.close();
  }
}
