// Helpers for tests of provider rules: one case per rule, and request parts that no history contains.

import { describe, expect, it } from 'vitest';

import {
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../src/shared/content.js';
import type { IContent } from '../../src/shared/content.js';
import type {
  ProviderRequestOptions,
  Turn,
  TurnPart,
} from '../../src/shared/providers/provider-request.js';
import type {
  ProviderProfile,
  ProviderRule,
  ProviderViolation,
} from '../../src/shared/providers/provider-violation.js';
import { RULES_OF_PROFILE } from '../../src/shared/providers/rules-of-profile.js';
import { findRequestViolations, validate } from '../../src/shared/providers/validate.js';
import { historyOf } from './notation.js';

/** A history, possibly in the notation, or the turns of a request. */
type Sent = string | readonly IContent[] | { readonly turns: readonly Turn[] };

/** A single violation of a rule. */
export interface ProviderCase {
  readonly rule: ProviderRule;
  readonly broken: Sent;
  /** The provider's full message. */
  readonly message: string;
  /** A similar request that is accepted. */
  readonly valid: Sent;
  readonly options?: ProviderRequestOptions;
}

/** Tests each rule of a provider with one case. */
export function describeRules(profile: ProviderProfile, cases: readonly ProviderCase[]): void {
  describe(`rules of ${profile}`, () => {
    it.each(cases)('know $rule', ({ rule, broken, message, valid, options }) => {
      const found = violationsIn(broken, profile, options).filter((each) => each.rule === rule);
      expect(found[0]?.message).toBe(message);
      expect(violationsIn(valid, profile, options)).toEqual([]);
    });

    it('are all broken here', () => {
      const rules = cases.map(({ rule }) => rule);
      expect(rules.sort()).toEqual(Object.keys(RULES_OF_PROFILE[profile]).sort());
    });
  });
}

function violationsIn(
  sent: Sent,
  profile: ProviderProfile,
  options: ProviderRequestOptions = {},
): readonly ProviderViolation[] {
  if (typeof sent === 'string') return validate(historyOf(sent), profile, options);
  if (!('turns' in sent)) return validate(sent, profile, options);
  return findRequestViolations({ ...options, turns: sent.turns }, profile);
}

export function textPart(text: string): TurnPart {
  return { kind: 'text', text, content: text };
}

export function callPart(id: string): TurnPart {
  const facts = { name: 'read_file', hasObjectArguments: true, isSigned: false, content: id };
  return { kind: 'call', id, ...facts };
}

export function resultPart(callId: string): TurnPart {
  return { kind: 'result', callId, isError: false, isEmpty: false, content: callId };
}

export function userTurn(...parts: readonly TurnPart[]): Turn {
  return { role: 'user', parts };
}

export function assistantTurn(...parts: readonly TurnPart[]): Turn {
  return { role: 'assistant', parts };
}

/** Makes a history of one call with the given id, and its result. */
export function calledAs(id: string): IContent[] {
  return answeredCall(toolResponse(id, 'read_file', 'text'));
}

/** Makes a history of one call that failed with this error and no result. */
export function failedWith(error: string): IContent[] {
  return answeredCall(toolResponse('r1', 'read_file', '', error));
}

function answeredCall(response: ReturnType<typeof toolResponse>): IContent[] {
  const call = toolCall(response.callId, response.toolName, {});
  return [humanText('go'), aiContent([call]), toolContent([response])];
}
