// The scripted provider of the examples, and one that takes nothing which breaks a rule: what comes over
// the wire from an SDK is read and judged as the service would.

import { onTestFinished } from 'vitest';

import { startScriptedProvider } from '../../examples/support/scripted-provider.js';
import type {
  IncomingRequest,
  ProviderApi,
  ScriptedProvider,
  ScriptedProviderOptions,
} from '../../examples/support/scripted-provider.js';
import type {
  ProviderRequest,
  ProviderRequestOptions,
} from '../../src/shared/providers/provider-request.js';
import type { ProviderViolation } from '../../src/shared/providers/provider-violation.js';
import { findRequestViolations } from '../../src/shared/providers/validate.js';
import { readAnthropicRequest } from './requests/anthropic.js';
import { readGeminiRequest } from './requests/gemini.js';
import { readChatRequest } from './requests/openai-chat.js';
import { readResponsesRequest } from './requests/openai-responses.js';

export type StrictProviderOptions = Pick<ScriptedProviderOptions, 'callIds'> & {
  /** What goes before what the body tells. */
  readonly request?: ProviderRequestOptions;
};

const READERS: Readonly<Record<ProviderApi, (request: IncomingRequest) => ProviderRequest>> = {
  anthropic: ({ body }) => readAnthropicRequest(body),
  'openai-chat': ({ body }) => readChatRequest(body),
  'openai-responses': ({ body }) => readResponsesRequest(body),
  gemini: ({ body, path }) => readGeminiRequest(body, path),
};

/**
 * Starts one that ends with the test. A request that breaks a rule is answered with 400, the provider's
 * envelope and its text for the first breach, and uses up no step of the script.
 */
export async function startStrictProvider(
  script: ScriptedProviderOptions['script'],
  { request: options = {}, ...rest }: StrictProviderOptions = {},
): Promise<ScriptedProvider> {
  const provider = await startScriptedProvider({
    ...rest,
    script,
    check: (request) => findBreaches(request, options)[0]?.message,
  });
  onTestFinished(() => provider.close());
  return provider;
}

/** Lists what the service would refuse of a request that came in. */
export function findBreaches(
  request: IncomingRequest,
  options: ProviderRequestOptions = {},
): readonly ProviderViolation[] {
  return findRequestViolations({ ...READERS[request.api](request), ...options }, request.api);
}
