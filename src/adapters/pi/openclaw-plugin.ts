// The plugin for OpenClaw: a context engine that compacts what stands before the running turn, gives originals back from the
// messages that it was handed, and shows what it saves. A throw would have OpenClaw put the engine aside, so none of these does.

import type { CompactorOptions } from '../../main/compactor-options.js';
import { asError } from '../../shared/errors.js';
import { asArray, asRecord, asText, textOfParts } from '../../shared/json.js';
import { estimatePayloadTokens } from '../../shared/tokens/estimate.js';
import { HostCompactor } from '../host-compactor.js';
import { agentMessageFormat } from './agent-message-format.js';
import { fieldsOf } from './agent-message.js';
import type { PiMessage } from './agent-message.js';
import { usageOf } from './usage-of.js';
import {
  adviceForAbsent,
  NO_RECALL_ID,
  RECALL_DESCRIPTION,
  RECALL_SCHEMA,
} from '../recall-words.js';
import type {
  AssembleParams,
  OpenClawEngine,
  OpenClawOwn,
  OpenClawPluginApi,
} from './openclaw-api.js';

/** The plugin, as OpenClaw loads it. Its configuration there holds options of a compactor. */
export function register(api: OpenClawPluginApi): void {
  new Plugin(api).register();
}

/** OpenClaw's own way to summarize a session, which it has for engines that leave that to it. */
const SDK = 'openclaw/plugin-sdk/core';
/** Sessions whose messages are at hand for `recall`. */
const MAX_SESSIONS = 50;

class Plugin {
  readonly #api: OpenClawPluginApi;
  /** Made with the first call, and anew after OpenClaw's gateway was stopped. */
  #host: HostCompactor<PiMessage> | undefined;
  /** Why there is no compactor. */
  #failure: string | undefined;
  /** By session, the messages of its last call, the latest session last. */
  readonly #given = new Map<string, readonly PiMessage[]>();

  constructor(api: OpenClawPluginApi) {
    this.#api = api;
  }

  register(): void {
    const api = this.#api;
    api.registerContextEngine('ctxfold', ({ workspaceDir }) => this.#engine(workspaceDir));
    api.registerTool(
      ({ sessionId }) => ({
        name: 'recall',
        label: 'Recall',
        description: RECALL_DESCRIPTION,
        parameters: RECALL_SCHEMA,
        execute: async (_callId, { id }) => ({
          content: [{ type: 'text', text: this.#original(id, sessionId) }],
          details: undefined,
        }),
      }),
      { name: 'recall' },
    );
    api.registerCommand({
      name: 'ctxfold',
      description: 'Show what ctxfold has saved in this session',
      handler: ({ sessionId = '' }) => ({
        text:
          this.#host?.status(sessionId) ??
          `ctxfold\n${this.#failure ?? 'No model was called yet.'}`,
      }),
    });
    api.registerService({
      id: 'ctxfold',
      start: () => undefined,
      stop: async () => {
        const host = this.#host;
        this.#host = undefined;
        await host?.close();
      },
    });
  }

  #engine(workspaceRoot: string | undefined): OpenClawEngine {
    let committed: string | undefined;
    return {
      info: {
        id: 'ctxfold',
        name: 'ctxfold',
        // Without it, OpenClaw asks once a turn, and summarizes by its own count of what was never sent.
        ownsCompaction: true,
        transcriptSemantics: {
          currentTurnFence: 'before-current-turn-entry-v1',
          turnAdvancementIdempotency: 'atomic-idempotent-v1',
        },
      },
      // OpenClaw keeps the messages, and hands them over with each call.
      ingest: async () => ({ ingested: false }),
      assemble: (params) => this.#assemble(params, workspaceRoot),
      compact: summarizeByOpenClaw,
      commitTurn: async ({ advancementKey }) => {
        const status = committed === advancementKey ? 'duplicate' : 'committed';
        committed = advancementKey;
        return { status };
      },
    };
  }

  async #assemble(
    { sessionId, messages, tokenBudget, model }: AssembleParams,
    workspaceRoot: string | undefined,
  ): Promise<{ messages: OpenClawOwn[]; estimatedTokens: number }> {
    this.#remember(sessionId, messages);
    let sent = messages;
    let estimatedTokens: number | undefined;
    try {
      this.#host ??= new HostCompactor(agentMessageFormat, {
        ...(workspaceRoot !== undefined && { workspaceRoot }),
        ...(this.#api.pluginConfig as CompactorOptions | undefined),
      });
      const before = this.#host.sentTokens(sessionId);
      sent = await this.#host.compact(messages, {
        sessionId,
        modelName: model ?? ANY_MODEL,
        contextLimit: tokenBudget,
        ...usageOf(messages),
      });
      estimatedTokens = this.#host.sentTokens(sessionId) - before;
    } catch (thrown) {
      // Options that no compactor takes: OpenClaw sends its messages.
      this.#failure = asError(thrown).message;
    }
    return {
      messages: [...sent] as OpenClawOwn[],
      estimatedTokens: estimatedTokens || estimatePayloadTokens(sent),
    };
  }

  #remember(sessionId: string, messages: readonly PiMessage[]): void {
    this.#given.delete(sessionId);
    this.#given.set(sessionId, messages);
    const [eldest] = this.#given.keys();
    if (this.#given.size > MAX_SESSIONS && eldest !== undefined) this.#given.delete(eldest);
  }

  #original(id: unknown, sessionId = ''): string {
    if (typeof id !== 'string') return NO_RECALL_ID;
    const results = this.#given.get(sessionId) ?? [];
    const found = results.findLast(
      (message) => message.role === 'toolResult' && fieldsOf(message).toolCallId === id,
    );
    if (found === undefined) return adviceForAbsent(id);
    const { content } = fieldsOf(found);
    const texts = asArray(content).map((part) => asText(asRecord(part)?.['text']) ?? '[image]');
    return textOfParts(content) ?? texts.join('\n');
  }
}

/** The limit is that of the call, whatever model it is of. */
const ANY_MODEL = 'openclaw';

/** For `/compact`, and after a refusal of the provider's: what OpenClaw does without an engine. */
async function summarizeByOpenClaw(params: object): Promise<OpenClawOwn> {
  const sdk = asRecord(await (import(SDK) as Promise<unknown>));
  const delegate = sdk?.['delegateCompactionToRuntime'] as (given: object) => Promise<OpenClawOwn>;
  return delegate(params);
}
