// The error hierarchy, and how errors are passed between threads.

import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';

import * as errors from '../../src/shared/errors.js';
import {
  asError,
  causesOf,
  CompressionExecutionError,
  CtxfoldError,
  ContextWindowExceededError,
  ERROR_CODES,
  isError,
  isWireError,
  PromptError,
  reviveError,
  SummarizerError,
  SummaryRejectedError,
  toWireError,
  UnknownStrategyError,
  WorkerPoolError,
} from '../../src/shared/errors.js';

/** Errors whose message is not a string, such as those with the fields of a response body. */
function unreadableErrors(): [name: string, thrown: Error][] {
  const getter = new Error('x');
  Object.defineProperty(getter, 'message', {
    get: () => {
      throw new Error('of the getter');
    },
  });
  return [
    ['an object as its message', Object.assign(new Error('x'), { message: { detail: 1 } })],
    ['no message', Object.assign(new Error('x'), { message: undefined })],
    ['a message that throws', getter],
  ];
}

const ALL = [
  new CtxfoldError('stale', 'DENSITY_STALE'),
  new UnknownStrategyError('fast', ['high-density', 'one-shot']),
  new CompressionExecutionError('one-shot', 'the summary is empty'),
  new ContextWindowExceededError('too long', 120, 100),
  new WorkerPoolError('it died', 'WORKER_DIED'),
  new SummaryRejectedError('one-shot', 'cut-off', 'the summary is cut off'),
  new SummarizerError('no answer', 'SUMMARIZER_TIMEOUT'),
  new PromptError('compression.md', 'it is a link', 'PROMPT_REFUSED'),
] as const;

describe('CtxfoldError', () => {
  it.each(ALL)('is the base of $name, which carries its name and a known code', (error) => {
    expect(error).toBeInstanceOf(CtxfoldError);
    expect(error.name).toBe(error.constructor.name);
    expect(ERROR_CODES).toContain(error.code);
  });

  it('is the base of every error class', () => {
    const names = Object.values<unknown>(errors).flatMap((exported) =>
      typeof exported === 'function' && exported.prototype instanceof Error ? [exported.name] : [],
    );
    expect(names.sort()).toEqual(ALL.map(({ name }) => name).sort());
  });

  it('keeps its cause', () => {
    const cause = new Error('below');
    expect(new CtxfoldError('above', 'CLOSED', { cause }).cause).toBe(cause);
  });
});

describe('UnknownStrategyError', () => {
  it('names the requested and the known strategies', () => {
    expect(ALL[1].message).toBe(
      'Unknown compression strategy "fast". Use one of: high-density, one-shot.',
    );
    expect(ALL[1].strategyName).toBe('fast');
  });
});

describe('CompressionExecutionError', () => {
  it('names the strategy', () => {
    expect(ALL[2]).toMatchObject({
      code: 'COMPRESSION_FAILED',
      strategyName: 'one-shot',
      message: 'one-shot: the summary is empty',
    });
  });
});

describe('ContextWindowExceededError', () => {
  it('holds both numbers', () => {
    expect(ALL[3]).toMatchObject({ projectedTokens: 120, contextLimit: 100 });
  });
});

describe('asError', () => {
  it('returns an error of another realm unchanged, as Node throws them in a VM context', () => {
    const error: unknown = runInNewContext('new TypeError("of another realm")');
    expect(error).not.toBeInstanceOf(Error);
    expect(asError(error)).toBe(error);
    expect(isError(new DOMException('aborted', 'AbortError'))).toBe(true);
  });

  it.each(unreadableErrors())('converts the message of an error with %s', (_, thrown) => {
    const error = asError(thrown);
    expect(error.message).toBe('an error without a message was thrown');
    expect(error.cause).toBe(thrown);
  });
});

describe('causesOf', () => {
  it('returns an error and its causes, the outermost first, as far as they are errors', () => {
    const inner = new Error('inner', { cause: 'no error' });
    const outer = new TypeError('outer', { cause: inner });
    expect([...causesOf(outer)]).toEqual([outer, inner]);
    expect([...causesOf('no error')]).toEqual([]);
  });

  it('ends a circular chain after eight', () => {
    const circular = new Error('circular');
    circular.cause = circular;
    expect([...causesOf(circular)]).toHaveLength(8);
  });
});

describe('toWireError', () => {
  it.each(unreadableErrors())('returns plain data for an error with %s', (_, thrown) => {
    expect(isWireError(toWireError(thrown))).toBe(true);
  });

  it('returns plain data that survives structured clone', () => {
    const cause = new RangeError('below');
    const wire = toWireError(new CtxfoldError('above', 'DENSITY_CONFLICT', { cause }));
    expect(structuredClone(wire)).toEqual(wire);
    expect(wire).toMatchObject({
      name: 'CtxfoldError',
      code: 'DENSITY_CONFLICT',
      message: 'above',
      cause: { name: 'RangeError', message: 'below' },
    });
  });

  it.each([
    ['a text', 'text', 'text'],
    ['nothing', undefined, 'a non-error was thrown: undefined'],
    ['a number', 7, 'a non-error was thrown: 7'],
    ['an object', {}, 'a non-error was thrown: [object Object]'],
    [
      'an object without a string form',
      Object.create(null),
      'a non-error was thrown that cannot be shown as text',
    ],
  ])('accepts %s that was thrown', (_, thrown, message) => {
    expect(toWireError(thrown)).toEqual({ name: 'Error', message });
  });

  it('ends a circular chain of causes', () => {
    const error = new Error('around');
    error.cause = error;
    const depthOf = ({ cause }: ReturnType<typeof toWireError>): number =>
      cause === undefined ? 0 : 1 + depthOf(cause);
    expect(depthOf(toWireError(error))).toBe(8);
  });
});

describe('reviveError', () => {
  it.each(ALL)('restores $name with name, code, message and stack', (error) => {
    const revived = reviveError(structuredClone(toWireError(error)));
    expect(revived).toBeInstanceOf(CtxfoldError);
    const { name, code, message, stack } = error;
    expect(revived).toMatchObject({ name, code, message, stack });
  });

  it.each([
    [TypeError, new TypeError('t')],
    [RangeError, new RangeError('r')],
    [SyntaxError, new SyntaxError('s')],
    [Error, new Error('e')],
  ])('restores a %s', (type, error) => {
    const revived = reviveError(toWireError(error));
    expect(revived).toBeInstanceOf(type);
    expect(revived).not.toBeInstanceOf(CtxfoldError);
  });

  it('keeps the name of an unknown class, and drops a foreign code', () => {
    const error = Object.assign(new Error('no such file'), { name: 'SystemError', code: 'ENOENT' });
    const revived = reviveError(toWireError(error));
    expect(revived.name).toBe('SystemError');
    expect(revived).not.toHaveProperty('code');
  });

  it('revives causes', () => {
    const error = new Error('above', { cause: new TypeError('below') });
    expect(reviveError(toWireError(error)).cause).toBeInstanceOf(TypeError);
  });
});
