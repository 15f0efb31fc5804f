// Runs a gateway until it is interrupted.

import { startGateway } from '../../../gateway.js';
import { gatewayPage } from './gateway-page.js';
import type { GatewayOptions } from '../../../gateway.js';
import { EXIT } from '../terminal/exit-codes.js';
import { InterruptedError, interruptible } from '../terminal/interruptible.js';
import { tell } from '../terminal/print.js';

/** Serves; resolves to the exit code when that has ended. */
export async function runGateway(options: GatewayOptions): Promise<number> {
  const gateway = await startGateway({ ...options, page: gatewayPage });
  tell(`listens on ${gateway.url} (${options.mode ?? 'observe'})`);
  tell(`page: ${gateway.url}/ctxfold`);
  try {
    await interruptible((signal) => ended(signal));
    return EXIT.done;
  } catch (error) {
    if (error instanceof InterruptedError) return EXIT.done;
    throw error;
  } finally {
    await gateway.close();
  }
}

/** Rejects when the signal ends it; resolves when the system asks the process to end. */
async function ended(signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    signal.addEventListener('abort', () => {
      reject(new InterruptedError());
    });
    process.once('SIGTERM', () => {
      resolve();
    });
  });
}
