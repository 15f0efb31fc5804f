// The protocol between server and engine. Only plain data, because it may cross threads; bodies are in shared memory.

import type { CostReport } from '../../main/preflight/cost-meter.js';
import type { ApiName } from './apis.js';

/** A request with its complete body. */
export interface EngineCall {
  readonly api: ApiName;
  /** Must not be modified after the call: it is shared memory. */
  readonly body: Uint8Array;
  /** Separates users (by key) and upstreams: conversations are never shared between scopes. */
  readonly scope: string;
  /** The host's name for the conversation. Not unique: sub-agents use their parent's name. */
  readonly name?: string | undefined;
  /** The model, if the path names it. */
  readonly model?: string | undefined;
  /** Why no new edits must be made, if the head of the request says so: see `passesByHeaders` and `SIDE_REQUEST`. */
  readonly passes?: string | undefined;
  /** The text with which the upstream refused the compacted request, which is now compacted again. @default nothing was refused */
  readonly refusal?: string | undefined;
  /** Whether the original body is sent in any case, so that no new body needs to be assembled. @default false */
  readonly isObserved?: boolean | undefined;
}

/** The result for a request. */
export interface EngineAnswer {
  /**
   * `edited`: send the new body. `unchanged`: nothing to edit. `passed`: the request must not be edited. `failed`: it could not
   * be read, or compaction failed. In all cases but the first, send the original body.
   */
  readonly outcome: 'edited' | 'unchanged' | 'passed' | 'failed';
  /** The reason, without content of the conversation. */
  readonly reason?: string | undefined;
  /** The edited body, in shared memory. `undefined` if the request is only observed. */
  readonly body?: Uint8Array | undefined;
  /** Length of the edited body in bytes, also if the request is only observed. */
  readonly editedBytes?: number | undefined;
  /** The conversation of which the request is a turn. */
  readonly conversation?: ConversationState | undefined;
  /** The conversation in whose form a request is sent that is no turn of it, but a count, a side call or a compaction. */
  readonly sideOf?: Pick<ConversationState, 'id' | 'name'> | undefined;
  /** The edits that landed in this call. */
  readonly edits: readonly EditReport[];
  /** What else failed since the previous answer, such as saving a state, without content. */
  readonly failures?: readonly string[] | undefined;
}

/** The state of one conversation. */
export interface ConversationState {
  readonly id: string;
  readonly name: string | undefined;
  readonly api: ApiName;
  readonly model: string | undefined;
  readonly givenMessages: number;
  readonly sentMessages: number;
  /** Tokens sent with edits and without, and an estimate of how many of them the provider's cache served. */
  readonly costs: CostReport;
  readonly contextLimit: number;
  /** The cache lifetime that the request asks for, in milliseconds; `undefined` if it asks for none. */
  readonly cacheTtlMs: number | undefined;
  /** Whether the model refuses reasoning that follows other messages than those from which the model produced it. */
  readonly bindsReasoning: boolean;
  /** Whether this call started the conversation. */
  readonly isNew: boolean;
  /** Whether the host has rewritten the earlier messages: summarized them, or cleared results. */
  readonly isRewritten: boolean;
}

/** One edit, without content. */
export interface EditReport {
  readonly number: number;
  readonly rule: string;
  readonly action: string;
  readonly tool: string | undefined;
  /** Length of the text before and after the edit, in characters. */
  readonly before: number;
  readonly after: number;
}

/** The usage that a provider reported for a request, in its tokens. `inputTokens` excludes tokens of the cache. */
export interface AnsweredUsage {
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  /** Whether the numbers are sums over several requests, because the provider ran tools itself. @default false */
  readonly isSum?: boolean;
}

/** Compacts requests. Its promises never reject. */
export interface Engine {
  /** Compacts a request of a conversation. */
  compact(call: EngineCall): Promise<EngineAnswer>;
  /** Compacts messages that belong to no conversation. */
  compactOnce(body: Uint8Array): Promise<OnceAnswer>;
  /**
   * Records the usage that the provider reported for a request. Ignored once the conversation's next request has been compacted.
   *
   * @param conversation the report in the engine's answer to that request
   */
  report(conversation: Pick<ConversationState, 'id' | 'costs'>, usage: AnsweredUsage): void;
  /**
   * Records a provider's refusal, which may name the context limit. The conversation's next request is compacted so that it is not
   * refused for the same reason.
   */
  reportRefusal(text: string, model: string | undefined, conversationId: string | undefined): void;
  /**
   * Notes that reasoning in a conversation may be bound to other messages than those that will be sent, because requests were sent
   * unedited so far. The next request is sent without that reasoning.
   */
  noteBoundReasoning(conversationId: string): void;
  /** Resolves to the text that an edit removed; `undefined` if it is no longer kept. */
  original(conversationId: string, edit: number): Promise<string | undefined>;
  close(): Promise<void>;
}

/** The answer to `compactOnce`. */
export interface OnceAnswer {
  readonly status: 200 | 400 | 503;
  /** JSON, or the reason for the refusal. */
  readonly body: Uint8Array;
}

/** One call of a method of an engine in another thread. */
export interface EngineQuestion {
  readonly id: number;
  readonly method: keyof Engine;
  readonly arguments: readonly unknown[];
}

/** The result of a call. */
export interface EngineReply {
  readonly id: number;
  readonly value: unknown;
}
