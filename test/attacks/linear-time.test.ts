// Histories that used to block the calling thread: pairing 32,000 calls with the same id took 12 s, contents without ids 27
// s, a recording without ids 16 s. Counts executed code blocks with the engine's coverage instead of measuring time, which
// gives the same result in every run.

import { Session } from 'node:inspector/promises';
import { setFlagsFromString } from 'node:v8';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADAPTER_SUBJECTS } from '../../bench/scaling/adapter-subjects.js';
import { chatMessages, geminiContents, sdkMessages } from '../../bench/scaling/messages.js';
import { PURE_SUBJECTS } from '../../bench/scaling/pure-subjects.js';
import { READER_SUBJECTS } from '../../bench/scaling/reader-subjects.js';
import { SESSION_SUBJECTS } from '../../bench/scaling/session-subjects.js';
import { SHAPES } from '../../bench/scaling/shapes.js';
import type { ShapeName } from '../../bench/scaling/shapes.js';
import type { Subject } from '../../bench/scaling/subject.js';
import type { SdkMessage } from '../../src/adapters/ai-sdk/sdk-message.js';
import { withSettledResults } from '../../src/adapters/ai-sdk/step-results.js';
import { readInSlices } from '../../src/adapters/conversation/read-in-slices.js';
import type { MessageFormat } from '../../src/adapters/format/message-format.js';
import { contentFormat } from '../../src/adapters/google/content-format.js';
import { chatMessageFormat } from '../../src/adapters/openai/chat-message-format.js';
import { isToolCallBlock } from '../../src/shared/content.js';
import type { IContent } from '../../src/shared/content.js';
import { runSlices } from '../../src/shared/slices.js';
import { firstOf, PLAYS_ALL, sample } from '../support/scale.js';

/** Large enough for linear searches to have switched to indexes. */
const SIZE = 300;
const FACTOR = 4;
const MAX_OVER_LINEAR = 1.3;

const session = new Session();
const counted = (subjects: readonly Subject[]): readonly Subject[] =>
  subjects.filter(({ isTimedOnly }) => isTimedOnly !== true);
/** Some subjects of each kind. `npm run check` counts all, and `npm run scaling` measures each with every shape. */
const COUNTED: readonly Subject[] = [
  ...sample(counted(PURE_SUBJECTS), 8),
  ...sample(counted(READER_SUBJECTS), 2),
  ...sample(counted(SESSION_SUBJECTS), 4),
  ...sample(counted(ADAPTER_SUBJECTS), 4),
];
const ALL_SHAPES = Object.keys(SHAPES) as ShapeName[];

const FIRST = firstOf(ALL_SHAPES.length);

/** A twentieth of a subject's shapes, rotating by subject and seed; a single one in partial runs. */
function shapesOf({ shapes = ALL_SHAPES }: Subject, at: number): readonly ShapeName[] {
  const step = PLAYS_ALL ? Math.min(20, shapes.length) : shapes.length;
  return shapes.filter((_, index) => (index + at + FIRST) % step === 0);
}

beforeAll(async () => {
  // Inlined code is not counted.
  setFlagsFromString('--no-opt');
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
});

afterAll(async () => {
  setFlagsFromString('--opt');
  await session.post('Profiler.stopPreciseCoverage');
  session.disconnect();
});

/** Number of executed blocks of this package's code since the last call. */
async function executed(): Promise<number> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  let count = 0;
  for (const { url, functions } of result) {
    if (!url.includes('/src/') || url.includes('node_modules')) continue;
    for (const { ranges } of functions) for (const range of ranges) count += range.count;
  }
  return count;
}

async function operationsOf(
  { prepare, finish }: Subject,
  shape: ShapeName,
  size: number,
): Promise<number> {
  const work = await prepare(SHAPES[shape](size));
  await executed();
  await work();
  const count = await executed();
  await finish?.();
  return count;
}

async function overLinear(subject: Subject, shape: ShapeName, smallest = SIZE): Promise<number> {
  let over = NaN;
  // A limit that only the larger size reaches looks superlinear once, so a still larger size decides.
  for (const size of [smallest, smallest * FACTOR]) {
    const one = await operationsOf(subject, shape, size);
    const four = await operationsOf(subject, shape, size * FACTOR);
    over = four / (one * FACTOR);
    if (!(over > MAX_OVER_LINEAR)) break;
  }
  return over;
}

describe('executed code', () => {
  it('is counted', async () => {
    const quadratic: Subject = {
      name: 'quadratic',
      prepare: (history) => () =>
        history.map(() => history.filter(({ blocks }) => blocks.some(isToolCallBlock)).length),
    };
    expect(await overLinear(quadratic, 'never answered', 60)).toBeGreaterThan(FACTOR * 0.9);
    expect(await overLinear({ ...quadratic, prepare: () => () => undefined }, 'nested')).toBeNaN();
  });

  it('grows in proportion to the history, whatever its shape', async () => {
    const exceeded: string[] = [];
    let cases = 0;
    for (const [at, subject] of COUNTED.entries()) {
      for (const shape of shapesOf(subject, at)) {
        const over = await overLinear(subject, shape);
        cases += 1;
        if (over > MAX_OVER_LINEAR) exceeded.push(`${subject.name}, ${shape}: ${over.toFixed(2)}`);
      }
    }
    expect(exceeded).toEqual([]);
    expect(cases).toBeGreaterThanOrEqual(COUNTED.length);
  });

  it('grows in proportion to the parallel calls of one message, as it is read', async () => {
    const reading = <Message>(
      format: MessageFormat<Message>,
      messagesOf: (history: readonly IContent[]) => readonly object[],
    ): Subject => ({
      name: messagesOf.name,
      prepare: (history) => {
        const messages = messagesOf(history) as readonly Message[];
        return () => void runSlices(readInSlices(format.createReader(), messages, 0));
      },
    });
    const settling: Subject = {
      name: withSettledResults.name,
      prepare: (history) => {
        const messages = sdkMessages(history) as unknown as readonly SdkMessage[];
        return () => void withSettledResults(messages);
      },
    };
    const chat = reading(chatMessageFormat, chatMessages);
    const gemini = reading(contentFormat, geminiContents);
    for (const subject of [chat, gemini, settling]) {
      for (const shape of ['parallel calls', 'parallel calls without ids'] as const) {
        const over = await overLinear(subject, shape);
        expect(over, `${subject.name}, ${shape}`).toBeLessThan(MAX_OVER_LINEAR);
      }
    }
  });
});
