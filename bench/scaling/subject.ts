// What is played at several sizes: something public that is given a history.

import type { IContent } from '../../src/index.js';
import type { ShapeName } from './shapes.js';

/** Does what is measured; called once. */
export type Work = () => unknown;

/** One public function, reader or adapter. */
export interface Subject {
  readonly name: string;
  /** Makes the work on a history; not measured. */
  readonly prepare: (history: IContent[]) => Work | Promise<Work>;
  /** Clears away what `prepare` made. */
  readonly finish?: () => Promise<void>;
  /** The shapes that say something about it. @default all */
  readonly shapes?: readonly ShapeName[];
  /** Whether it needs threads, files or a clock, so that its operations cannot be counted. */
  readonly isTimedOnly?: boolean;
}
