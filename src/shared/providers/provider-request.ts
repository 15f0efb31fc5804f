// A request to a provider, reduced to what its rules look at. A history is read into this form (see
// read-history.ts), and so can the body of a real request be; rules know nothing of either.

import type { IContent } from '../content.js';

/** What every part says of itself besides its kind. */
interface PartBase {
  /** What the part was read from, for rules about the text in it. */
  readonly content: unknown;
  /** Whether a cache breakpoint is set on it. */
  readonly hasCacheControl?: boolean;
  /** Where it stands in the history that it was read from. */
  readonly entry?: number;
  readonly block?: number;
}

/** Text, code included. */
export interface TextPart extends PartBase {
  readonly kind: 'text';
  readonly text: string;
}

/** What a model thought, in the form in which a provider takes it back. */
export interface ReasoningPart extends PartBase {
  readonly kind: 'reasoning';
  /** Whether it has the signature or the encrypted form that says where it comes from. */
  readonly isSigned: boolean;
}

/** A tool call. */
export interface CallPart extends PartBase {
  readonly kind: 'call';
  readonly id: string;
  readonly name: string;
  /** Whether the arguments are a JSON object. */
  readonly hasObjectArguments: boolean;
  /** Whether the call itself carries a signature, as Gemini has it. */
  readonly isSigned: boolean;
}

/** The result of a tool call. */
export interface ResultPart extends PartBase {
  readonly kind: 'result';
  readonly callId: string;
  readonly isError: boolean;
  readonly isEmpty: boolean;
}

/** A picture or a document; or anything else that no rule is about. */
export interface OtherPart extends PartBase {
  readonly kind: 'media' | 'opaque';
}

/** A part of a turn, told apart by `kind`. */
export type TurnPart = TextPart | ReasoningPart | CallPart | ResultPart | OtherPart;

/** One element of the list that a request sends: a message, a content, an input item. */
export interface Turn {
  /** `tool` for what is no message of the user's own: a tool message, an output item. */
  readonly role: 'user' | 'assistant' | 'tool';
  readonly parts: readonly TurnPart[];
  /** The id of an item, where the protocol has items and this one is sent with its id. */
  readonly itemId?: string;
  /** The first entry of the history that it was read from. */
  readonly entry?: number;
}

/** What a request says besides its conversation, and what its model takes. None of it is in a history. */
export interface ProviderRequestOptions {
  /** Whether the request turns reasoning on. @default unknown; rules about it are skipped */
  readonly thinking?: boolean;
  /** Whether the request defines tools. @default true */
  readonly definesTools?: boolean;
  /** Whether the model goes on with what it has said when that comes last. @default true */
  readonly allowsPrefill?: boolean;
  /** Whether calls of the present turn must be signed, as Gemini 3 and later want it. @default false */
  readonly requiresThoughtSignatures?: boolean;
  /** Whether text may stand beside tool results; some models of Bedrock refuse it. @default true */
  readonly allowsTextBesideResults?: boolean;
  /** Cache breakpoints outside of the conversation, on system text and tools. @default 0 */
  readonly cacheBreakpoints?: number;
  /**
   * The histories that were sent before, in their order: for models that bind reasoning to all that stands before it, as Claude
   * since Fable 5.1 and Opus 5.5 and GPT since 6.2 do. @default unknown; the rule about it is skipped
   */
  readonly sentBefore?: readonly (readonly IContent[])[];
}

/** A request: its conversation in order, and the rest. */
export interface ProviderRequest extends Omit<ProviderRequestOptions, 'sentBefore'> {
  readonly turns: readonly Turn[];
  /** The turns of the requests before this one. */
  readonly sent?: readonly (readonly Turn[])[];
}

/** Where a request breaks a rule, and whom by. */
export interface Finding {
  readonly turn: number;
  readonly part?: number;
  /** What the rule is about there: ids, a count, a name. */
  readonly subject?: string;
  /** Index in the history of the entry that brought it about, where another one did. */
  readonly cause?: number | undefined;
}

/** Finds every place at which a request breaks one rule. Takes time linear in the request. */
export type Check = (request: ProviderRequest) => readonly Finding[];
