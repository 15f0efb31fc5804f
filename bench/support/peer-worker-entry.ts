// The thread of the peer that posts the whole history each turn: runs the pass and posts the edits back.

import { parentPort } from 'node:worker_threads';
import { optimize } from '../../src/density.js';
import type { IContent } from '../../src/index.js';
import { CONFIG } from './sessions.js';

parentPort?.on('message', (history: readonly IContent[]) => {
  parentPort?.postMessage(optimize(history, CONFIG));
});
