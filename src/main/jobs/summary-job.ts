// The data of a summary job, and the store keys of its request, answer and cancellation.

import { hash } from 'node:crypto';
import { hasFunctions } from '../../shared/misuse.js';
import type { StateStore } from '../state/state-store.js';

/** A store that keeps texts by name. */
export type TextStore = StateStore & Required<Pick<StateStore, 'put' | 'get'>>;

/** Refers to the request in the store, with its hash. Contains nothing of a history. */
export interface SummaryJobData {
  readonly key: string;
  readonly hash: string;
}

/** The name under which a cancellation is stored. */
export const CANCELLATION = 'called off';

/** The failure reason of a cancelled job. */
export const CANCELLED = 'The session has moved on, or was closed.';

/** The failure reason of a job whose request is no longer in the store. */
export const LOST = 'What the job asks is not in the store.';

export function answerKey(id: string): string {
  return `${id}-answer`;
}

export function cancellationKey(id: string): string {
  return `${id}-called-off`;
}

/** The hash under which a request is stored. */
export function hashOf(text: string): string {
  return hash('sha256', text);
}

/** @throws TypeError for a store that does not keep originals. */
export function assertTextStore(store: StateStore): asserts store is TextStore {
  if (hasFunctions(store, ['put', 'get', 'delete'])) return;
  throw new TypeError('Expected a store that keeps originals: with put and get.');
}
