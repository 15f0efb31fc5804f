// The obvious do-it-yourself solution: one worker thread that is posted the whole history each turn and posts back the edits of
// the same density pass.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { applyDensityResult } from '../../src/density.js';
import type { DensityResult } from '../../src/density.js';
import type { Peer } from './peer.js';

export const WORKER_PEER: Peer = {
  name: 'whole history posted to a worker',
  note: 'A plain worker thread that runs `optimize` of ctxfold on a copy of the history each turn. Counts nothing; no deadline, no recovery when the thread fails.',
  isDocumentedPass: true,
  open: async (history) => {
    let worker: Worker | undefined;
    return {
      prepareTurn: (added) => async () => {
        worker ??= new Worker(new URL('./peer-worker-entry.js', import.meta.url));
        history.push(...added);
        worker.postMessage(history);
        const [result] = (await once(worker, 'message')) as [DensityResult];
        applyDensityResult(history, result);
      },
      sent: () => history,
      countedTokens: () => undefined,
      close: async () => {
        await worker?.terminate();
      },
    };
  },
};
