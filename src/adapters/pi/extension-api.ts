// What is used of pi's API for extensions, as its version 0.87 declares it. Types alone. What older versions lack is
// optional, and is looked for before it is used.

import type { PiMessage } from './agent-message.js';
import type { PiContextEntry } from './context-edits.js';

/** What goes back to pi is of types of pi's own, which nothing here knows: it is what pi gave, or a copy with other content. */
export type PiOwn = never;

/** A model of pi's. */
export interface PiModel {
  readonly id: string;
  readonly api: string;
  readonly contextWindow: number;
  readonly compat?: object | undefined;
}

/** What handlers are told of the session. */
export interface PiContext {
  readonly cwd: string;
  readonly model: PiModel | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly sessionManager: {
    getSessionId(): string;
    getEntries(): readonly { readonly type: string }[];
  };
  readonly ui: {
    notify(message: string, type?: 'info'): void;
    setStatus(key: string, text: string | undefined): void;
  };
  getSystemPrompt?(): string;
}

/** Before each call of a model. */
export interface PiContextEvent {
  readonly messages: readonly PiMessage[];
}

/** Behind each answer and what its calls were answered. The last two are there since 0.87. */
export interface PiTurnEndEvent {
  readonly message: PiMessage;
  readonly entries?: readonly object[];
  readonly context?: { readonly contextEntries: readonly PiContextEntry[] };
}

/** Before pi compacts by itself. The reason is not there in old versions. */
export interface PiBeforeCompactEvent {
  readonly reason?: string;
}

/** A part of a tool's result. */
export interface PiResultPart {
  readonly type: 'text';
  readonly text: string;
}

/** A tool that an extension brings. */
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

/** What pi hands to an extension. */
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
