// The tasks of a worker. They do not depend on threads, so that tests can run them in-process.

import type { MessagePort } from 'node:worker_threads';
import { assertArray, kindOf } from '../shared/misuse.js';
import { planWithTexts } from '../shared/density/plan/optimize.js';
import type { CountRequest, TaskReply, TaskRequest, TaskValues } from '../shared/protocol.js';
import { measureEntries } from '../shared/tokens/count-tokens.js';
import { loadTextCounter } from '../shared/tokens/o200k.js';
import { openResidentConnection, replyTo } from './resident-connection.js';

type AnyValue = TaskValues[keyof TaskValues];

/**
 * Runs a request and resolves to its reply; never rejects.
 *
 * @param threadId the id in the replies to `open` and `probe`
 */
export function runTask(
  request: TaskRequest,
  threadId: number = 0,
): Promise<TaskReply<TaskRequest>> {
  return replyTo(() => perform(request, threadId));
}

function perform(request: TaskRequest, threadId: number): AnyValue | Promise<AnyValue> {
  switch (request.kind) {
    case 'optimize':
      assertArray('the history', request.history);
      return planWithTexts(request.history, request.config);
    case 'count':
      return count(request);
    case 'open':
      openResidentConnection(request.port as MessagePort, request.options);
      return { threadId };
    case 'probe':
      return { threadId };
    default:
      return refuse(request);
  }
}

async function count({ contents, knownTokens }: CountRequest): Promise<AnyValue> {
  return measureEntries(contents, (await loadTextCounter()).count, knownTokens);
}

function refuse(request: never): never {
  // A request contains entries, so the message shows only its kind.
  const { kind } = request as { readonly kind?: unknown };
  throw new TypeError(`Expected a task of a known kind, got ${kindOf(kind)}.`);
}
