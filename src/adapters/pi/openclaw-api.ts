// What is used of OpenClaw's API for plugins and context engines, as its version 2026.9 declares it. Types alone. Its messages
// are those of pi.

import type { PiMessage } from './agent-message.js';
import type { PiTool } from './extension-api.js';

/** What goes back to OpenClaw is of types of its own: what it gave, or a copy with other content. */
export type OpenClawOwn = never;

/** Which session something is of. */
interface OfSession {
  readonly sessionId?: string | undefined;
}

/** What a call is assembled of. */
export interface AssembleParams {
  readonly sessionId: string;
  /** All that stands before the running turn. */
  readonly messages: readonly PiMessage[];
  /** Tokens that they may take: the running turn takes the others. */
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

/** A tool that a plugin brings. */
interface OpenClawTool extends Omit<PiTool, 'execute'> {
  execute(
    callId: string,
    input: { readonly id?: unknown },
  ): Promise<{ content: { type: 'text'; text: string }[]; details: undefined }>;
}

/** What OpenClaw hands to a plugin. */
export interface OpenClawPluginApi {
  readonly pluginConfig?: Readonly<Record<string, unknown>> | undefined;
  registerContextEngine(
    id: string,
    factory: (ctx: { readonly workspaceDir?: string }) => OpenClawEngine,
  ): unknown;
  registerTool(
    factory: (ctx: OfSession) => OpenClawTool,
    options: { readonly name: string },
  ): unknown;
  registerCommand(command: {
    readonly name: string;
    readonly description: string;
    readonly handler: (ctx: OfSession) => { text: string };
  }): unknown;
  registerService(service: {
    readonly id: string;
    readonly start: () => void;
    readonly stop: () => Promise<void>;
  }): unknown;
}
