// The plugin for OpenClaw: a context engine that compacts the messages before the current turn, returns originals from the messages
// that it was passed, and shows what it saves. It never throws, because OpenClaw would stop using the engine.

import type { CompactorOptions } from '../../main/compactor-options.js';
import { asRecord } from '../../shared/json.js';
import { estimatePayloadTokens } from '../../shared/tokens/estimate.js';
import { HostCompactor } from '../conversation/host-compactor.js';
import { agentMessageFormat } from './agent-message-format.js';
import { originalIn } from './agent-message.js';
import type { PiMessage } from './agent-message.js';
import { recalled, RECALL_DESCRIPTION, RECALL_SCHEMA } from '../request/recall-words.js';
import type {
  AssembleParams,
  OpenClawEngine,
  OpenClawOwn,
  OpenClawPluginApi,
} from './openclaw-api.js';

/** Registers the plugin. Its configuration in OpenClaw consists of options of a compactor. */
export function register(api: OpenClawPluginApi): void {
  new Plugin(api).register();
}

/** The module through which an engine can delegate summaries to OpenClaw. */
const SDK = 'openclaw/plugin-sdk/core';
/** Number of sessions whose messages are kept for `recall`. */
const MAX_SESSIONS = 50;

class Plugin {
  readonly #api: OpenClawPluginApi;
  readonly #host: HostCompactor<PiMessage>;
  /** The workspace of the newest call. */
  #workspaceRoot: string | undefined;
  /** Session id → the messages of its last call; least recently used first. */
  readonly #given = new Map<string, readonly PiMessage[]>();

  constructor(api: OpenClawPluginApi) {
    this.#api = api;
    this.#host = new HostCompactor('openclaw', agentMessageFormat, () => ({
      ...(this.#workspaceRoot !== undefined && { workspaceRoot: this.#workspaceRoot }),
      ...(api.pluginConfig as CompactorOptions | undefined),
    }));
  }

  register(): void {
    const api = this.#api;
    api.registerContextEngine('ctxfold', ({ workspaceDir }) => this.#engine(workspaceDir));
    api.registerTool(
      ({ sessionId = '' }) => ({
        name: 'recall',
        label: 'Recall',
        description: RECALL_DESCRIPTION,
        parameters: RECALL_SCHEMA,
        execute: async (_callId, { id }) => ({
          content: [
            {
              type: 'text',
              text: await recalled(id, (known) =>
                originalIn(this.#given.get(sessionId) ?? [], known),
              ),
            },
          ],
          details: undefined,
        }),
      }),
      { name: 'recall' },
    );
    api.registerCommand({
      name: 'ctxfold',
      description: 'Show what ctxfold has saved in this session',
      handler: ({ sessionId = '' }) => ({ text: this.#host.status(sessionId) }),
    });
    api.registerService({
      id: 'ctxfold',
      start: () => undefined,
      stop: () => this.#host.close(),
    });
  }

  #engine(workspaceRoot: string | undefined): OpenClawEngine {
    let committed: string | undefined;
    return {
      info: {
        id: 'ctxfold',
        name: 'ctxfold',
        // Otherwise OpenClaw would call the engine only once per turn, and summarize by its own count of tokens, which were never sent.
        ownsCompaction: true,
        transcriptSemantics: {
          currentTurnFence: 'before-current-turn-entry-v1',
          turnAdvancementIdempotency: 'atomic-idempotent-v1',
        },
      },
      // OpenClaw keeps the messages, and passes all of them with each call.
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
    this.#workspaceRoot = workspaceRoot;
    const before = this.#host.sentTokens(sessionId);
    const sent = await this.#host.compact(messages, {
      sessionId,
      modelName: model ?? ANY_MODEL,
      // The provider's usage is not passed: it includes OpenClaw's prompt and the running turn, which are not known here.
      contextLimit: tokenBudget,
    });
    const counted = this.#host.sentTokens(sessionId) - before;
    // The first call after a restart does not count: its difference includes all calls before the restart.
    const isCounted = before > 0 && counted > 0;
    return {
      messages: [...sent] as OpenClawOwn[],
      estimatedTokens: isCounted ? counted : estimatePayloadTokens(sent),
    };
  }

  #remember(sessionId: string, messages: readonly PiMessage[]): void {
    this.#given.delete(sessionId);
    this.#given.set(sessionId, messages);
    const [oldest] = this.#given.keys();
    if (this.#given.size > MAX_SESSIONS && oldest !== undefined) this.#given.delete(oldest);
  }
}

/** Model name for calls whose model OpenClaw does not name: token limits are looked up by model name. */
const ANY_MODEL = 'openclaw';

/** Does what OpenClaw does without an engine. Called for `/compact`, and after the provider has rejected a request. */
async function summarizeByOpenClaw(params: object): Promise<OpenClawOwn> {
  const sdk = asRecord(await (import(SDK) as Promise<unknown>));
  const delegate = sdk?.['delegateCompactionToRuntime'] as (given: object) => Promise<OpenClawOwn>;
  return delegate(params);
}
