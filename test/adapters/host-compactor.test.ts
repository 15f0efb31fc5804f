// What all plugins of hosts have in common: that they never throw at the host, and what they tell its user.

import { describe, expect, it, onTestFinished } from 'vitest';

import { HostCompactor } from '../../src/adapters/host-compactor.js';
import type { CompactorOptions } from '../../src/main/compactor-options.js';
import {
  answer,
  assistant,
  call,
  PLAIN_MESSAGE_FORMAT,
  user,
} from '../support/plain-message-format.js';
import type { PlainMessage } from '../support/plain-message-format.js';

const PRUNING: CompactorOptions = {
  preset: 'specification',
  offload: 'inline',
  workspaceRoot: '/w',
};

function open(options: CompactorOptions = PRUNING): HostCompactor<PlainMessage> {
  const host = new HostCompactor(PLAIN_MESSAGE_FORMAT, () => options);
  onTestFinished(() => host.close());
  return host;
}

const PATH = { absolute_path: '/w/a.ts' };
const TALK: readonly PlainMessage[] = [
  user('Go.'),
  assistant('I read.', call('c1', 'read_file', PATH)),
  answer('c1', 'read_file', 'a line\n'.repeat(50)),
  assistant('I write.', call('c2', 'write_file', PATH)),
  answer('c2', 'write_file', 'Written.'),
];

describe('HostCompactor', () => {
  it('returns the list itself when nothing is edited, and tells sessions apart', async () => {
    const host = open();
    const [first, second] = [[TALK[0]!], [...TALK]];
    expect(await host.compact(first, { sessionId: 'a' })).toBe(first);
    expect(await host.compact(second, { sessionId: 'b' })).toHaveLength(4);
    expect([host.saving('a'), host.saving('c')]).toEqual(['−0 %', undefined]);
    expect(host.saving('b')).toMatch(/^−[1-9]/);
  });

  it('returns the list itself when anything fails, says why until it works again, and never throws', async () => {
    const host = open();
    const broken = [...TALK, null as unknown as PlainMessage];
    expect(await host.compact(broken, { sessionId: 'a' })).toBe(broken);
    expect(host.isFailing('a')).toBe(true);
    expect(host.status('a')).toContain('was sent as it was: ');
    await host.compact(TALK, { sessionId: 'a' });
    expect(host.isFailing('a')).toBe(false);
    expect(host.status('a')).toMatch(/1 calls sent [\d,]+ tokens of messages instead of [\d,]+/);
  });

  it('takes a call that was aborted for no failure', async () => {
    const host = open();
    const call = { sessionId: 'a', signal: AbortSignal.abort() };
    expect(await host.compact(TALK, call)).toBe(TALK);
    expect(host.isFailing('a')).toBe(false);
  });

  it('begins anew after it was closed', async () => {
    const host = open();
    expect(host.isFailing('a')).toBe(false);
    expect(await host.compact(TALK, { sessionId: 'a' })).toHaveLength(4);
    await host.close();
    expect(host.saving('a')).toBeUndefined();
    expect(await host.compact(TALK, { sessionId: 'a' })).toHaveLength(4);
  });

  it('sends messages as they are with invalid options, and says why', async () => {
    const host = open({ contextLimit: -1 });
    expect(await host.compact(TALK, { sessionId: 'a' })).toBe(TALK);
    expect(host.isFailing('a')).toBe(true);
    expect(host.status('a')).toContain('contextLimit');
  });

  it("goes by the host's window of the model that the call is to", async () => {
    const host = open({ offload: 'inline', workspaceRoot: '/w' });
    const long = [
      user('Go.'),
      ...[1, 2, 3].flatMap((at) => [
        assistant(call(`c${at}`, 'look', {})),
        answer(`c${at}`, 'look', `what ${at} says. `.repeat(300)),
      ]),
      user('On.'),
    ];
    const wide = { sessionId: 'wide', modelName: 'm', contextLimit: 100_000 };
    expect(await host.compact(long, wide)).toBe(long);
    const narrow = { sessionId: 'narrow', modelName: 'n', contextLimit: 2_500 };
    expect(JSON.stringify(await host.compact(long, narrow)).length).toBeLessThan(2_500 * 4);
    const odd = { sessionId: 'odd', modelName: 'm', contextLimit: NaN };
    expect(await host.compact(long, odd)).toBe(long);
  });

  it('goes by the window of each of two calls to one model at a time', async () => {
    const host = open({ offload: 'inline', workspaceRoot: '/w' });
    const long = Array.from({ length: 20 }, (_, at) =>
      at % 2 === 0 ? user('one word '.repeat(200)) : assistant('another word '.repeat(200)),
    );
    const wide = { sessionId: 'wide', modelName: 'm', contextLimit: 100_000 };
    const narrow = { sessionId: 'narrow', modelName: 'm', contextLimit: 4_000 };
    const sent = await Promise.all([narrow, wide].map((each) => host.compact(long, each)));
    expect(sent[0]!.length).toBeLessThan(20);
    expect(sent[1]).toBe(long);
  });
});
