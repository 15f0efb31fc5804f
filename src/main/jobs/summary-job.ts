// What a job says, and where in a store its request, its answer and its end lie. Asks nobody.

import { createHash } from 'node:crypto';
import { hasFunctions } from '../../shared/misuse.js';
import type { StateStore } from '../state/state-store.js';

/** A store that keeps texts by name. */
export type TextStore = StateStore & Required<Pick<StateStore, 'put' | 'get'>>;

/** What a job holds: where its request lies, and the hash of that. Nothing of a history. */
export interface SummaryJobData {
  readonly key: string;
  readonly hash: string;
}

/** What the name of a job that was called off is kept under. */
export const CALLED_OFF = 'called off';

export function answerKey(id: string): string {
  return `${id}-answer`;
}

export function callOffKey(id: string): string {
  return `${id}-called-off`;
}

/** The hash that a request is kept under. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** @throws TypeError for what is no store that keeps originals. */
export function assertTextStore(store: StateStore): asserts store is TextStore {
  if (hasFunctions(store, ['put', 'get', 'delete'])) return;
  throw new TypeError('Expected a store that keeps originals: with put and get.');
}
