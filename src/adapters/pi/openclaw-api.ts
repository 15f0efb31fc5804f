// Types for the parts of OpenClaw's API for plugins and context engines that are used, as of version 2026.9. Its messages are those
// of pi.

import type { PiMessage } from './agent-message.js';
import type { PiTool } from './extension-api.js';

/** OpenClaw's own types, which values returned to it must have. They are objects from it, or copies with other content. */
export type OpenClawOwn = never;

interface SessionContext {
  readonly sessionId?: string | undefined;
}

/** The input of one model call. */
export interface AssembleParams {
  readonly sessionId: string;
  /** All messages before the current turn. */
  readonly messages: readonly PiMessage[];
  /** Maximum tokens for these messages; the rest of the window is for the current turn. */
  readonly tokenBudget?: number;
  readonly model?: string;
}

/** A context engine. */
export interface OpenClawEngine {
  readonly info: {
    readonly id: string;
    readonly name: string;
    readonly ownsCompaction: true;
    readonly transcriptSemantics: {
      readonly currentTurnFence: 'before-current-turn-entry-v1';
      readonly turnAdvancementIdempotency: 'atomic-idempotent-v1';
    };
  };
  ingest(): Promise<{ ingested: boolean }>;
  assemble(params: AssembleParams): Promise<{ messages: OpenClawOwn[]; estimatedTokens: number }>;
  compact(params: object): Promise<OpenClawOwn>;
  commitTurn(params: { readonly advancementKey: string }): Promise<{
    status: 'committed' | 'duplicate';
  }>;
}

/** A tool of a plugin. */
interface OpenClawTool extends Omit<PiTool, 'execute'> {
  execute(
    callId: string,
    input: { readonly id?: unknown },
  ): Promise<{ content: { type: 'text'; text: string }[]; details: undefined }>;
}

/** The API that OpenClaw passes to a plugin. */
export interface OpenClawPluginApi {
  readonly pluginConfig?: Readonly<Record<string, unknown>> | undefined;
  registerContextEngine(
    id: string,
    factory: (ctx: { readonly workspaceDir?: string }) => OpenClawEngine,
  ): unknown;
  registerTool(
    factory: (ctx: SessionContext) => OpenClawTool,
    options: { readonly name: string },
  ): unknown;
  registerCommand(command: {
    readonly name: string;
    readonly description: string;
    readonly handler: (ctx: SessionContext) => { text: string };
  }): unknown;
  registerService(service: {
    readonly id: string;
    readonly start: () => void;
    readonly stop: () => Promise<void>;
  }): unknown;
}
