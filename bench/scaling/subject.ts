// What is measured at several sizes: a public function with a history as input.

import type { IContent } from '../../src/index.js';
import type { ShapeName } from './shapes.js';

/** The measured work; called once. */
export type Work = () => unknown;

/** One public function, reader or adapter. */
export interface Subject {
  readonly name: string;
  /** Prepares the work on a history; not measured. */
  readonly prepare: (history: IContent[]) => Work | Promise<Work>;
  /** Cleans up after `prepare`. */
  readonly finish?: () => Promise<void>;
  /** The relevant shapes. @default all */
  readonly shapes?: readonly ShapeName[];
  /** Whether it uses threads, files or a clock, so that its operations cannot be counted. */
  readonly isTimedOnly?: boolean;
}
