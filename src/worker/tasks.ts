// The stateless jobs of a worker. Nothing here knows that it runs on a thread, so that tests can run
// it in-process; nothing here throws, because an error loses its class and code in crossing.

import type { IContent } from '../shared/content.js';
import { planDensity } from '../shared/density/optimize.js';
import { toWireError } from '../shared/errors.js';
import type { TaskReply, TaskRequest, TaskValues } from '../shared/protocol.js';
import { countEachEntry } from '../shared/tokens/count-tokens.js';
import { createPieceCounter } from '../shared/tokens/piece-counter.js';
import type { PieceCounter } from '../shared/tokens/piece-counter.js';

type AnyValue = TaskValues[keyof TaskValues];

/**
 * Carries out a request and resolves to its reply; whatever goes wrong is part of that reply.
 * `threadId` is what a probe answers with.
 */
export async function runTask(
  request: TaskRequest,
  threadId: number = 0,
): Promise<TaskReply<TaskRequest>> {
  const startedAt = performance.now();
  try {
    const value = await perform(request, threadId);
    return { ok: true, value, runMs: performance.now() - startedAt };
  } catch (thrown) {
    return { ok: false, error: toWireError(thrown), runMs: performance.now() - startedAt };
  }
}

function perform(request: TaskRequest, threadId: number): AnyValue | Promise<AnyValue> {
  switch (request.kind) {
    case 'optimize':
      return { base: request.base, plan: planDensity(request.history, request.config) };
    case 'count':
      return count(request.contents);
    case 'probe':
      return { threadId };
    default:
      return refuse(request);
  }
}

async function count(contents: readonly IContent[]): Promise<AnyValue> {
  const counter = await pieceCounter();
  try {
    return { tokens: countEachEntry(contents, counter.count) };
  } finally {
    counter.release();
  }
}

let loadedCounter: PieceCounter | undefined;

/** Loads the encoding on the first count: it takes 130 ms and 36 MB, and a density pass needs neither. */
async function pieceCounter(): Promise<PieceCounter> {
  loadedCounter ??= createPieceCounter(await import('gpt-tokenizer/encoding/o200k_base'));
  return loadedCounter;
}

function refuse(request: never): never {
  throw new TypeError(`Expected a task of a known kind, got ${JSON.stringify(request)}.`);
}
