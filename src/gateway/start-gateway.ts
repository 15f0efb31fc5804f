// Creates the gateway's engine and its server.

import { access, constants } from 'node:fs/promises';
import { makeFolder } from '../main/host/folders.js';
import { safeLogger } from '../main/host/logger.js';
import type { Logger } from '../main/host/logger.js';
import { writeFailed } from '../main/removal-log/removal-log-errors.js';
import { openStore } from '../main/state/open-store.js';
import { storeFailed } from '../main/state/state-store.js';
import { settledWithin } from '../main/waiting/abortable.js';
import { createEngine } from './engine/engine.js';
import { ThreadedEngine } from './engine/threaded-engine.js';
import { completeGatewayOptions } from './server/options.js';
import type { GatewayOptions } from './server/options.js';
import { serve } from './server/gateway.js';
import type { Gateway } from './server/gateway.js';

/** How long a store may take to answer before the gateway starts without waiting. A refused connection is given up earlier. */
const STORE_MS = 3_000;
/** The key under which a gateway writes to its store when it starts. */
const PROBE = 'gateway-start';

/**
 * Starts a proxy server between agents and their providers. It either forwards requests unchanged and shows what ctxfold would have
 * saved, or compacts the histories in them.
 *
 * @throws RangeError naming each invalid option; TypeError for an invalid store; errors of listening, such as `EADDRINUSE`;
 *   CtxfoldError `STORE_FAILED` if a package for the store is not installed
 */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const complete = completeGatewayOptions(options);
  const { store, removalLogDirectory } = complete;
  const logger = safeLogger(complete.logger);
  if (store !== undefined) await tryStore(store, logger);
  if (removalLogDirectory !== undefined) await tryRemovalLogs(removalLogDirectory, logger);
  const engine =
    complete.engine === 'inline' ? await createEngine(complete) : new ThreadedEngine(complete);
  try {
    return await serve(complete, engine);
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/**
 * Opens a store, because the thread could not report a missing package to the caller, and writes to it once: a store that refuses
 * would otherwise be noticed with the first request. The gateway starts anyway, and each operation tries again.
 */
async function tryStore(where: string, logger: Logger): Promise<void> {
  const { store, close } = await openStore(where);
  let failure: unknown = new Error(`no answer within ${STORE_MS / 1_000} s`);
  const write = async (): Promise<void> => {
    await store.put?.(PROBE, PROBE, '');
    await store.delete(PROBE);
  };
  const writing = write().then(
    () => (failure = undefined),
    (thrown: unknown) => (failure = thrown),
  );
  await settledWithin(STORE_MS, writing, true);
  // Not awaited: it may wait for a server that does not answer.
  close().catch(() => undefined);
  if (failure !== undefined)
    logger.warn(
      `${storeFailed(failure).message} Until it works, conversations are kept in memory.`,
    );
}

/** Creates the directory of the removal logs: one that cannot be written would otherwise be noticed with the first edit. */
async function tryRemovalLogs(directory: string, logger: Logger): Promise<void> {
  try {
    await makeFolder(directory);
    await access(directory, constants.W_OK);
  } catch (thrown) {
    logger.warn(writeFailed(directory, thrown).message);
  }
}
