// The plugin for OpenCode 1.18: compacts the messages of each step, returns originals from OpenCode's database, and shows what it
// saves. Hooks never throw, because OpenCode would end the turn.

import type { CompactorOptions } from '../../main/compactor-options.js';
import { withDeadline } from '../../main/waiting/abortable.js';
import { asArray, asRecord, asText } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { estimatePayloadTokens } from '../../shared/tokens/estimate.js';
import { reportedSum } from '../request/call-arguments.js';
import { HostCompactor } from '../conversation/host-compactor.js';
import { tryPlainData } from '../format/plain-data.js';
import { recalled, RECALL_DESCRIPTION, RECALL_ID_DESCRIPTION } from '../request/recall-words.js';
import { outcomeOf } from './stored-message.js';
import type { OpenCodeMessage } from './stored-message.js';
import { storedMessageFormat } from './stored-message-format.js';
import type { OpenCodeHooks, OpenCodeInput, OpenCodeLimit, OpenCodePlugin } from './plugin-api.js';

/** The plugin: `"plugin": ["ctxfold"]`. Its options in OpenCode's configuration are those of a compactor. */
export const plugin: OpenCodePlugin = {
  id: 'ctxfold',
  server: async (input, options = {}) => new Plugin(input, options).hooks(),
};

/** Estimated tokens of OpenCode's system prompt, which a plugin gets only after the messages. */
const SYSTEM_TOKENS = 3_000;
/**
 * Maximum tokens that OpenCode reserves for the answer: it compacts if messages exceed the rest of the window. `RESERVED_TOKENS` is
 * that maximum for a model with an input limit of its own.
 */
const MAX_OUTPUT_TOKENS = 32_000;
const RESERVED_TOKENS = 20_000;
/** Short, because OpenCode's server runs in the same process. */
const CLIENT_TIMEOUT_MS = 3_000;

const COMMAND = {
  template: 'Show what ctxfold has saved.',
  description: 'what ctxfold has saved in this session',
};

class Plugin {
  readonly #input: OpenCodeInput;
  readonly #host: HostCompactor<OpenCodeMessage>;
  /** Id of a tool → estimated tokens of its definition. */
  readonly #toolTokens = new Map<string, number>();
  /** Provider and model → the tokens of the window that OpenCode leaves to messages. */
  readonly #limits = new Map<string, number>();
  /** Whether the command `ctxfold` is the plugin's: the user may have one of that name. */
  #hasCommand = true;
  /** Ids of sessions whose next list of messages is one that OpenCode will summarize. */
  readonly #summarizing = new Set<string>();

  constructor(input: OpenCodeInput, options: CompactorOptions) {
    this.#input = input;
    this.#host = new HostCompactor('opencode', storedMessageFormat, () => ({
      workspaceRoot: input.directory,
      ...options,
    }));
  }

  hooks(): OpenCodeHooks {
    return {
      config: async (config) => {
        config.command = { ctxfold: COMMAND, ...config.command };
        this.#hasCommand = asRecord(config.command)?.['ctxfold'] === COMMAND;
      },
      dispose: () => this.#host.close(),
      tool: {
        recall: {
          description: RECALL_DESCRIPTION,
          args: { id: { type: 'string', description: RECALL_ID_DESCRIPTION } as never },
          execute: (input, { sessionID }) =>
            recalled(asRecord(input)?.['id'], (id) => this.#original(id, sessionID)),
        },
      },
      'chat.params': async ({ agent, sessionID, model: { providerID, id, limit } }) => {
        // This is the call for the summary. OpenCode makes it even if there were no messages to pass to the other hook.
        if (agent === 'compaction') this.#summarizing.delete(sessionID);
        this.#setLimit(modelKey(providerID, id), limit);
      },
      'tool.definition': async ({ toolID }, { description, ...schema }) => {
        this.#toolTokens.set(toolID, estimatePayloadTokens([description, tryPlainData(schema)]));
      },
      'command.execute.before': async ({ command, sessionID }, { parts }) => {
        if (command !== 'ctxfold' || !this.#hasCommand) return;
        const text = `Repeat this to the user, word for word, and do nothing else:\n\n${this.#host.status(sessionID)}`;
        parts.splice(0, parts.length, { type: 'text', text });
      },
      'experimental.session.compacting': async ({ sessionID }) => {
        this.#summarizing.add(sessionID);
      },
      'experimental.chat.messages.transform': async (_input, { messages }) => {
        await this.#compact(messages);
      },
    };
  }

  async #compact(messages: OpenCodeMessage[]): Promise<void> {
    try {
      const sessionId = messages.at(-1)?.info.sessionID;
      // Messages to summarize are only a part of the conversation and do not continue it.
      if (sessionId === undefined || this.#summarizing.delete(sessionId)) return;
      const { modelID: modelName, providerID } = modelOf(messages);
      const key = modelKey(providerID, modelName);
      if (modelName !== undefined && !this.#limits.has(key)) {
        await this.#fetchLimit(providerID, modelName);
      }
      const contextLimit = this.#limits.get(key);
      const overheadTokens = [...this.#toolTokens.values()].reduce(
        (sum, tokens) => sum + tokens,
        SYSTEM_TOKENS,
      );
      const call = { sessionId, modelName, contextLimit, overheadTokens, ...usageOf(messages) };
      const { error, modelID: refusing } = lastAnswer(messages) ?? {};
      const refusal = asRecord(error)?.['data'];
      if (refusal !== undefined)
        this.#host.reportRefusal(refusal, { sessionId, modelName: asText(refusing) ?? modelName });
      const sent = await this.#host.compact(messages, call);
      if (sent !== messages) messages.splice(0, messages.length, ...sent);
    } catch {
      // The messages are invalid: OpenCode sends them uncompacted.
    }
  }

  /** Sets a model's limit to that at which OpenCode compacts, so that ctxfold compacts first. */
  #setLimit(key: string, { context, input, output }: OpenCodeLimit): void {
    const usable =
      typeof input === 'number'
        ? input - Math.min(RESERVED_TOKENS, output)
        : context - Math.min(MAX_OUTPUT_TOKENS, output);
    if (usable > 0) this.#limits.set(key, usable);
  }

  async #fetchLimit(providerId: string | undefined, modelName: string): Promise<void> {
    const answer = await this.#request('config', 'providers');
    const providers = asArray(asRecord(answer)?.['providers']).map(asRecord);
    const models = providers.find((provider) => provider?.['id'] === providerId)?.['models'];
    const { context, input, output } =
      asRecord(asRecord(asRecord(models)?.[modelName])?.['limit']) ?? {};
    if (typeof context !== 'number' || typeof output !== 'number') return;
    this.#setLimit(modelKey(providerId, modelName), {
      context,
      output,
      input: typeof input === 'number' ? input : undefined,
    });
  }

  /** Calls a method of OpenCode's client; returns `undefined` if that fails. */
  async #request(group: string, name: string, options?: object): Promise<unknown> {
    try {
      const calls = asRecord(asRecord(this.#input.client)?.[group]);
      const call = calls?.[name] as ((given?: object) => Promise<unknown>) | undefined;
      const late = (): Error => new Error('OpenCode did not answer');
      const answer = await withDeadline(CLIENT_TIMEOUT_MS, undefined, late, async () =>
        call?.call(calls, options),
      );
      return asRecord(answer)?.['data'];
    } catch {
      return undefined;
    }
  }

  async #original(id: string, sessionId: string): Promise<string | undefined> {
    const messages = await this.#request('session', 'messages', { path: { id: sessionId } });
    const parts = asArray(messages).flatMap((message) => asArray(asRecord(message)?.['parts']));
    // If several calls have the same id, a placeholder with that id stands for the first of them.
    const part = parts.map(asRecord).find((each) => each?.['callID'] === id);
    return part && originalOf(part);
  }
}

/** Returns the original result of a tool part. Prefers the stored output, because OpenCode keeps outputs that it has cleared. */
function originalOf(part: JsonRecord): string {
  return asText(asRecord(part['state'])?.['output']) ?? outcomeOf(part).text;
}

/** Returns the model of the newest user message. */
function modelOf(messages: readonly OpenCodeMessage[]) {
  const last = messages.findLast(({ info }) => info.role === 'user')?.info;
  const { providerID, modelID } = asRecord(asRecord(last)?.['model']) ?? {};
  return { providerID: asText(providerID), modelID: asText(modelID) };
}

/** Includes the provider, because providers may offer models of the same name with different limits. */
function modelKey(providerId: string | undefined, modelName: string | undefined): string {
  return `${providerId}/${modelName}`;
}

function lastAnswer(messages: readonly OpenCodeMessage[]): JsonRecord | undefined {
  return asRecord(messages.findLast(({ info }) => info.role === 'assistant')?.info);
}

/** Returns the provider's usage for the previous step; `{}` after a summary, whose request was OpenCode's own. */
function usageOf(messages: readonly OpenCodeMessage[]) {
  const last = lastAnswer(messages);
  if (last?.['summary'] === true) return {};
  const { input, cache } = asRecord(last?.['tokens']) ?? {};
  const { read, write } = asRecord(cache) ?? {};
  return reportedSum(input, read, write);
}
