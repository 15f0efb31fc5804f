// What a service would refuse in a request, for any of the four APIs.

import type { IncomingRequest, ProviderApi } from '../../examples/support/scripted-provider.js';
import type { ProviderRequest } from '../../src/shared/providers/provider-request.js';
import type { ProviderViolation } from '../../src/shared/providers/provider-violation.js';
import { findRequestViolations } from '../../src/shared/providers/validate.js';
import { readAnthropicRequest } from './requests/anthropic.js';
import { readGeminiRequest } from './requests/gemini.js';
import { readChatRequest } from './requests/openai-chat.js';
import { readResponsesRequest } from './requests/openai-responses.js';

const READERS: Readonly<Record<ProviderApi, (request: IncomingRequest) => ProviderRequest>> = {
  anthropic: ({ body }) => readAnthropicRequest(body),
  'openai-chat': ({ body }) => readChatRequest(body),
  'openai-responses': ({ body }) => readResponsesRequest(body),
  gemini: ({ body, path }) => readGeminiRequest(body, path),
};

/** Reads the parts of a request that rules are about. */
export function readRequest(request: IncomingRequest): ProviderRequest {
  return READERS[request.api](request);
}

/** Lists what the service would refuse in a request. */
export function findBreaches(
  request: IncomingRequest,
  options: Partial<ProviderRequest> = {},
): readonly ProviderViolation[] {
  return findRequestViolations({ ...readRequest(request), ...options }, request.api);
}
