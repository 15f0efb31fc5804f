// What the server and the engine say to each other: plain data, as it may cross threads. Bodies lie in memory that both share.

import type { CostReport } from '../../main/preflight/cost-meter.js';
import type { ApiName } from './apis.js';

/** A request whose body has come in. */
export interface EngineCall {
  readonly api: ApiName;
  /** Must not change any more. */
  readonly body: Uint8Array;
  /** Tells apart who may have a conversation in common: users by their keys, upstreams. */
  readonly scope: string;
  /** How the host names its conversation; several may have one name. */
  readonly name?: string | undefined;
  /** Where the path names it. */
  readonly model?: string | undefined;
  /** Why the request is not for editing, where its headers say so. */
  readonly passes?: string | undefined;
}

/** What became of a request. */
export interface EngineAnswer {
  /**
   * `edited`: the new body is to be sent. `unchanged`: nothing was to be edited. `passed`: the request is not for editing.
   * `failed`: it could not be read, or compacting it failed. But for the first, the body is to be sent as it came.
   */
  readonly outcome: 'edited' | 'unchanged' | 'passed' | 'failed';
  /** Why, without content of the conversation. */
  readonly reason?: string | undefined;
  /** In memory that threads share. */
  readonly body?: Uint8Array | undefined;
  readonly line?: LineReport | undefined;
  /** What has landed in this call. */
  readonly edits: readonly EditReport[];
}

/** One conversation as it stands. */
export interface LineReport {
  readonly id: string;
  readonly name: string | undefined;
  readonly api: ApiName;
  readonly model: string | undefined;
  readonly givenMessages: number;
  readonly sentMessages: number;
  /** Tokens by estimate, with edits and without. */
  readonly costs: CostReport;
  readonly contextLimit: number;
  /** How long the request asks its provider to keep it, in milliseconds; `undefined` when it does not say. */
  readonly cacheTtlMs: number | undefined;
  /** Whether this call began it. */
  readonly isNew: boolean;
}

/** One edit, without content. */
export interface EditReport {
  readonly number: number;
  readonly rule: string;
  readonly action: string;
  readonly tool: string | undefined;
  /** Characters of text, before and after. */
  readonly before: number;
  readonly after: number;
}

/** What a provider reported of a request. */
export interface AnsweredUsage {
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
}

/** Compacts what it is given. Nothing of it rejects. */
export interface Engine {
  /** Makes a request of a conversation ready. */
  compact(call: EngineCall): Promise<EngineAnswer>;
  /** Compacts the messages in a body that belong to no conversation. */
  compactOnce(body: Uint8Array): Promise<OnceAnswer>;
  /** Takes what was reported for the last request of a conversation. */
  report(line: string, usage: AnsweredUsage): void;
  /** Takes what a provider has refused a request with. */
  reportRefusal(text: string, model: string | undefined): void;
  /** The text that an edit took away; `undefined` once it is not kept any more. */
  original(line: string, edit: number): Promise<string | undefined>;
  close(): Promise<void>;
}

/** What is answered to messages of no conversation. */
export interface OnceAnswer {
  readonly status: 200 | 400;
  /** JSON, or what is wrong with what was asked. */
  readonly body: Uint8Array;
}

/** What an engine on a thread of its own can be asked; the arguments are those of its methods. */
export type EngineMethod = Exclude<keyof Engine, 'close'>;

/** One question to it. */
export interface EngineQuestion {
  readonly id: number;
  readonly method: EngineMethod;
  readonly arguments: readonly unknown[];
}

/** What became of a question. */
export interface EngineReply {
  readonly id: number;
  readonly value: unknown;
}
