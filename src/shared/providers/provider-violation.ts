// The names of providers and their rules, and the result of checking a history against them.

/** The supported protocols. */
export const PROVIDER_PROFILES = [
  'anthropic',
  'openai-chat',
  'openai-responses',
  'gemini',
  'bedrock',
] as const;

/** A protocol: Anthropic Messages, OpenAI Chat Completions, OpenAI Responses, Gemini, Bedrock Converse. */
export type ProviderProfile = (typeof PROVIDER_PROFILES)[number];

/** The names of all rules; each provider has some of them. */
export type ProviderRule =
  /** The conversation does not start with the user. */
  | 'first-turn'
  /** Two consecutive turns have the same role. */
  | 'alternation'
  /** The conversation ends with the assistant, and the model does not continue it. */
  | 'prefill'
  /** A call has no result where it must have one. */
  | 'tool-result-missing'
  /** A result names no call, or none in the required place. */
  | 'tool-call-missing'
  /** A result follows calls, but names none of them. */
  | 'tool-call-unknown'
  /** A call has two results. */
  | 'tool-result-repeated'
  /** Something else is before a result. */
  | 'tool-result-not-first'
  /** There are more results than calls, or not as many. */
  | 'tool-result-count'
  /** A message has something besides results. */
  | 'tool-result-mixed'
  | 'tool-result-empty'
  /** A call follows the model's own turn. */
  | 'call-placement'
  | 'call-id-repeated'
  | 'call-id-pattern'
  /** The arguments of a call are not an object. */
  | 'call-arguments'
  /** There are calls or results, but the request defines no tools. */
  | 'tools-undefined'
  | 'empty-message'
  | 'blank-text'
  | 'trailing-whitespace'
  /** Reasoning is on, but the current turn does not start with any. */
  | 'thinking-missing'
  /** Reasoning is off, but the last turn has some. */
  | 'thinking-unexpected'
  | 'thinking-unsigned'
  /** Reasoning no longer follows the conversation that it was generated from. Some models drop it silently. */
  | 'reasoning-bound'
  /** A message ends with reasoning. */
  | 'thinking-last'
  | 'thought-signature-missing'
  /** A reasoning item is not followed by its output. */
  | 'reasoning-alone'
  | 'item-id-repeated'
  | 'item-id-prefix'
  | 'cache-control-count'
  /** A text has half of a surrogate pair. */
  | 'lone-surrogate';

/** One breach of a provider's rule. */
export interface ProviderViolation {
  readonly rule: ProviderRule;
  /** The provider's error message, with ids and positions filled in. Providers change their wording. */
  readonly message: string;
  /** Index of the message, content or item in the request. */
  readonly turn: number;
  /** Index in that message's parts, if one part is to blame. */
  readonly part?: number;
  /** Index in the history. */
  readonly entry?: number;
  /** Index in the entry's blocks, if one block is to blame. */
  readonly block?: number;
  /** If another entry is to blame: the history index of the entry that differs from what was sent before. */
  readonly causedBy?: number;
}
