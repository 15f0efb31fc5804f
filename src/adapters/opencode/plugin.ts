// The plugin for OpenCode 1.18: compacts the messages of each step, gives originals back from OpenCode's own database, and
// shows what it saves. OpenCode ends a turn when a hook throws, so none of these does.

import type { CompactorOptions } from '../../main/compactor-options.js';
import { withDeadline } from '../../main/waiting/abortable.js';
import { asError } from '../../shared/errors.js';
import { asArray, asRecord, asText } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { estimatePayloadTokens } from '../../shared/tokens/estimate.js';
import { reportedSum } from '../call-arguments.js';
import { HostCompactor } from '../host-compactor.js';
import { tryPlainData } from '../plain-data.js';
import {
  adviceForAbsent,
  NO_RECALL_ID,
  RECALL_DESCRIPTION,
  RECALL_ID_DESCRIPTION,
} from '../recall-words.js';
import { outcomeOf } from './stored-message.js';
import type { OpenCodeMessage } from './stored-message.js';
import { storedMessageFormat } from './stored-message-format.js';
import type { OpenCodeHooks, OpenCodeInput, OpenCodeLimit, OpenCodePlugin } from './plugin-api.js';

/** The plugin, as OpenCode loads it: `"plugin": ["ctxfold"]`. Options in OpenCode's configuration are those of a compactor. */
export const plugin: OpenCodePlugin = {
  id: 'ctxfold',
  server: async (input, options = {}) => new Plugin(input, options).hooks(),
};

/** OpenCode's own system prompt, which a plugin sees after the messages: about that many tokens. */
const SYSTEM_TOKENS = 3_000;
/** So much of the window OpenCode leaves to the answer at most, and compacts what reaches into it. */
const MAX_OUTPUT_TOKENS = 32_000;
const RESERVED_TOKENS = 20_000;
/** OpenCode's server is asked in the same process. */
const ASKING_LIMIT_MS = 3_000;

class Plugin {
  readonly #input: OpenCodeInput;
  readonly #options: CompactorOptions;
  /** Made with the first step: only then are the tools known. */
  #host: HostCompactor<OpenCodeMessage> | undefined;
  /** Why the last list was not compacted before there was a compactor. */
  #failure: string | undefined;
  /** By tool, about how many tokens its definition takes. */
  readonly #toolTokens = new Map<string, number>();
  /** By model, what OpenCode lets the messages have of its window. */
  readonly #limits = new Map<string, number>();
  /** Sessions of which OpenCode is about to summarize a part. */
  readonly #summarized = new Set<string>();

  constructor(input: OpenCodeInput, options: CompactorOptions) {
    this.#input = input;
    this.#options = options;
  }

  hooks(): OpenCodeHooks {
    return {
      config: async (config) => {
        const template = 'Show what ctxfold has saved.';
        const ctxfold = { template, description: 'what ctxfold has saved in this session' };
        config.command = { ctxfold, ...config.command };
      },
      dispose: async () => {
        const host = this.#host;
        this.#host = undefined;
        await host?.close();
      },
      tool: {
        recall: {
          description: RECALL_DESCRIPTION,
          args: { id: { type: 'string', description: RECALL_ID_DESCRIPTION } as never },
          execute: (input, { sessionID }) => this.#recall(asRecord(input)?.['id'], sessionID),
        },
      },
      'chat.params': async ({ model }) => {
        this.#noteLimit(model.id, model.limit);
      },
      'tool.definition': async ({ toolID }, { description, ...schema }) => {
        this.#toolTokens.set(toolID, estimatePayloadTokens([description, tryPlainData(schema)]));
      },
      'command.execute.before': async ({ command, sessionID }, { parts }) => {
        if (command !== 'ctxfold') return;
        const text = `Repeat this to the user, word for word, and do nothing else:\n\n${this.#status(sessionID)}`;
        parts.splice(0, parts.length, { type: 'text', text });
      },
      'experimental.session.compacting': async ({ sessionID }) => {
        this.#summarized.add(sessionID);
      },
      'experimental.chat.messages.transform': async (_input, { messages }) => {
        await this.#compact(messages);
      },
    };
  }

  async #compact(messages: OpenCodeMessage[]): Promise<void> {
    try {
      const sessionId = messages.at(-1)?.info.sessionID;
      // What OpenCode is about to summarize is a part of the conversation, and does not go on from it.
      if (sessionId === undefined || this.#summarized.delete(sessionId)) return;
      const { modelID: modelName, providerID } = modelOf(messages);
      if (modelName !== undefined && !this.#limits.has(modelName)) {
        await this.#askForLimit(providerID, modelName);
      }
      const contextLimit = modelName === undefined ? undefined : this.#limits.get(modelName);
      const call = { sessionId, modelName, contextLimit, ...usageOf(messages) };
      const sent = await this.#hostFor().compact(messages, call);
      if (sent !== messages) messages.splice(0, messages.length, ...sent);
    } catch (thrown) {
      // A list or options that no compactor takes: OpenCode sends its messages.
      this.#failure = asError(thrown).message;
    }
  }

  #hostFor(): HostCompactor<OpenCodeMessage> {
    const toolTokens = [...this.#toolTokens.values()].reduce((sum, tokens) => sum + tokens, 0);
    this.#host ??= new HostCompactor(storedMessageFormat, {
      workspaceRoot: this.#input.directory,
      overheadTokens: SYSTEM_TOKENS + toolTokens,
      ...this.#options,
    });
    return this.#host;
  }

  #status(sessionId: string): string {
    const nothing = this.#failure ?? 'No call of this session was compacted yet.';
    return this.#host?.status(sessionId) ?? `ctxfold\n${nothing}`;
  }

  /** OpenCode compacts by itself where this ends: ctxfold is to be earlier. */
  #noteLimit(modelName: string, { context, input, output }: OpenCodeLimit): void {
    const usable =
      typeof input === 'number'
        ? input - Math.min(RESERVED_TOKENS, output)
        : context - Math.min(MAX_OUTPUT_TOKENS, output);
    if (usable > 0) this.#limits.set(modelName, usable);
  }

  async #askForLimit(providerId: string | undefined, modelName: string): Promise<void> {
    const answer = await this.#ask('config', 'providers');
    const providers = asArray(asRecord(answer)?.['providers']).map(asRecord);
    const models = providers.find((provider) => provider?.['id'] === providerId)?.['models'];
    const { context, input, output } =
      asRecord(asRecord(asRecord(models)?.[modelName])?.['limit']) ?? {};
    if (typeof context !== 'number' || typeof output !== 'number') return;
    this.#noteLimit(modelName, {
      context,
      output,
      input: typeof input === 'number' ? input : undefined,
    });
  }

  /** What OpenCode's client answers; `undefined` when it does not. */
  async #ask(group: string, name: string, options?: object): Promise<unknown> {
    try {
      const calls = asRecord(asRecord(this.#input.client)?.[group]);
      const call = calls?.[name] as ((given?: object) => Promise<unknown>) | undefined;
      const late = (): Error => new Error('OpenCode did not answer');
      const answer = await withDeadline(ASKING_LIMIT_MS, undefined, late, async () =>
        call?.call(calls, options),
      );
      return asRecord(answer)?.['data'];
    } catch {
      return undefined;
    }
  }

  async #recall(id: unknown, sessionId: string): Promise<string> {
    if (typeof id !== 'string') return NO_RECALL_ID;
    const messages = await this.#ask('session', 'messages', { path: { id: sessionId } });
    const parts = asArray(messages).flatMap((message) => asArray(asRecord(message)?.['parts']));
    const part = parts.map(asRecord).findLast((each) => each?.['callID'] === id);
    return part === undefined ? adviceForAbsent(id) : originalOf(part);
  }
}

/** Also what OpenCode itself has cleared, which it keeps. */
function originalOf(part: JsonRecord): string {
  return asText(asRecord(part['state'])?.['output']) ?? outcomeOf(part).text;
}

interface ModelNames {
  readonly providerID?: string | undefined;
  readonly modelID?: string | undefined;
}

/** The model that the newest message of the user asks. */
function modelOf(messages: readonly OpenCodeMessage[]): ModelNames {
  const asked = messages.findLast(({ info }) => info.role === 'user')?.info;
  const { providerID, modelID } = asRecord(asRecord(asked)?.['model']) ?? {};
  return { providerID: asText(providerID), modelID: asText(modelID) };
}

/** What the provider reported for the step before. */
function usageOf(messages: readonly OpenCodeMessage[]): ReturnType<typeof reportedSum> {
  const last = messages.findLast(({ info }) => info.role === 'assistant')?.info;
  const { input, cache } = asRecord(asRecord(last)?.['tokens']) ?? {};
  const { read, write } = asRecord(cache) ?? {};
  return reportedSum(input, read, write);
}
