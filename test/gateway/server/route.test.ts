import { describe, expect, it } from 'vitest';
import { routeOf } from '../../../src/gateway/server/route.js';

const UPSTREAMS = {
  anthropic: 'https://api.anthropic.com',
  openai: 'https://api.openai.com/v1',
  gemini: 'https://generativelanguage.googleapis.com',
  azure: 'https://mine.openai.azure.com',
  foundry: 'https://mine.services.ai.azure.com/anthropic',
  bedrock: 'https://bedrock-runtime.us-east-1.amazonaws.com',
  vertex: 'https://us-east5-aiplatform.googleapis.com/v1',
  openrouter: 'https://openrouter.ai/api/v1',
  groq: 'https://api.groq.com/openai/v1',
  ollama: 'http://127.0.0.1:11434',
};
const DEPLOYMENT = '/openai/deployments/mine/chat/completions?api-version=2026-01-01';
const BY_VERSION = '/openai/responses?api-version=2026-01-01';
const SONNET = 'us.anthropic.claude-sonnet-4-5-20250929-v1';
const PROJECT = 'projects/p/locations/us-east5';
const CLAUDE = `${PROJECT}/publishers/anthropic/models/claude-sonnet-4-5@20250929`;
const GEMINI = `${PROJECT}/publishers/google/models/gemini-2.5-pro`;

describe('routeOf', () => {
  it.each([
    // Azure
    [`/azure${DEPLOYMENT}`, `azure${DEPLOYMENT}`, 'chat'],
    [DEPLOYMENT, `azure${DEPLOYMENT}`, 'chat'],
    [`/azure${BY_VERSION}`, `azure${BY_VERSION}`, 'responses'],
    [BY_VERSION, `azure${BY_VERSION}`, 'responses'],
    ['/openai/v1/responses?by=api-version', 'openai/v1/responses?by=api-version', 'responses'],
    ['/azure/openai/v1/responses', 'azure/openai/v1/responses', 'responses'],
    ['/azure/models/chat/completions', 'azure/models/chat/completions', 'chat'],
    ['/foundry/v1/messages', 'foundry/anthropic/v1/messages', 'anthropic'],
    // Amazon Bedrock: clients write the model plain or percent-encoded
    [`/model/${SONNET}:0/invoke`, `bedrock/model/${SONNET}:0/invoke`, 'anthropic', `${SONNET}:0`],
    [
      `/bedrock/model/${SONNET}%3A0/invoke-with-response-stream`,
      `bedrock/model/${SONNET}%3A0/invoke-with-response-stream`,
      ...['anthropic', `${SONNET}:0`],
    ],
    [`/model/${SONNET}/converse-stream`, `bedrock/model/${SONNET}/converse-stream`],
    ['/model/amazon.nova-pro-v1%3A0/invoke', 'bedrock/model/amazon.nova-pro-v1%3A0/invoke'],
    // Google Cloud: the version is in the base URL, or in the path
    [
      `/vertex/${CLAUDE}:streamRawPredict`,
      `vertex/v1/${CLAUDE}:streamRawPredict`,
      ...['anthropic', 'claude-sonnet-4-5@20250929'],
    ],
    [
      `/v1/${CLAUDE}:rawPredict`,
      `vertex/v1/${CLAUDE}:rawPredict`,
      ...['anthropic', 'claude-sonnet-4-5@20250929'],
    ],
    [
      `/vertex/v1beta1/${GEMINI}:streamGenerateContent?alt=sse`,
      `vertex/v1beta1/${GEMINI}:streamGenerateContent?alt=sse`,
      ...['gemini', 'gemini-2.5-pro'],
    ],
    [
      `/vertex/v1/${PROJECT}/publishers/anthropic/models/count-tokens:rawPredict`,
      `vertex/v1/${PROJECT}/publishers/anthropic/models/count-tokens:rawPredict`,
      ...['anthropic, count', 'count-tokens'],
    ],
    [
      `/vertex/v1/${PROJECT}/publishers/mistralai/models/large:rawPredict`,
      `vertex/v1/${PROJECT}/publishers/mistralai/models/large:rawPredict`,
    ],
    // Others
    ['/openrouter/chat/completions', 'openrouter/api/v1/chat/completions', 'chat'],
    ['/openrouter/api/v1/responses/', 'openrouter/api/v1/responses/', 'responses'],
    ['/groq/openai/v1/chat/completions', 'groq/openai/v1/chat/completions', 'chat'],
    ['/ollama/api/chat', 'ollama/api/chat', 'chat'],
    ['/ollama/api/generate', 'ollama/api/generate'],
    // A base URL with a trailing slash
    ['//v1/messages?beta=true', 'anthropic/v1/messages?beta=true', 'anthropic'],
    ['/openai//responses', 'openai/v1/responses', 'responses'],
    // Requests other than conversations
    ['/v1/messages/count_tokens', 'anthropic/v1/messages/count_tokens', 'anthropic, count'],
    ['/v1/responses/input_tokens', 'openai/v1/responses/input_tokens', 'responses, count'],
    [
      '/v1beta/models/gemini-2.5-pro:countTokens',
      'gemini/v1beta/models/gemini-2.5-pro:countTokens',
      ...['gemini, count', 'gemini-2.5-pro'],
    ],
    ['/v1internal:countTokens', 'gemini/v1internal:countTokens', 'code-assist, count'],
    ['/v1/responses/compact', 'openai/v1/responses/compact', 'responses, count'],
  ])('routes %s to %s', (target, to, api?: string, model?: string) => {
    const route = routeOf({ method: 'POST', headers: {} }, target, UPSTREAMS);
    expect(`${route?.upstreamName}${route?.path}`).toBe(to);
    const count = route?.isSideRequest === true ? ', count' : '';
    expect(route?.api && `${route.api.name}${count}`).toBe(api);
    if (api !== undefined) expect(route?.model).toBe(model);
  });

  it('routes a request with a Google key to Google', () => {
    const route = routeOf(
      { method: 'GET', headers: { 'x-goog-api-key': 'k' } },
      '/v1/models',
      UPSTREAMS,
    );
    expect(route?.upstreamName).toBe('gemini');
  });

  it('routes no request for Azure, Amazon or Google Cloud to another provider, which would get its key', () => {
    const { azure: _a, bedrock: _b, vertex: _v, ...others } = UPSTREAMS;
    for (const target of [
      DEPLOYMENT,
      BY_VERSION,
      `/model/${SONNET}/invoke`,
      `/v1/${CLAUDE}:rawPredict`,
    ])
      for (const given of [target, `/${target}`])
        expect(routeOf({ method: 'POST', headers: {} }, given, others)).toBeUndefined();
  });

  it('takes no api-version of another service in place of OpenAI for one of Azure', () => {
    const others = { openai: 'https://mine.openai.azure.com/openai/v1' };
    const route = routeOf({ method: 'POST', headers: {} }, BY_VERSION, others);
    expect(route).toMatchObject({
      upstreamName: 'openai',
      path: '/openai/v1/responses?api-version=2026-01-01',
    });
    const both = { ...others, azure: UPSTREAMS.azure };
    const other = routeOf({ method: 'POST', headers: {} }, BY_VERSION, both);
    expect(other?.upstreamName).toBe('azure');
  });
});
