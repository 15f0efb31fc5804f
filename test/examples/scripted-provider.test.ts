// The scripted provider plays its script, whatever the requests say.

import { describe, expect, it, onTestFinished } from 'vitest';

import { startScriptedProvider } from '../../examples/support/scripted-provider.js';
import type {
  ScriptedProvider,
  ScriptedProviderOptions,
} from '../../examples/support/scripted-provider.js';

async function start(options: ScriptedProviderOptions): Promise<ScriptedProvider> {
  const provider = await startScriptedProvider(options);
  onTestFinished(() => provider.close());
  return provider;
}

async function post(
  { url }: ScriptedProvider,
  path: string,
  body: unknown,
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(url + path, { method: 'POST', body: JSON.stringify(body) });
  return { status: response.status, text: await response.text() };
}

describe('startScriptedProvider', () => {
  it('plays a step for every request that it answers with 200', async () => {
    const provider = await start({
      script: [{ text: 'first' }, { text: 'second' }],
      check: ({ body }) => (body['model'] === 'odd' ? 'No such model.' : undefined),
    });
    const ask = (model: string): ReturnType<typeof post> =>
      post(provider, '/v1/messages', { model });
    expect((await ask('m')).text).toContain('first');
    expect((await ask('odd')).text).toContain('No such model.');
    provider.failNext(500);
    expect((await ask('m')).status).toBe(500);
    expect((await ask('m')).text).toContain('second');
    expect((await ask('m')).text).toContain('The script has no step 2.');
    expect(provider.requests.map(({ status }) => status)).toEqual([200, 400, 500, 200, 400]);
  });

  it('calls a script that is a function for each step', async () => {
    const provider = await start({
      script: ({ api, path, body }, at) => ({ text: [api, path, body['model'], at].join(' ') }),
    });
    await post(provider, '/v1/responses', { model: 'm' });
    expect((await post(provider, '/v1/chat/completions', { model: 'n' })).text).toContain(
      '"openai-chat /v1/chat/completions n 1"',
    );
  });

  it('estimates the tokens of a request by its length', async () => {
    const provider = await start({ script: () => ({ text: 'x' }) });
    const body = { model: 'm', messages: [{ role: 'user', content: 'x'.repeat(4000) }] };
    const { text } = await post(provider, '/v1/messages', body);
    const { usage } = JSON.parse(text) as { readonly usage: { readonly input_tokens: number } };
    expect(usage.input_tokens).toBe(Math.ceil(JSON.stringify(body).length / 4));
  });

  it.each([
    ['/v1/messages', 'signature', 'signature_delta'],
    ['/v1/chat/completions', 'reasoning_content', 'reasoning_content'],
    ['/v1/responses', 'encrypted_content', 'response.reasoning_summary_text.delta'],
    ['/v1beta/models/m:generateContent', 'thoughtSignature', ''],
  ])('returns reasoning in the form of %s', async (path, whole, streamed) => {
    const provider = await start({ script: () => ({ reasoning: 'Hm.', text: 'Yes.' }) });
    expect((await post(provider, path, {})).text).toContain(`"${whole}"`);
    if (streamed === '') return;
    expect((await post(provider, path, { stream: true })).text).toContain(`"${streamed}"`);
  });

  it('refuses other paths, and bodies that are no JSON', async () => {
    const provider = await start({ script: () => ({ text: 'x' }) });
    expect((await post(provider, '/v1/models', {})).status).toBe(404);
    const broken = await fetch(`${provider.url}/v1/messages`, { method: 'POST', body: '{' });
    expect(broken.status).toBe(400);
    expect(provider.requests).toEqual([]);
  });

  it('accepts no connection once it is closed', async () => {
    const provider = await start({ script: () => ({ text: 'x' }) });
    await post(provider, '/v1/messages', {});
    await provider.close();
    await expect(post(provider, '/v1/messages', {})).rejects.toThrow('fetch failed');
  });
});
