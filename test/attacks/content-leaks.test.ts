// Session content in every field of a recording, and values that a caller passes by mistake: an attacker could have read it
// in shared reports, in `--json`, and in error logs, and could have sent control sequences to a terminal.

import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it, test } from 'vitest';
import {
  createCompactor,
  fromLanguageModel,
  HistoryService,
  humanText,
  toolCall,
} from '../../src/index.js';
import { optimize } from '../../src/density.js';
import { parseEphemeralSettings } from '../../src/settings.js';
import { getCompressionStrategy, parseCompressionStrategyName } from '../../src/strategies.js';
import { streamTranscript, TRANSCRIPT_FORMATS } from '../../src/transcripts.js';
import { validate } from '../../src/validate.js';
import type { IContent } from '../../src/index.js';
import type { TranscriptFormat } from '../../src/transcripts.js';
import { recordingOf } from '../../bench/scaling/recordings.js';
import { messageCompactor } from '../../src/ai-sdk.js';
import { printable, printableLines } from '../../src/cli/terminal/terminal-text.js';
import { runCommand } from '../support/run-command.js';
import { PLAYS_ALL, sample } from '../support/scale.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const scratch = temporaryFolder(afterAll);

/** A distinct canary per field, so that a leak shows its source. Spaces keep it from being taken for a name. */
let made = 0;
function canary(): string {
  made += 1;
  return `canary ${made} sk-live=4242`;
}

const CANARY = /canary \d+ sk-live/;
/** The start of a canary, which survives truncation. */
const TRACE = /canary|sk-live/;

/** A session with a canary in every text, long enough for edits and compressions. */
function leakySession(): IContent[] {
  const steps = Array.from({ length: 24 }, (_, at): IContent[] => {
    const id = `${canary()} ${at}`;
    const name = at % 3 === 0 ? canary() : at % 3 === 1 ? 'Read' : 'Write';
    const file = `/home/${canary()}/${at >> 2}.ts`;
    const parameters = { file_path: file, content: canary(), command: canary(), [canary()]: 1 };
    return [
      {
        speaker: 'ai',
        blocks: [
          { type: 'thinking', thought: canary() },
          { type: 'text', text: canary() },
          toolCall(id, name, parameters),
        ],
      },
      {
        speaker: 'tool',
        blocks: [
          {
            type: 'tool_response',
            callId: id,
            toolName: name,
            result: `${canary()}\n`.repeat(200),
          },
        ],
      },
    ];
  });
  return [
    humanText(`--- ${canary()}.md ---\n${canary()}\n--- End of content ---\n`),
    ...steps.flat(),
  ];
}

/** Invalid roles, types and lines, which readers report. */
function damaged(format: TranscriptFormat): string {
  const text = recordingOf(leakySession(), format);
  if (format === 'claude-code' || format === 'codex' || format === 'pi') {
    const odd = { type: canary(), uuid: 'odd', sessionId: 's', cwd: `/home/${canary()}` };
    const context = {
      type: 'turn_context',
      payload: { cwd: `/home/${canary()}`, model: canary() },
    };
    return `${JSON.stringify(odd)}\n${JSON.stringify(context)}\n${text}{"${canary()}": ${canary()}\n`;
  }
  const document = JSON.parse(text) as Record<string, unknown>;
  const list = Array.isArray(document)
    ? document
    : ((document['messages'] ?? document['history']) as unknown[]);
  list.push({ role: canary(), type: canary(), content: canary() });
  list.push({ role: 'tool', type: canary(), tool_call_id: canary(), content: canary() });
  // In SWE-agent's recordings a command is a tool's name.
  if (format === 'swe-agent') {
    const action = `AWS_SECRET_ACCESS_KEY=sk-live-4242 ./deploy`;
    list.push({ role: 'assistant', content: 'go', thought: 'go', action });
  }
  return JSON.stringify(document);
}

describe.each(TRANSCRIPT_FORMATS)('a recording of %s', (format) => {
  const file = path.join(scratch, `${format}.recording`);
  writeFileSync(file, damaged(format));
  const given = [file, '--format', format] as const;
  const tight = ['--context-limit', '3000', '--recency', '1', '--offload', 'inline'] as const;

  const commands = [
    ['analyze', ...given, '--json'],
    ['analyze', ...given, '--json', '--recency', '1'],
    ['analyze', ...given, '--json', '--explain', '2'],
    ['analyze', ...given, '--json', '--explain', '7'],
    ['replay', ...given, '--json', ...tight],
  ];
  // By default half of the formats get one of them, the others another.
  const turn = TRANSCRIPT_FORMATS.indexOf(format) / 2;
  const played = PLAYS_ALL ? commands : commands.filter((_, at) => at === turn);

  test.each(played)('is not quoted by %s %s %s %s %s', async (...args) => {
    const { stdout, stderr } = await runCommand(args);
    expect(JSON.parse(stdout)).toHaveProperty('reportVersion', 1);
    expect(stdout).not.toMatch(TRACE);
    expect(stderr).not.toMatch(TRACE);
  });

  const isShown = sample(TRANSCRIPT_FORMATS, 2).includes(format);
  it.runIf(isShown)(
    'is not quoted by a report that hides content, and is by one that does not',
    async () => {
      const output = path.join(scratch, `${format}.html`);
      const { stderr } = await runCommand(['report', ...given, ...tight, '-o', output]);
      expect(stderr).not.toMatch(TRACE);
      expect(readFileSync(output, 'utf8')).not.toMatch(TRACE);

      chmodSync(output, 0o644);
      await runCommand(['report', ...given, ...tight, '--no-redact', '-o', output]);
      expect(readFileSync(output, 'utf8')).toMatch(TRACE);
      expect(statSync(output).mode & 0o777).toBe(0o600);
    },
  );

  it('is not quoted by warnings', async () => {
    const warnings: string[] = [];
    for await (const event of streamTranscript(file, { format })) {
      if (event.kind === 'warning') warnings.push(event.warning.message);
    }
    expect(warnings.join('\n')).not.toMatch(TRACE);
  });
});

/** The message of an error without its causes, which are the caller's own. */
async function messageOf(act: () => unknown): Promise<string> {
  try {
    await act();
  } catch (thrown) {
    if (thrown instanceof Error) return thrown.message;
    throw thrown;
  }
  throw new Error('Expected it to refuse what it was given.');
}

/** A value that the types would refuse. */
function wrong(value: unknown): never {
  return value as never;
}

describe('errors', () => {
  const history = new HistoryService();

  it.each<[string, () => unknown]>([
    [
      'a speaker',
      () => {
        history.add(wrong({ speaker: canary(), blocks: [] }));
      },
    ],
    [
      'a block type',
      () => {
        history.add(wrong({ speaker: 'ai', blocks: [{ type: canary() }] }));
      },
    ],
    [
      'blocks',
      () => {
        history.add(wrong({ speaker: 'ai', blocks: canary() }));
      },
    ],
    [
      'metadata',
      () => {
        history.add(wrong({ ...humanText('x'), metadata: canary() }));
      },
    ],
    [
      'a parameter below a key',
      () => {
        history.add({ speaker: 'ai', blocks: [toolCall('a', 'run', { [canary()]: () => 1 })] });
      },
    ],
    ['a setting', () => parseEphemeralSettings({ 'compression.strategy': canary() })],
    ['a number of a setting', () => parseEphemeralSettings({ 'compression.threshold': canary() })],
    ['a strategy', () => parseCompressionStrategyName(canary())],
    ['a strategy to get', () => getCompressionStrategy(wrong(canary()))],
    ['a profile', () => validate([], wrong(canary()))],
    [
      'rules',
      () => optimize([], wrong({ workspaceRoot: '/', workingSet: { readCalls: canary() } })),
    ],
    ['options', () => createCompactor(wrong({ offload: canary(), tokenizer: canary() }))],
    [
      'edits',
      () => createCompactor({ offload: 'inline' }).createSession(wrong({ edits: canary() })),
    ],
    ['a format', () => streamTranscript('/nowhere', wrong({ format: canary() })).next()],
    [
      'a role',
      () =>
        messageCompactor(createCompactor({ offload: 'inline' }), { onError: 'throw' })(
          wrong([{ role: canary(), content: 'x' }]),
        ),
    ],
    [
      'a provider',
      () =>
        fromLanguageModel(
          wrong({
            doGenerate: () => Promise.reject(new Error(canary())),
            specificationVersion: 'v3',
            provider: 'p',
            modelId: 'm',
          }),
          { contextLimit: 1_000, maxRetries: 0 },
        ).generate({
          system: 's',
          prompt: 'p',
          maxOutputTokens: 10,
          signal: new AbortController().signal,
        }),
    ],
  ])('describe %s by its type', async (_, act) => {
    expect(await messageOf(act)).not.toMatch(CANARY);
  });

  it('quote words of a few letters, which are typos', async () => {
    expect(await messageOf(() => parseCompressionStrategyName('middel-out'))).toContain(
      '"middel-out"',
    );
  });
});

describe('terminals', () => {
  const STEERING = '\u001b]0;owned\u0007\u009b2J\u202Egnp\u2066\u200F\u061C\u2028';
  const FORBIDDEN =
    /[\0-\x09\x0B-\x1F\x7F-\x9F\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]/;

  it('receive no control characters', () => {
    expect(printable(`a${STEERING}b`)).not.toMatch(FORBIDDEN);
    expect(printableLines(`a\n${STEERING}b`)).not.toMatch(FORBIDDEN);
    expect(printableLines('a\nb')).toBe('a\nb');
  });

  it.each([
    ['--debug', 'analyze'],
    ['analyze'],
    ['replay'],
    ['report'],
    ['analyze', '--json'],
    ['analyze', '--format'],
  ])('receive none from %s %s of a file with such a name', async (...args) => {
    const { stdout, stderr } = await runCommand([...args, path.join(scratch, `none${STEERING}`)]);
    expect(stdout + stderr).not.toMatch(FORBIDDEN);
    expect(stderr).not.toBe('');
  });

  it('receive none from unredacted JSON, which still decodes to the same', async () => {
    const file = path.join(scratch, 'steering.json');
    const text = `a${STEERING}`.repeat(20);
    const call = { id: 'a', function: { name: `sh${STEERING}`, arguments: '{}' } };
    writeFileSync(
      file,
      JSON.stringify([
        { role: 'user', content: text },
        { role: 'assistant', content: text, tool_calls: [call] },
      ]),
    );
    const { stdout } = await runCommand(['analyze', file, '--json', '--no-redact']);
    expect(stdout).not.toMatch(FORBIDDEN);
    const { sessions } = JSON.parse(stdout) as {
      readonly sessions: readonly { readonly tools: readonly { readonly tool: string }[] }[];
    };
    expect(sessions[0]?.tools[0]?.tool).toBe(`sh${STEERING}`);
  });
});
