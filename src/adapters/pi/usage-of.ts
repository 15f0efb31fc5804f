// What a provider has reported of a request, as the answer in pi's messages has it. Estimates nothing.

import { asRecord } from '../../shared/json.js';
import { reportedSum } from '../call-arguments.js';
import { fieldsOf, isUnsent } from './agent-message.js';
import type { PiMessage } from './agent-message.js';

/** Returns what the provider reported for the request that the last answer came of; nothing where it did not. */
export function usageOf(messages: readonly PiMessage[]): ReturnType<typeof reportedSum> {
  const last = messages.findLast(({ role }) => role === 'assistant');
  if (last === undefined || isUnsent(fieldsOf(last))) return {};
  const { usage } = last as { readonly usage?: unknown };
  const { input, cacheRead, cacheWrite } = asRecord(usage) ?? {};
  return reportedSum(input, cacheRead, cacheWrite);
}
