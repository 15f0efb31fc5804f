// Compaction on demand by Anthropic through the AI SDK, whose own package would lose the signature of a compaction block.

import { createAnthropic } from '@ai-sdk/anthropic';
import { generateText } from 'ai';
import type { ModelMessage } from 'ai';
import { describe, expect, it } from 'vitest';

import { compactingFetch } from '../../../src/adapters/anthropic/compacting-fetch.js';
import { createCompactor } from '../../../src/main/compactor.js';
import type { Session } from '../../../src/main/session.js';
import { startCompactingProvider } from '../../support/compacting-provider.js';
import { openCompaction } from '../../support/compaction-by-model.js';

const LONG = 'lorem ipsum dolor '.repeat(150);

/** Plays turns of an agent with thinking and a call each. `asRequest` passes each request as a `Request`. */
async function play(turns: number, asRequest: boolean) {
  const provider = await startCompactingProvider();
  const { compactor, options, events } = openCompaction({ 'compression.preserveThreshold': 0.5 });
  const compacting = compactingFetch(compactor, options);
  const fetch: typeof compacting = (url, init) =>
    asRequest ? compacting(new Request(url, init)) : compacting(url, init);
  const anthropic = createAnthropic({ baseURL: `${provider.baseURL}/v1`, apiKey: 'key', fetch });
  const messages: ModelMessage[] = [];
  for (let at = 0; at < turns; at += 1) {
    const toolCallId = `toolu_${at}`;
    const call = { toolCallId, toolName: 'grep' };
    const output = { type: 'text', value: `${at} ${LONG}` } as const;
    const signed = { providerOptions: { anthropic: { signature: `s${at}` } } };
    messages.push(
      { role: 'user', content: `Never skip part ${at}. ${LONG}` },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: `thought ${at}`, ...signed },
          { type: 'tool-call', ...call, input: { at } },
        ],
      },
      { role: 'tool', content: [{ type: 'tool-result', ...call, output }] },
      { role: 'assistant', content: `done ${at}` },
      { role: 'user', content: `go on ${at}` },
    );
    const model = anthropic('claude-opus-4-5');
    const providerOptions = {
      anthropic: { thinking: { type: 'enabled', budgetTokens: 2_000 } },
    } as const;
    const { text } = await generateText({ model, messages, providerOptions, maxRetries: 0 });
    messages.push({ role: 'assistant', content: text });
  }
  return { provider, events };
}

const LINES = Array.from({ length: 200 }, (_, at) => `${at} lines`).join('\n');
const CALL = { type: 'tool_use', name: 'read_file', input: { path: 'a.ts' } };
const BODY = {
  anthropic_version: 'any',
  messages: [
    { role: 'user', content: 'read it twice' },
    { role: 'assistant', content: [{ ...CALL, id: 't1' }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: LINES }] },
    { role: 'assistant', content: [{ ...CALL, id: 't2' }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't2', content: LINES }] },
  ],
};
const REQUEST = JSON.stringify(BODY);

/** Sends a request that can be made smaller. */
async function sendTo(url: string, fields: object) {
  await using compactor = createCompactor({ offload: 'inline', tokenizer: 'estimate' });
  const models: (string | undefined)[] = [];
  let sent: unknown;
  const onSession = (session: Session): void => {
    session.on('pruned', () => void models.push(session.history.modelName));
  };
  const fetch = compactingFetch(compactor, { onSession }, (_, init) => {
    sent = init?.body;
    return Promise.resolve(Response.json({}));
  });
  const { anthropic_version: _, ...body } = BODY;
  await fetch(url, { method: 'POST', body: JSON.stringify({ ...fields, ...body }) });
  return { sent, models };
}

describe('compactingFetch', () => {
  it.each([
    ['', false],
    [', as a Request', true],
  ])(
    'has Anthropic compact, and sends the signed block byte for byte, with the thinking behind it%s',
    async (_, asRequest) => {
      const { provider, events } = await play(12, asRequest);
      const asked = provider.requests.filter(({ body }) => body['compaction'] !== undefined);
      expect(asked.length).toBeGreaterThan(1);
      expect(provider.requests.filter(({ status }) => status !== 200)).toEqual([]);
      expect(events.map(({ strategy, outcome }) => `${strategy} ${outcome}`)).toEqual(
        asked.map(() => 'provider applied'),
      );
      const first = provider.requests.indexOf(asked[0]!);
      const [next] = provider.requests.slice(first + 1);
      expect(JSON.stringify(next?.body.messages?.[0])).toContain('"signature"');
      const kept = next!.body.messages!.filter((message) =>
        JSON.stringify(message).includes('"tool_use"'),
      );
      expect(kept.length).toBeGreaterThan(0);
      for (const message of kept) expect(JSON.stringify(message)).toContain('"thinking"');
    },
  );

  it.each([
    [
      'https://h/v1/projects/p/publishers/anthropic/models/claude-opus-5-5@20261001:rawPredict',
      true,
    ],
    ['https://h/v1/publishers/anthropic/models/claude-opus-5-5:streamRawPredict', true],
    ['https://h/model/us.anthropic.claude-opus-5-5-v1%3A0/invoke', true],
    ['https://h/model/arn%3Aaws%3Abedrock%3Ax/invoke-with-response-stream', true],
    ['https://h/v1/publishers/anthropic/models/count-tokens:rawPredict', false],
    ['https://h/model/us.anthropic.claude-opus-5-5-v1%3A0/converse', false],
  ])('compacts requests to Claude at %s: %s', async (url, isCompacted) => {
    const { sent, models } = await sendTo(url, { anthropic_version: 'any' });
    expect(sent !== REQUEST).toBe(isCompacted);
    expect(models.map((name) => /opus|arn:/.test(name ?? ''))).toEqual(isCompacted ? [true] : []);
  });

  it('leaves requests to other models of Bedrock unchanged', async () => {
    expect((await sendTo('https://h/model/us.amazon.nova-pro-v1%3A0/invoke', {})).sent).toBe(
      JSON.stringify({ messages: BODY.messages }),
    );
  });

  it('leaves a request with an AWS signature unchanged, and says so once', async () => {
    const warnings: string[] = [];
    const logger = { debug: () => undefined, warn: (said: string) => void warnings.push(said), error: () => undefined }; // prettier-ignore
    await using compactor = createCompactor({ offload: 'inline', tokenizer: 'estimate' });
    const seen: unknown[] = [];
    const fetch = compactingFetch(compactor, { logger }, (_, init) => {
      seen.push(init?.body);
      return Promise.resolve(Response.json({}));
    });
    const headers = { authorization: 'AWS4-HMAC-SHA256 Credential=a/b' };
    for (const url of ['https://h/v1/messages', 'https://h/model/claude/invoke'])
      await fetch(url, { method: 'POST', headers, body: REQUEST });
    expect(seen).toEqual([REQUEST, REQUEST]);
    expect(warnings).toEqual([expect.stringContaining('AWS refuses')]);
  });

  it('leaves requests for other purposes unchanged', async () => {
    const { compactor } = openCompaction();
    const seen: unknown[] = [];
    const fetch = compactingFetch(compactor, {}, (...request) => {
      seen.push(request);
      return Promise.resolve(new Response('{}'));
    });
    const requests = [
      ['https://api.anthropic.com/v1/models', undefined],
      ['https://api.anthropic.com/v1/files', { method: 'POST', body: new Blob(['x']) }],
    ] as const;
    for (const [url, init] of requests) await fetch(url, init);
    expect(seen).toEqual(requests);
  });
});
