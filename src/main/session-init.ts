// What a session is made of: the parts that its steps work with, and what is its own.

import type { CompressionInputs } from './pre-send/compression-context.js';
import type { ContextGaugeOptions } from './pre-send/context-gauge.js';
import type { EditOptions } from './pre-send/edit-options.js';
import type { FormerWindows } from './pre-send/replay-edits.js';
import type { SessionParts } from './pre-send/session-parts.js';
import type { Settings } from './settings/settings.js';
import type { RemovalLog } from './removal-log/removal-log.js';

export interface SessionInit
  extends
    Omit<SessionParts, 'recordChanges' | 'noteRewrite'>,
    Omit<ContextGaugeOptions, 'contextLimit'>,
    EditOptions {
  readonly sessionId: string;
  /** What `runtimeContext` reads. */
  readonly settings: Settings;
  /** What strategies are given beside the history. @default nothing */
  readonly compressionInputs?: (() => CompressionInputs) | undefined;
  /** Keeps what edits take away. The session closes it. @default nothing is kept */
  readonly removalLog?: RemovalLog | undefined;
  /** Milliseconds that only grow. @default performance.now */
  readonly now?: (() => number) | undefined;
  /**
   * That the history holds answers of a model, and so was sent before; with what is known of the session
   * that did, or `null`. @default nothing of it was sent
   */
  readonly takenUp?: FormerWindows | null | undefined;
  /** Told once when the session was closed, and what to keep of it. */
  readonly onClose?: ((windows: FormerWindows) => void) | undefined;
}
