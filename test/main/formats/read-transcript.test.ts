import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { CtxfoldError } from '../../../src/shared/errors.js';
import { humanText } from '../../../src/shared/content.js';
import { agentPreset } from '../../../src/main/formats/presets.js';
import { readTranscript, streamTranscript } from '../../../src/main/formats/read-transcript.js';
import { TRANSCRIPT_FORMATS, type TranscriptFormat } from '../../../src/main/formats/transcript.js';
import { API_TALKS, bodyOf, talk } from '../../support/api-talks.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { asyncChunks, bare, readChunks, readJson, readLines } from './reading.js';

const USER = { type: 'user', uuid: 'u', message: { role: 'user', content: 'go' } };
const LINE = `${JSON.stringify(USER)}\n`;

const folder = temporaryFolder(afterAll);

async function file(name: string, content: string | Uint8Array): Promise<string> {
  const full = path.join(folder, name);
  await writeFile(full, content);
  return full;
}

async function failure(reading: Promise<unknown>): Promise<CtxfoldError> {
  const thrown: unknown = await reading.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(CtxfoldError);
  return thrown as CtxfoldError;
}

describe('a dump of messages', () => {
  it.each(API_TALKS)('is read as they are sent: $name', async (api) => {
    const messages = talk(api, 3);
    const body: unknown = JSON.parse(bodyOf(api, messages));
    for (const read of [
      await readJson(messages),
      await readJson(body),
      await readLines(messages),
    ]) {
      const types = read.entries.flatMap(({ blocks }) => blocks.map(({ type }) => type));
      const count = (type: string): number => types.filter((each) => each === type).length;
      expect([count('tool_call'), count('tool_response'), read.warnings]).toEqual([6, 6, []]);
    }
  });

  it.each(API_TALKS)('names the model of its request: $name', async (api) => {
    const body = JSON.parse(bodyOf(api, talk(api, 3))) as object;
    const { entries } = await readJson({ ...body, model: 'claude-opus-5-5' });
    const models = entries
      .filter(({ speaker }) => speaker === 'ai')
      .map(({ metadata }) => metadata?.model);
    expect(new Set(models)).toEqual(new Set(['claude-opus-5-5']));
  });
});

describe('readTranscript', () => {
  it('returns format, workspace root, entries, warnings and preset, whatever the name of the file', async () => {
    const text = `${JSON.stringify({ ...USER, cwd: '/repo' })}\n{"torn`;
    expect(await readTranscript(await file('notes.md', text))).toEqual({
      format: 'claude-code',
      workspaceRoot: '/repo',
      entries: [humanText('go', { id: 'u' })],
      warnings: [{ line: 2, message: expect.stringMatching(/^The line is no JSON/) as string }],
      preset: agentPreset('claude-code'),
    });
  });

  it('reads chunks like a file, and reports its progress', async () => {
    const text = LINE.repeat(3_000);
    const name = await file('long.jsonl', text);
    const progress: number[] = [];
    const onRead = (length: number): void => void progress.push(length);
    const whole = await readTranscript(name, { onRead });
    expect(progress.length).toBeGreaterThan(1);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
    expect(progress.at(-1)).toBe(Buffer.byteLength(text));
    expect(await readTranscript(asyncChunks([text.slice(0, 99), text.slice(99)]))).toEqual(whole);
    await expect(readTranscript(7 as never)).rejects.toThrow(TypeError);
    await expect(readTranscript(name, { onRead: 'no' as never })).rejects.toThrow(TypeError);
  });

  it('refuses what it cannot open or decode', async () => {
    const missing = await failure(readTranscript(path.join(folder, 'missing')));
    expect(missing).toMatchObject({ code: 'UNREADABLE_TRANSCRIPT', cause: { code: 'ENOENT' } });
    const directory = await failure(readTranscript(folder));
    expect(directory).toMatchObject({ code: 'UNREADABLE_TRANSCRIPT', cause: { code: 'EISDIR' } });
    const binary = await file('a.jsonl', Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3));
    expect(await failure(readTranscript(binary))).toMatchObject({
      code: 'UNREADABLE_TRANSCRIPT',
      message: `${binary} is no text file; give a transcript in JSON or JSON Lines.`,
      cause: expect.any(TypeError) as TypeError,
    });
  });

  it('refuses a binary file with brackets at the start of lines', async () => {
    const lines = Array.from({ length: 3_000 }, (_, at) => [10, at % 2 ? 0x7b : 0x5b, 0x80, 1]);
    const binary = await file('large.bin', Uint8Array.from(lines.flat()));
    expect(await failure(readTranscript(binary))).toMatchObject({
      code: 'UNREADABLE_TRANSCRIPT',
      message: expect.stringContaining('is no text file') as string,
    });
  });

  it.each([
    ['lines that are not JSON', `${'One of many words. '.repeat(10)}\n`, 51],
    ['an endless line', 'x'.repeat(2 ** 24), 18],
  ])('does not read %s to the end', async (_, piece, atMost) => {
    let pieces = 0;
    async function* endless(): AsyncGenerator<string> {
      for (; pieces < 100; pieces += 1) yield await Promise.resolve(piece);
    }
    expect(await failure(readTranscript(endless()))).toMatchObject({ code: 'UNKNOWN_FORMAT' });
    expect(pieces).toBeLessThanOrEqual(atMost);
  });

  it('reports where a damaged document stops being JSON', async () => {
    const damaged = await file('a.json', '{\n  "messages": [ { "role": "user" ] }');
    expect(await failure(readTranscript(damaged))).toMatchObject({
      code: 'UNREADABLE_TRANSCRIPT',
      message: "The transcript's JSON is damaged at line 2, column 34 (character 35).",
      cause: expect.any(SyntaxError) as SyntaxError,
    });
    const torn = await file('b.json', '{"messages": [');
    expect(await failure(readTranscript(torn))).toMatchObject({
      message: "The transcript's JSON ends too early at line 1, column 15 (character 14).",
    });
  });

  it.each([
    ['text', 'Just some notes.'],
    ['an unknown kind of document', '{"a":1}'],
    ['unknown records', '{"a":1}\n{"b":2}\n'],
    ['a number', '[1]'],
  ])('names the known formats when given %s', async (_, text) => {
    const error = await failure(readChunks([text]));
    expect(error.code).toBe('UNKNOWN_FORMAT');
    for (const format of TRANSCRIPT_FORMATS) expect(error.message).toContain(format);
  });

  it('says that a file is empty', async () => {
    expect(await failure(readChunks(['\n \n']))).toMatchObject({
      code: 'UNKNOWN_FORMAT',
      message: 'The transcript is empty.',
    });
  });

  it('refuses an unknown format', async () => {
    const format = 'aider' as TranscriptFormat;
    expect(await failure(readLines([USER], format))).toMatchObject({ code: 'UNKNOWN_FORMAT' });
  });

  it.each([
    [
      'Qwen Code',
      ['user', 'system', 'assistant']
        .map((type) => {
          const message = { role: type === 'user' ? 'user' : 'model', parts: [{ text: 'go' }] };
          const inner = type === 'system' ? { subtype: 'notice', systemPayload: {} } : { message };
          return JSON.stringify({ uuid: type, parentUuid: null, sessionId: 's', type, ...inner });
        })
        .join('\n'),
    ],
    [
      'Continue',
      JSON.stringify({ sessionId: 's', history: [{ message: { role: 'user', content: 'go' } }] }),
    ],
  ])('does not take a session of %s for one of another agent', async (_, text) => {
    expect(await failure(readChunks([text]))).toMatchObject({ code: 'UNKNOWN_FORMAT' });
  });

  const say = { role: 'user', content: 'go' };
  const called = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
  const results = [{ type: 'tool_result', tool_use_id: 'a', content: 'A' }];

  it.each([
    [
      'openai-chat',
      [
        say,
        { role: 'assistant', tool_calls: [called] },
        { role: 'tool', tool_call_id: 'a', content: 'A' },
      ],
    ],
    [
      'cline',
      [
        say,
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
        { role: 'user', content: results },
      ],
    ],
    [
      'gemini-cli',
      [
        { role: 'user', parts: [{ text: 'go' }] },
        { role: 'model', parts: [{ functionCall: { id: 'a', name: 'f', args: {} } }] },
        { role: 'user', parts: [{ functionResponse: { id: 'a', response: { output: 'A' } } }] },
      ],
    ],
    [
      'codex',
      [
        say,
        { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: 'A' },
      ],
    ],
  ] as const)('reads messages of %s one per line, as a list of them', async (format, messages) => {
    const lines = await readLines(messages);
    expect(lines).toEqual(await readJson(messages, format));
    expect(lines).toMatchObject({ format, warnings: [] });
    expect(lines.entries.map(({ speaker }) => speaker)).toEqual(['human', 'ai', 'tool']);
    expect(await readLines(messages, format)).toEqual(lines);
    const text = messages.map((message) => JSON.stringify(message)).join('\r\n');
    expect(await readChunks([`\uFEFF${text}`])).toEqual(lines);
  });

  it('reads a single message, and names the line of a damaged one', async () => {
    expect(await readLines([say])).toMatchObject({ entries: [humanText('go')], warnings: [] });
    const { entries, warnings } = await readChunks([`${JSON.stringify(say)}\n{"role":"us`]);
    expect(bare(entries)).toEqual([humanText('go')]);
    expect(warnings).toMatchObject([{ line: 2 }]);
  });

  it.each([
    ['a list of users', [1, 2].map((id) => ({ id, name: 'somebody', role: 'user' }))],
    ['many conversations', [{ messages: [say] }, { messages: [say] }]],
  ])('does not take %s for the messages of a session', async (_, records) => {
    expect(await failure(readLines(records))).toMatchObject({ code: 'UNKNOWN_FORMAT' });
  });

  it('takes no document for JSON Lines, however it is broken into lines', async () => {
    const lines = [say, say].map((message) => JSON.stringify(message));
    for (const text of [`[\n${lines.join(',\n')}\n]`, `[${lines.join(',\n')}]`]) {
      const { entries, warnings } = await readChunks([text]);
      expect({ entries: bare(entries), warnings }).toEqual({
        entries: [humanText('go'), humanText('go')],
        warnings: [],
      });
    }
  });

  it('names no file if the path is empty', async () => {
    expect((await failure(readTranscript(''))).message).toMatch(/^The transcript cannot be read: /);
  });

  it('rejects with the reason of an abort', async () => {
    const reason = new Error('enough');
    const name = await file('c.jsonl', LINE);
    await expect(readTranscript(name, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});

describe('streamTranscript', () => {
  it.each([
    ['UTF-8', (text: string) => Buffer.from(text)],
    ['UTF-16, as PowerShell redirects it', (text: string) => Buffer.from(text, 'utf16le')],
    ['UTF-16 of the other order', (text: string) => Buffer.from(text, 'utf16le').swap16()],
  ])(
    'reads bytes cut anywhere, with or without a byte order mark, and CRLF: %s',
    async (_, encoded) => {
      const record = { ...USER, message: { role: 'user', content: 'größer 😀' } };
      for (const mark of ['\uFEFF', '']) {
        const bytes = encoded(`${mark}${JSON.stringify(record)}\r\n`);
        const { entries, warnings } = await readChunks(
          Array.from(bytes, (byte) => Uint8Array.of(byte)),
        );
        expect(bare(entries)).toEqual([humanText('größer 😀')]);
        expect(warnings).toEqual([]);
      }
    },
  );

  it.each([
    ['JSON Lines', (record: object) => `${LINE}${JSON.stringify(record)}\n`, '.'],
    ['a document', (record: object) => `[\n${JSON.stringify(record)}]`, ', from column 28 on.'],
  ])(
    'says where bytes are no UTF-8, but not where U+FFFD was recorded: %s',
    async (_, text, end) => {
      const role = { type: 'user', uuid: 'w', sessionId: 's' };
      const message = (content: string) => ({ role: 'user', content });
      const record = (content: string) =>
        end === '.' ? { ...role, message: message(content) } : message(content);
      const read = (content: string) => {
        // `?` stands for the byte that is no UTF-8.
        const bytes = Buffer.from(text(record(content))).map((byte) => (byte === 63 ? 0xe9 : byte));
        return readChunks(Array.from(bytes, (byte) => Uint8Array.of(byte)));
      };
      const damaged = await read('\uFFFD?\uFFFDa');
      expect(bare(damaged.entries).at(-1)).toEqual(humanText('\uFFFD\uFFFD\uFFFDa'));
      const what = 'Text that is no valid Unicode was replaced by U+FFFD';
      expect(damaged.warnings).toEqual([{ line: 2, message: what + end }]);
      expect((await read('\uFFFD')).warnings).toEqual([]);
    },
  );

  it.each([
    ['gzip', [0x1f, 0x8b, 8, 0, 0]],
    ['zstd', [0x28, 0xb5, 0x2f, 0xfd, 4]],
  ])('reports how a compressed file is compressed: %s', async (name, bytes) => {
    expect(await failure(readChunks([Uint8Array.from(bytes)]))).toMatchObject({
      code: 'UNREADABLE_TRANSCRIPT',
      message: `The transcript is compressed with ${name}; decompress it first.`,
    });
  });

  it('detects the format behind damaged and unknown records', async () => {
    const { format } = await readChunks([`orn"}\n{"type":"new","uuid":"x"}\n{"a":1}\n${LINE}`]);
    expect(format).toBe('claude-code');
  });

  it('prefers a named format over the detected one', async () => {
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'go' }] }];
    expect(await readJson(messages, 'cline')).toMatchObject({
      format: 'cline',
      entries: [humanText('go')],
    });
    expect(await failure(readJson({ a: 1 }, 'gemini-cli'))).toMatchObject({
      code: 'UNREADABLE_TRANSCRIPT',
      message: 'The transcript is no gemini-cli document: it has no list "messages".',
    });
  });

  it('replaces lone surrogates everywhere and reports their number', async () => {
    const text =
      '{"type":"user","uuid":"u","message":{"content":"a\\ud83d b\\ude00 \\ud83d\\ude00"}}\n';
    const { entries, warnings } = await readChunks([text]);
    expect(bare(entries)).toEqual([humanText('a\uFFFD b\uFFFD \u{1F600}')]);
    expect(warnings).toEqual([{ message: 'lone surrogates replaced by U+FFFD: 2' }]);
  });

  it('replaces lone surrogates within parsed arguments', async () => {
    const call = { id: 'a', function: { name: 'f', arguments: '{"\\udc00":["\\udc00"]}' } };
    const { entries } = await readJson([{ role: 'assistant', tool_calls: [call] }]);
    expect(entries[0]?.blocks[0]).toMatchObject({ parameters: { '\uFFFD': ['\uFFFD'] } });
  });

  it('cuts off what is nested too deeply', async () => {
    const deep = `${'['.repeat(9000)}${']'.repeat(9000)}`;
    const call = { id: 'a', function: { name: 'f', arguments: deep } };
    const { entries, warnings } = await readJson([{ role: 'assistant', tool_calls: [call] }]);
    expect(JSON.stringify(entries)).toContain('[[["[nested too deeply]"]]]');
    expect(warnings).toEqual([{ message: 'values nested deeper than 256 levels cut off: 1' }]);
  });

  it('yields entries before it has read to the end', async () => {
    let isDone = false;
    async function* source(): AsyncGenerator<string> {
      await Promise.resolve();
      const content = [{ type: 'input_text', text: 'x' }];
      const payload = { type: 'message', role: 'user', content };
      yield `${JSON.stringify({ type: 'response_item', payload })}\n`.repeat(200);
      isDone = true;
    }
    for await (const event of streamTranscript(source())) {
      if (event.kind === 'entry') break;
    }
    expect(isDone).toBe(false);
  });

  it('reports a failing source as unreadable', async () => {
    const cause = new Error('disk');
    async function* source(): AsyncGenerator<string> {
      await Promise.resolve();
      yield LINE;
      throw cause;
    }
    const iterator = streamTranscript(source(), { format: 'codex' });
    expect(await failure(drain(iterator))).toMatchObject({ code: 'UNREADABLE_TRANSCRIPT', cause });
  });

  it('stops its source when it is left early', async () => {
    const chunks = asyncChunks([LINE, LINE]);
    for await (const event of streamTranscript(chunks)) {
      if (event.kind === 'format') break;
    }
    expect(await chunks.next()).toEqual({ value: undefined, done: true });
  });
});

async function drain(events: AsyncIterable<unknown>): Promise<void> {
  for await (const event of events) expect(event).toBeDefined();
}
