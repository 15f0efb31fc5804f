// What users are told when workers cannot be used: one line for each cause.

import { describe, expect, test } from 'vitest';
import { FallbackNotice } from '../../../src/main/offload/offload-meter.js';
import { toPoolError, unavailableError } from '../../../src/main/offload/pool-errors.js';
import { CtxfoldError } from '../../../src/shared/errors.js';

function listen(): { readonly notice: FallbackNotice; readonly lines: string[] } {
  const lines: string[] = [];
  const say = (message: string): void => void lines.push(message);
  return { notice: new FallbackNotice({ debug: say, warn: say, error: say }), lines };
}

function denied(): Error {
  return Object.assign(new Error('Access to this API has been restricted'), {
    code: 'ERR_ACCESS_DENIED',
  });
}

describe('FallbackNotice', () => {
  test('reports a cause once, however many errors wrap it', () => {
    const { notice, lines } = listen();
    const error = toPoolError(denied());
    notice.warn({ task: 'open', error, attempts: 1 });
    notice.warn({ task: 'count', error: unavailableError('no threads', error), attempts: 2 });
    expect(lines).toEqual([
      "Work for worker threads runs on the calling thread. A worker failed: Access to this API has been restricted. Start Node with --allow-worker, or choose offload: 'inline'.",
    ]);
    notice.warn({
      task: 'count',
      error: unavailableError('too many failed', undefined),
      attempts: 1,
    });
    expect(lines).toHaveLength(2);
  });

  test.each([
    [denied(), '--allow-worker'],
    [
      new Error("Cannot find module '/out/worker.js'\nRequire stack:\n- /out/a.js"),
      'deploy all of them',
    ],
  ])('names the remedy for %s, in one line', (cause, remedy) => {
    const { notice, lines } = listen();
    notice.warn({ task: 'count', error: toPoolError(cause), attempts: 2 });
    expect(lines).toEqual([expect.stringContaining(remedy)]);
    expect(lines[0]).not.toContain('\n');
  });

  test('says that tokens are estimated when the encoding is missing', () => {
    const { notice, lines } = listen();
    expect(notice.hasWarnedOfEstimates()).toBe(false);
    const error = new CtxfoldError('The tokens could not be read.', 'TOKEN_COUNT_FAILED');
    notice.warn({ task: 'count', error, attempts: 0 });
    expect(lines).toEqual(['Tokens are estimated. The tokens could not be read.']);
    expect(notice.hasWarnedOfEstimates()).toBe(true);
  });

  test('repeats no text of foreign errors', () => {
    const { notice, lines } = listen();
    notice.warn({ task: 'count', error: new TypeError('quotes a secret'), attempts: 1 });
    expect(lines.join()).toContain('TypeError');
    expect(lines.join()).not.toContain('secret');
  });
});
