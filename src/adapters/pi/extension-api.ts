// Types for the parts of pi's extension API that are used, as of version 1.5. Members that older versions lack are optional.

import type { PiMessage } from './agent-message.js';
import type { PiContextEntry } from './context-edits.js';

/** Pi's own types, which values returned to it must have. They are objects from pi, or copies with other content. */
export type PiOwn = never;

export interface PiModel {
  readonly id: string;
  readonly api: string;
  readonly contextWindow: number;
  readonly compat?: object | undefined;
}

/** The session, as handlers get it. */
export interface PiContext {
  readonly cwd: string;
  readonly model: PiModel | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly sessionManager: {
    getSessionId(): string;
    getEntries(): readonly { readonly type: string }[];
    /** Returns the entries of the current branch only. */
    getBranch?(): readonly { readonly type: string }[];
  };
  readonly ui: {
    notify(message: string, type?: 'info'): void;
    setStatus(key: string, text: string | undefined): void;
  };
  getSystemPrompt?(): string;
}

/** Emitted before each call of a model. */
export interface PiContextEvent {
  readonly messages: readonly PiMessage[];
}

/** Emitted after each answer and the results of its calls. The last two fields exist since 0.87. */
export interface PiTurnEndEvent {
  readonly message: PiMessage;
  readonly entries?: readonly object[];
  readonly context?: { readonly contextEntries: readonly PiContextEntry[] };
}

/** Emitted before pi compacts by itself. Old versions give no reason. */
export interface PiBeforeCompactEvent {
  readonly reason?: string;
}

/** A part of a tool's result. */
export interface PiResultPart {
  readonly type: 'text';
  readonly text: string;
}

/** A tool of an extension. */
export interface PiTool {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly parameters: object;
  execute(
    callId: string,
    input: { readonly id?: unknown },
    signal: AbortSignal | undefined,
    onUpdate: unknown,
    ctx: PiContext,
  ): Promise<{ content: PiResultPart[]; details: undefined }>;
}

/** The API that pi passes to an extension. */
export interface PiExtensionApi {
  on(
    event: 'context',
    handler: (event: PiContextEvent, ctx: PiContext) => Promise<{ messages: PiOwn[] } | undefined>,
  ): unknown;
  on(
    event: 'turn_end',
    handler: (event: PiTurnEndEvent, ctx: PiContext) => { entries: PiOwn[] } | undefined,
  ): unknown;
  on(
    event: 'session_before_compact',
    handler: (event: PiBeforeCompactEvent, ctx: PiContext) => { cancel: true } | undefined,
  ): unknown;
  on(event: 'session_start', handler: () => void): unknown;
  on(event: 'session_shutdown', handler: () => Promise<void>): unknown;
  registerTool(tool: PiTool): unknown;
  registerCommand(
    name: string,
    command: {
      readonly description: string;
      readonly handler: (args: string, ctx: PiContext) => Promise<void>;
    },
  ): unknown;
  getActiveTools?(): string[];
  getAllTools?(): readonly { readonly name: string; readonly description?: string }[];
}
