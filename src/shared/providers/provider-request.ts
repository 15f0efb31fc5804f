// A request to a provider, reduced to what the rules need, and functions to search it. `read-history.ts` converts a history
// into this form; the body of a real request can be converted too.

import type { IContent } from '../content.js';

/** The fields of all parts. */
interface PartBase {
  /** The source of the part, for rules about its text. */
  readonly content: unknown;
  /** Whether a cache breakpoint is set on it. */
  readonly hasCacheControl?: boolean;
  /** Its position in the history that it was read from. */
  readonly entry?: number;
  readonly block?: number;
}

/** Text, including code. */
export interface TextPart extends PartBase {
  readonly kind: 'text';
  readonly text: string;
}

/** Reasoning of a model, in the form that the provider accepts. */
export interface ReasoningPart extends PartBase {
  readonly kind: 'reasoning';
  /** Whether it has a signature or is encrypted. */
  readonly isSigned: boolean;
}

/** A tool call. */
export interface CallPart extends PartBase {
  readonly kind: 'call';
  readonly id: string;
  readonly name: string;
  /** Whether the arguments are a JSON object. */
  readonly hasObjectArguments: boolean;
  /** Whether the call itself has a signature, as with Gemini. */
  readonly isSigned: boolean;
}

/** The result of a tool call. */
export interface ResultPart extends PartBase {
  readonly kind: 'result';
  readonly callId: string;
  readonly isError: boolean;
  readonly isEmpty: boolean;
}

/** An image or a document, or a part that no rule is about. */
export interface OtherPart extends PartBase {
  readonly kind: 'media' | 'opaque';
}

/** A part of a turn, discriminated by `kind`. */
export type TurnPart = TextPart | ReasoningPart | CallPart | ResultPart | OtherPart;

/** One element of a request's list: a message, a content or an input item. */
export interface Turn {
  /** `tool` for a tool message or an output item. */
  readonly role: 'user' | 'assistant' | 'tool';
  readonly parts: readonly TurnPart[];
  /** The item's id, if the protocol has items and this one is sent with its id. */
  readonly itemId?: string;
  /** Index of the first history entry that it was read from. */
  readonly entry?: number;
}

/** Facts about a request and its model that a history does not contain. */
export interface ProviderRequestOptions {
  /** Whether the request turns reasoning on. @default unknown; rules that depend on it are skipped */
  readonly thinking?: boolean;
  /** Whether the request defines tools. @default true */
  readonly definesTools?: boolean;
  /** Whether the model continues a conversation that ends with its own message. @default true */
  readonly allowsPrefill?: boolean;
  /** Whether calls of the current turn must be signed, as with Gemini 3 and later. @default false */
  readonly requiresThoughtSignatures?: boolean;
  /** Whether a message may have text besides tool results; some models on Bedrock refuse it. @default true */
  readonly allowsTextBesideResults?: boolean;
  /** Number of cache breakpoints outside of the conversation, on system text and tools. @default 0 */
  readonly cacheBreakpoints?: number;
  /**
   * The histories that were sent before, in order: for models that bind reasoning to everything before it, such as Claude since
   * Fable 5.1 and Opus 5.5 and GPT since 6.2. @default unknown; the rule that needs it is skipped
   */
  readonly sentBefore?: readonly (readonly IContent[])[];
}

/** A request: its conversation, in order, and the options. */
export interface ProviderRequest extends Omit<ProviderRequestOptions, 'sentBefore'> {
  readonly turns: readonly Turn[];
  /** The turns of the requests before this one. */
  readonly sent?: readonly (readonly Turn[])[];
}

/** A place where a request breaks a rule. */
export interface Finding {
  readonly turn: number;
  readonly part?: number;
  /** Details for the message: ids, a count, a name. */
  readonly subject?: string;
  /** Index in the history of the entry that caused it, if that is another one. */
  readonly cause?: number | undefined;
}

/** Finds all places where a request breaks one rule. Linear in the request. */
export type Check = (request: ProviderRequest) => readonly Finding[];

/** Makes a check that finds every part for which `subject` returns a text or `true`. */
export function eachPart(subject: (part: TurnPart) => string | boolean): Check {
  return ({ turns }) => {
    const findings: Finding[] = [];
    turns.forEach(({ parts }, turn) => {
      parts.forEach((part, at) => {
        const found = subject(part);
        if (found === true) findings.push({ turn, part: at });
        else if (found !== false) findings.push({ turn, part: at, subject: found });
      });
    });
    return findings;
  };
}

/** Makes a check that collects what `find` returns for each turn. */
export function eachTurn(
  find: (
    turn: Turn,
    at: number,
    turns: readonly Turn[],
  ) => Omit<Finding, 'turn'> | readonly Finding[] | undefined,
): Check {
  return ({ turns }) => {
    const findings: Finding[] = [];
    turns.forEach((turn, at) => {
      const found = find(turn, at, turns);
      if (found === undefined) return;
      // Not spread: a turn can have more findings than a call can take arguments.
      if ('length' in found) for (const finding of found) findings.push(finding);
      else findings.push({ ...found, turn: at });
    });
    return findings;
  };
}

/** The calls of an assistant turn; none for other turns. */
export function callsOf(turn: Turn | undefined): readonly CallPart[] {
  if (turn?.role !== 'assistant') return [];
  return turn.parts.filter((part): part is CallPart => part.kind === 'call');
}

/** The results of a turn. */
export function resultsOf(turn: Turn | undefined): readonly ResultPart[] {
  return (turn?.parts ?? []).filter((part): part is ResultPart => part.kind === 'result');
}
