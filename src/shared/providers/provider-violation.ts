// What a check of a history against a provider's rules finds.

/** The protocols whose rules are known. */
export const PROVIDER_PROFILES = [
  'anthropic',
  'openai-chat',
  'openai-responses',
  'gemini',
  'bedrock',
] as const;

/** A protocol: Anthropic Messages, OpenAI Chat Completions, OpenAI Responses, Gemini, Bedrock Converse. */
export type ProviderProfile = (typeof PROVIDER_PROFILES)[number];

/** The name of each rule that a provider can have. */
export type ProviderRule =
  /** The conversation does not start with the user. */
  | 'first-turn'
  /** Two turns in succession have one role. */
  | 'alternation'
  /** The conversation ends with the assistant, and the model does not go on with that. */
  | 'prefill'
  /** A call has no result where it must have one. */
  | 'tool-result-missing'
  /** A result names no call, or none that stands where it must. */
  | 'tool-call-missing'
  /** A result follows calls, and names none of them. */
  | 'tool-call-unknown'
  /** A call has two results. */
  | 'tool-result-repeated'
  /** Something else stands before a result. */
  | 'tool-result-not-first'
  /** There are more results than calls, or another number of them. */
  | 'tool-result-count'
  /** Something else stands beside results. */
  | 'tool-result-mixed'
  | 'tool-result-empty'
  /** A call follows the model's own turn. */
  | 'call-placement'
  | 'call-id-repeated'
  | 'call-id-pattern'
  /** The arguments of a call are no object. */
  | 'call-arguments'
  /** There are calls or results, and the request defines no tools. */
  | 'tools-undefined'
  | 'empty-message'
  | 'blank-text'
  | 'trailing-whitespace'
  /** Reasoning is on, and the present turn does not start with any. */
  | 'thinking-missing'
  /** Reasoning is off, and the last turn holds some. */
  | 'thinking-unexpected'
  | 'thinking-unsigned'
  /** Reasoning does not stand behind what it was made from any more. Some models drop it without a word. */
  | 'reasoning-bound'
  /** A message ends with reasoning. */
  | 'thinking-last'
  | 'thought-signature-missing'
  /** A reasoning item stands without what it led to. */
  | 'reasoning-alone'
  | 'item-id-repeated'
  | 'item-id-prefix'
  | 'cache-control-count'
  /** A text holds half of a surrogate pair. */
  | 'lone-surrogate';

/** One breach of a provider's rule. */
export interface ProviderViolation {
  readonly rule: ProviderRule;
  /** What the provider answers, with ids and positions filled in. Providers change their wording. */
  readonly message: string;
  /** Index of the message, content or item in the request that the history is sent as. */
  readonly turn: number;
  /** Index in that message's parts, where one part is to blame. */
  readonly part?: number;
  /** Index in the history. */
  readonly entry?: number;
  /** Index in the entry's blocks, where one block is to blame. */
  readonly block?: number;
  /** Index in the history of the entry that brought it about, where that is another one: which is not as it was sent. */
  readonly causedBy?: number;
}
