// The adapter with whole conversations, and with real requests of the SDK to a provider that refuses what breaks a
// rule.

import { GoogleGenAI } from '@google/genai';
import type { Content, FunctionDeclaration, GenerateContentResponse, Part } from '@google/genai';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';

import { fileTools } from '../../../examples/support/file-tools.js';
import { geminiContents } from '../../../examples/support/history-as/gemini.js';
import type { ScriptedStep } from '../../../examples/support/scripted-provider.js';
import { makeTemporaryWorkspace } from '../../../examples/support/temporary-workspace.js';
import { contentsCompactor } from '../../../src/adapters/google/contents-compactor.js';
import { createCompactor } from '../../../src/main/compactor.js';
import type { CompressedEvent } from '../../../src/main/preflight/session-events.js';
import {
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { findRequestViolations } from '../../../src/shared/providers/validate.js';
import { readGeminiRequest } from '../../support/requests/gemini.js';
import { frameOf, groupOf } from '../../support/inclusions.js';
import { startStrictProvider } from '../../support/strict-provider.js';
import { arbitraryContents, responsePart } from './arbitrary-contents.js';
import { runs, sightings } from '../../support/scale.js';
import { openCompactor } from '../../support/open-compactor.js';

const compactor = createCompactor({ offload: 'inline', preset: 'specification' });
afterAll(() => compactor.close());

const MODEL = 'gemini-3-pro';

/** The rules that a conversation violates. */
function breaches(contents: readonly Content[]): readonly string[] {
  const request = readGeminiRequest({ contents, tools: [{}] }, `/models/${MODEL}`);
  return findRequestViolations(request, 'gemini').map(({ rule }) => rule);
}

const LONG = 'a line of the file\n'.repeat(40);

/** Work on a file that makes its first read stale, without ids. */
const WORK: readonly IContent[] = [
  humanText('Shorten a.ts.'),
  aiContent([toolCall('1', 'read_file', { file_path: 'a.ts' })]),
  toolContent([toolResponse('1', 'read_file', LONG)]),
  aiContent([
    { type: 'text', text: 'I write it.' },
    toolCall('2', 'write_file', { file_path: 'a.ts', content: 'short' }),
  ]),
  toolContent([toolResponse('2', 'write_file', 'ok')]),
  aiContent('It is short.'),
  humanText('Thanks. Now b.ts.'),
];

describe('contentsCompactor', () => {
  it.each([
    [
      'parts, as Gemini CLI records them',
      (words: string, file: string): Part[] =>
        [words, ...groupOf(['src/a.ts', file])].map((text) => ({ text })),
    ],
    [
      'one text, as the words before it ask for',
      (words: string, file: string): Part[] => [{ text: `${words}\n${frameOf('src/a.ts', file)}` }],
    ],
  ] as const)(
    'recognizes included files by default, and sends only the newest: %s',
    async (_, include) => {
      await using host = createCompactor({ offload: 'inline' });
      const compact = contentsCompactor(host);
      const contents: Content[] = [];
      const fileOf = (at: number): string => `version ${at}\n${LONG.repeat(20)}`;
      let sent: readonly Content[] = [];
      for (let at = 0; at < 11; at += 1) {
        const parts = include(`${at}. What does @src/a.ts do now?`, fileOf(at));
        contents.push({ role: 'user', parts });
        sent = await compact(contents, { modelName: MODEL });
        contents.push({ role: 'model', parts: [{ text: `It does ${at}.` }] });
      }
      const text = JSON.stringify(sent);
      const versions = Array.from({ length: 11 }, (__, at) => at).filter((at) =>
        text.includes(`version ${at}\\n`),
      );
      expect(versions).toEqual([10]);
      // The user's words stay, and the last included file stays as it was given.
      for (let at = 0; at < 11; at += 1)
        expect(text).toContain(`${at}. What does @src/a.ts do now?`);
      expect(sent.at(-1)).toBe(contents.at(-2));
      expect(breaches(sent)).toEqual([]);
    },
  );

  it.each([true, false])('refers to what an earlier result shows (ids: %s)', async (hasIds) => {
    await using host = createCompactor({ offload: 'inline' });
    const file = Array.from({ length: 60 }, (_, at) => `const value${at} = ${at ** 2};`).join('\n');
    const read = (id: string): Content[] => {
      const use = { ...(hasIds && { id }), name: 'read_file' };
      return [
        { role: 'model', parts: [{ functionCall: { ...use, args: { file_path: 'a.ts' } } }] },
        { role: 'user', parts: [{ functionResponse: { ...use, response: { output: file } } }] },
      ];
    };
    const contents = [
      { role: 'user', parts: [{ text: 'Look twice.' }] },
      ...read('1'),
      ...read('2'),
    ];
    const sent = await contentsCompactor(host)(contents, { modelName: MODEL });
    const last = JSON.stringify(sent.at(-1));
    expect(last).toContain(`unchanged from the result of ${hasIds ? '1' : '#1.0'}`);
    expect(last.length).toBeLessThan(300);
    expect(sent.slice(0, -1)).toEqual(contents.slice(0, -1));
  });

  it('drops a stale read with its call, and keeps all other contents as they are', async () => {
    const contents = geminiContents(WORK);
    const compact = contentsCompactor(compactor, { edits: 'every-turn' });
    const compacted = await compact(contents);
    expect(compacted).toEqual([contents[0], ...contents.slice(3)]);
    compacted.forEach((content) => expect(contents).toContain(content));
    expect(contents).toHaveLength(7);
    expect(compact.report()).toMatchObject([{ givenMessages: 7, sentMessages: 5 }]);
  });

  it('leaves a text of the user behind shrunk results in its own content', async () => {
    await using host = createCompactor({ offload: 'inline' });
    const contents = geminiContents([
      humanText('Run it.'),
      aiContent([toolCall('1', 'run_shell_command', { command: 'make' })]),
      toolContent([toolResponse('1', 'run_shell_command', LONG.repeat(9))]),
    ]);
    const compact = contentsCompactor(host);
    const sent = await compact(contents);
    expect(sent[2]).not.toBe(contents[2]);
    contents.push({ role: 'user', parts: [{ text: 'Go on.' }] });
    expect(await compact(contents)).toEqual([...sent, contents[3]]);
    expect(await compact(structuredClone(contents))).toEqual([...sent, contents[3]]);
  });

  it("joins the model's texts around a removed call", async () => {
    const contents = geminiContents(WORK);
    contents[1]!.parts!.unshift({ text: 'I read it.' });
    const compacted = await contentsCompactor(compactor, { edits: 'every-turn' })(contents);
    expect(compacted[1]).toEqual({
      role: 'model',
      parts: [contents[1]!.parts![0], ...contents[3]!.parts!],
    });
    expect(compacted.slice(2)).toEqual(contents.slice(4));
  });

  it.each([
    ['its own result', (compacted: Content[]) => compacted],
    ['copies of it, as a chat gives out', (compacted: Content[]) => structuredClone(compacted)],
  ])('continues from %s', async (_, carried) => {
    const own = openCompactor({ preset: 'specification' });
    const contents = geminiContents(WORK);
    contents[1]!.parts!.unshift({ text: 'I read it.' });
    const compact = contentsCompactor(own, { edits: 'every-turn' });
    const compacted = await compact(contents);
    const answer: Content = { role: 'model', parts: [{ text: 'Sure.' }] };
    expect(await compact([...carried(compacted), answer])).toEqual([...compacted, answer]);
    expect(compact.report()).toMatchObject([{ givenMessages: 8, sentMessages: 7 }]);
  });

  it('keeps turns signed, complete and in order, whatever is stale', async () => {
    let edited = 0;
    await fc.assert(
      fc.asyncProperty(arbitraryContents, async (contents) => {
        const compacted = await contentsCompactor(compactor, { edits: 'every-turn' })(contents);
        if (partsOf(compacted).length < partsOf(contents).length) edited += 1;
        expect(breaches(contents)).toEqual(expect.arrayContaining([...breaches(compacted)]));
        const given = new Set(partsOf(contents));
        for (const part of partsOf(compacted)) expect(given).toContain(part);
      }),
      { numRuns: runs(200) },
    );
    expect(edited).toBeGreaterThan(sightings(20));
  });

  it('names an invalid content', async () => {
    const compact = contentsCompactor(compactor, { onError: 'throw' });
    await expect(compact('hello' as unknown as Content[])).rejects.toThrow(TypeError);
    await expect(compact(['hello' as unknown as Content])).rejects.toThrow(
      'Expected a content { role, parts } at contents[0], got a string.',
    );
  });

  describe.each(['generateContent', 'generateContentStream'] as const)('with %s', (method) => {
    it.each([true, false])('completes a task with files; ids: %s', async (callIds) => {
      const workspace = await makeTemporaryWorkspace();
      const tools = fileTools(workspace.root);
      const provider = await startStrictProvider(SCRIPT, { callIds });
      const client = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: provider.url } });
      const compact = contentsCompactor(compactor, { edits: 'every-turn' });
      const contents: Content[] = [{ role: 'user', parts: [{ text: 'Fix the price.' }] }];
      for (;;) {
        const parts = await ask(client, method, tools, await compact(contents));
        contents.push({ role: 'model', parts });
        const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
        if (calls.length === 0) break;
        const responses = calls.map(async ({ id, name, args }) => {
          const tool = tools.find((one) => one.name === name)!;
          const output = await tool.run(args as Record<string, string>);
          return responsePart({ ...(id !== undefined && { id }), name, response: { output } });
        });
        contents.push({ role: 'user', parts: await Promise.all(responses) });
      }
      await workspace.remove();
      expect(provider.requests.map(({ status }) => status)).toEqual(SCRIPT.map(() => 200));
      const sent = provider.requests.map(({ body }) => JSON.stringify(body['contents']));
      expect(sent[1]).toContain('quantity > BULK_QUANTITY');
      // The second of two parallel reads is removed; the first one carries the signature, and stays.
      const stale = JSON.stringify(provider.requests.at(-1)!.body['contents']);
      expect(stale).toContain('price.js');
      expect(stale.match(/"functionResponse"/g)).toHaveLength(3);
      expect(partsOf(contents).filter(isResponse)).toHaveLength(4);
    });
  });
});

const SCRIPT: readonly ScriptedStep[] = [
  {
    text: 'I read both.',
    toolCalls: [
      { name: 'read_file', input: { file_path: 'README.md' } },
      { name: 'read_file', input: { file_path: 'src/price.js' } },
    ],
  },
  { toolCalls: [{ name: 'replace', input: replacement() }] },
  { toolCalls: [{ name: 'read_file', input: { file_path: 'src/price.js' } }] },
  { text: 'Ten pieces get the discount now.' },
];

function replacement(): Record<string, string> {
  return { file_path: 'src/price.js', old_string: 'quantity >', new_string: 'quantity >=' };
}

function partsOf(contents: readonly Content[]): Part[] {
  return contents.flatMap(({ parts = [] }) => parts);
}

function isResponse(part: object): boolean {
  return 'functionResponse' in part;
}

/** The parts of one answer, which may arrive in chunks. */
async function ask(
  client: GoogleGenAI,
  method: 'generateContent' | 'generateContentStream',
  tools: ReturnType<typeof fileTools>,
  contents: Content[],
): Promise<Part[]> {
  const functionDeclarations = tools.map(
    ({ name, description, inputSchema }): FunctionDeclaration => ({
      name,
      description,
      parametersJsonSchema: inputSchema,
    }),
  );
  const request = { model: MODEL, contents, config: { tools: [{ functionDeclarations }] } };
  const said = ({ candidates }: GenerateContentResponse): Part[] =>
    candidates?.[0]?.content?.parts ?? [];
  if (method === 'generateContent') return said(await client.models.generateContent(request));
  const parts: Part[] = [];
  for await (const chunk of await client.models.generateContentStream(request)) {
    parts.push(...said(chunk));
  }
  return parts;
}

describe("compression by 'provider' with Google", () => {
  it('is replaced by the strategy of `compression.fallback`, and reported once', async () => {
    const events: CompressedEvent[] = [];
    const compactor = openCompactor({
      contextLimit: 6_000,
      settings: {
        ...{ 'compression.strategy': 'provider', 'compression.ahead': 0.5 },
        'compression.fallback': 'top-down-truncation',
      },
    });
    const compact = contentsCompactor(compactor, {
      onError: 'throw',
      onSession: (session) => session.on('compressed', (event) => events.push(event)),
    });
    const contents: Content[] = [];
    let sent: readonly Content[] = [];
    while (events.length === 0 && contents.length < 200) {
      contents.push({ role: 'model', parts: [{ text: 'fine '.repeat(400) }] });
      contents.push({ role: 'user', parts: [{ text: `go on ${contents.length}` }] });
      sent = await compact(contents);
    }
    expect(events).toMatchObject([
      { strategy: 'top-down-truncation', outcome: 'applied', fallbackFrom: { strategy: 'provider' } },
    ]); // prettier-ignore
    expect(events[0]?.fallbackFrom?.error.message).toContain('nobody here can ask a provider');
    expect(sent.length).toBeLessThan(contents.length);
  });
});
