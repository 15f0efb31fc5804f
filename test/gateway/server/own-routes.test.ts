import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Engine, EngineAnswer } from '../../../src/gateway/engine/protocol.js';
import { Ledger } from '../../../src/gateway/server/ledger.js';
import { completeGatewayOptions } from '../../../src/gateway/server/options.js';
import { answerOwn } from '../../../src/gateway/server/own-routes.js';

const CONVERSATIONS = 300;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** A page that only reads on demand. */
class Page extends EventEmitter {
  writableLength = 0;
  text = '';

  writeHead(): void {}

  write(text: string): void {
    this.text += text;
    this.writableLength += text.length;
  }
}

const edits = Array.from({ length: 200 }, (_, number) => ({
  ...{ number, rule: 'read-write', action: 'removed', tool: 'read_file', before: 900, after: 0 },
}));
const costs = { sentTokens: 1, uncompacted: { sentTokens: 2 } };
const answerOf = (id: string): EngineAnswer => ({
  outcome: 'edited',
  edits,
  conversation: { id, name: id, api: 'chat', model: 'm', costs } as NonNullable<
    EngineAnswer['conversation']
  >,
});

describe('the events of the page', () => {
  it('are written with backpressure, and completely once the page reads', async () => {
    const options = completeGatewayOptions({});
    const ledger = new Ledger(options);
    for (let at = 0; at < CONVERSATIONS; at += 1) ledger.recordAnswer(answerOf(`c${at}`), 9);
    const page = new Page();
    const parts = { ledger, options, engine: {} as Engine };
    const request = { method: 'GET' } as unknown as IncomingMessage;
    await answerOwn(parts, request, page as unknown as ServerResponse, '/ctxfold/events');
    const oneTurn = page.text.length;
    vi.advanceTimersByTime(10_000);
    expect(page.text.length).toBe(oneTurn);
    expect(oneTurn).toBeLessThan(1.1 * 1024 * 1024);
    for (let turn = 0; turn < CONVERSATIONS; turn += 1) {
      page.writableLength = 0;
      vi.advanceTimersByTime(100);
    }
    const events = page.text.match(/event: conversation\n/g);
    expect(events).toHaveLength(CONVERSATIONS);
    expect(page.text.match(/event: status\n/g)).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(1);
    page.emit('close');
  });
});

describe('an own route', () => {
  it.each([
    ['GET', '/ctxfold/compact', 405, 'POST'],
    ['POST', '/ctxfold/?a', 405, 'GET, HEAD'],
    ['constructor', '/ctxfold/mode', 405, 'POST'],
    ['GET', '/ctxfold/compact/', 404, undefined],
  ])('answers %s %s with %d', async (method, target, status, allow) => {
    const options = completeGatewayOptions({});
    const parts = { ledger: new Ledger(options), options, engine: {} as Engine };
    const headers: Record<string, unknown> = {};
    const response = {
      setHeader: (name: string, value: string) => (headers[name] = value),
      writeHead: (code: number) => (headers['status'] = code),
      end: () => undefined,
    } as unknown as ServerResponse;
    await answerOwn(parts, { method } as IncomingMessage, response, target);
    expect(headers).toEqual({ status, ...(allow !== undefined && { allow }) });
  });
});
