// How many tokens a provider has counted of a request, as the answer in pi's messages has it. Estimates nothing.

import { asRecord } from '../../shared/json.js';
import { reportedTokens } from '../call-arguments.js';
import { fieldsOf, isUnsent } from './agent-message.js';
import type { PiMessage } from './agent-message.js';

/** What the provider reported for the request that the last answer came of; `undefined` where it did not. */
export function reportedInput(messages: readonly PiMessage[]): number | undefined {
  const last = messages.findLast(({ role }) => role === 'assistant');
  if (last === undefined || isUnsent(fieldsOf(last))) return undefined;
  const { usage } = last as { readonly usage?: unknown };
  const { input, cacheRead, cacheWrite } = asRecord(usage) ?? {};
  const tokens = [input, cacheRead ?? 0, cacheWrite ?? 0].map(reportedTokens);
  const sum = tokens.reduce<number>((total, count) => total + (count ?? NaN), 0);
  return sum > 0 ? sum : undefined;
}
