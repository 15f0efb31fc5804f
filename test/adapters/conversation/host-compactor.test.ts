// What all host plugins have in common: they never throw at the host, and report to its user.

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { HostCompactor } from '../../../src/adapters/conversation/host-compactor.js';
import type { CompactorOptions } from '../../../src/main/compactor-options.js';
import {
  answer,
  assistant,
  call,
  PLAIN_MESSAGE_FORMAT,
  user,
} from '../../support/plain-message-format.js';
import type { PlainMessage } from '../../support/plain-message-format.js';
import { scriptedSummarizer, snapshot } from '../../support/scripted-summarizer.js';

const PRUNING: CompactorOptions = {
  preset: 'specification',
  offload: 'inline',
  workspaceRoot: '/w',
};

function open(options: CompactorOptions = PRUNING, name = 'host'): HostCompactor<PlainMessage> {
  const host = new HostCompactor(name, PLAIN_MESSAGE_FORMAT, () => options);
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
  it('returns the list itself when nothing is edited, and separates sessions', async () => {
    const host = open();
    const [first, second] = [[TALK[0]!], [...TALK]];
    expect(await host.compact(first, { sessionId: 'a' })).toBe(first);
    expect(await host.compact(second, { sessionId: 'b' })).toHaveLength(4);
    expect([host.saving('a'), host.saving('c')]).toEqual(['−0 %', undefined]);
    expect(host.saving('b')).toMatch(/^−[1-9]/);
  });

  it('removes reasoning from a session once the provider has refused it', async () => {
    const host = open({ offload: 'inline' });
    const thinking = { thought: 'hm' };
    const talk = [user('Go.'), assistant('I read.', thinking), user('Go on.')];
    const [refused, other] = ['a', 'b'].map((sessionId) => ({ sessionId }));
    expect(await host.compact(talk, refused!)).toBe(talk);
    expect(await host.compact(talk, other!)).toBe(talk);
    host.reportRefusal('Overloaded', other!);
    host.reportRefusal('The block is bound to a different conversation.', refused!);
    const without = [talk[0], assistant('I read.'), talk[2]];
    expect(await host.compact(talk, refused!)).toEqual(without);
    expect(await host.compact([...talk], other!)).toEqual(talk);
    const later = [...talk, assistant('I know.', thinking), user('Well.')];
    expect(await host.compact(later, refused!)).toEqual([...without, ...later.slice(3)]);
  });

  it('attributes a refusal to no other model', async () => {
    const talk = [user('Go.'), assistant('I read.', { thought: 'hm' }), user('Go on.')];
    const refusal = 'The block is bound to a different conversation.';
    const sent = async (modelName: string): Promise<readonly PlainMessage[]> => {
      const host = open({ offload: 'inline' });
      await host.compact(talk, { sessionId: 'a', modelName: 'one' });
      host.reportRefusal(refusal, { sessionId: 'a', modelName: 'one' });
      return host.compact([...talk], { sessionId: 'a', modelName });
    };
    expect(await sent('two')).toEqual(talk);
    expect(await sent('one')).toEqual([talk[0], assistant('I read.'), talk[2]]);
  });

  it('returns the list itself when anything fails, reports why until a call succeeds, and never throws', async () => {
    const host = open();
    const broken = [...TALK, null as unknown as PlainMessage];
    expect(await host.compact(broken, { sessionId: 'a' })).toBe(broken);
    expect(host.isFailing('a')).toBe(true);
    expect(host.status('a')).toContain('The last call was not compacted: ');
    await host.compact(TALK, { sessionId: 'a' });
    expect(host.isFailing('a')).toBe(false);
    expect(host.status('a')).toMatch(/1 calls sent [\d,]+ tokens of messages instead of [\d,]+/);
    expect(host.status('a')).not.toContain('The last call');
  });

  it('sends what was compacted before if the summarizer fails now, and says why', async () => {
    let isDown = false;
    const summarizer = scriptedSummarizer(async () => {
      if (isDown) throw new Error('overloaded');
      return { text: snapshot('what was'), finishReason: 'stop' };
    });
    const warnings: string[] = [];
    const logger = { debug: vi.fn(), warn: (said: string) => warnings.push(said), error: vi.fn() };
    const host = open({
      ...{ offload: 'inline', contextLimit: 12_000, tokenizer: 'estimate', summarizer, logger },
      settings: { 'compression.strategy': 'one-shot', 'compression.ahead': 1 },
    });
    const messages = [user('Go.')];
    const sent: string[] = [];
    while (!host.isFailing('a')) {
      const other = host.compact(TALK, { sessionId: 'b' });
      sent.push(JSON.stringify(await host.compact([...messages], { sessionId: 'a' })));
      await other;
      isDown ||= sent.at(-1)!.includes('what was');
      messages.push(assistant(`${sent.length} ${'one word '.repeat(200)}`), user('On.'));
    }
    const [before, last] = sent.slice(-2);
    expect(before).toContain('what was');
    expect(last!.startsWith(before!.slice(0, -1))).toBe(true);
    expect(warnings.at(-1)).toBe('compaction failed; what was compacted before is sent');
    expect(host.status('a')).toMatch(/The last call was not compacted: .*summarizer failed/);
    expect(host.isFailing('b')).toBe(false);
    isDown = false;
    expect(await host.compact(messages, { sessionId: 'a' })).not.toBe(messages);
    expect(host.isFailing('a')).toBe(false);
  });

  it('recovers once invalid options are corrected', async () => {
    const options = { ...PRUNING, contextLimit: -1 };
    const host = open(options);
    await host.compact(TALK, { sessionId: 'a' });
    expect(host.isFailing('b')).toBe(true);
    options.contextLimit = 1e6;
    expect(await host.compact(TALK, { sessionId: 'a' })).toHaveLength(4);
    expect([host.failure, host.isFailing('a')]).toEqual([undefined, false]);
  });

  it('does not count an aborted call as a failure', async () => {
    const host = open();
    const call = { sessionId: 'a', signal: AbortSignal.abort() };
    expect(await host.compact(TALK, call)).toBe(TALK);
    expect(host.isFailing('a')).toBe(false);
  });

  it('starts again after it was closed', async () => {
    const host = open();
    expect(host.isFailing('a')).toBe(false);
    expect(await host.compact(TALK, { sessionId: 'a' })).toHaveLength(4);
    await host.close();
    expect(host.saving('a')).toBeUndefined();
    expect(await host.compact(TALK, { sessionId: 'a' })).toHaveLength(4);
  });

  it('sends messages unchanged with invalid options, and says why', async () => {
    const host = open({ contextLimit: -1 });
    expect(await host.compact(TALK, { sessionId: 'a' })).toBe(TALK);
    expect(host.isFailing('a')).toBe(true);
    expect(host.status('a')).toContain('contextLimit');
    expect(host.status('a')).not.toContain('The last call');
    const unasked = open({ contextLimit: -1 });
    expect(() => unasked.open()).toThrow(RangeError);
    expect(unasked.status('a')).toContain('contextLimit');
  });

  it("uses the host's window of the call's model", async () => {
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

  it("uses each call's own window in two concurrent calls to one model", async () => {
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

/** An empty folder for the user's state. */
function stateHome(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ctxfold-state-'));
  vi.stubEnv('XDG_STATE_HOME', folder);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });
  return folder;
}

describe('HostCompactor after a restart', () => {
  const more = [...TALK, assistant('Done.'), user('Go on.')];

  it('continues from the saved state, whether the host passes its own messages or the sent ones', async () => {
    stateHome();
    const first = open();
    const sent = await first.compact(TALK, { sessionId: 'a' });
    await first.compact(TALK, { sessionId: 'b' });
    await first.close();
    const [whole, edited] = [open(), open()];
    expect(await whole.compact(more, { sessionId: 'a' })).toEqual([...sent, ...more.slice(5)]);
    const kept = structuredClone([...sent, ...more.slice(5)]);
    expect(await edited.compact(kept, { sessionId: 'b' })).toBe(kept);
    const sums = [whole.status('a'), edited.status('b')].map((status) => status.split('\n')[1]);
    expect(sums[0]).toContain('2 calls sent');
    expect(sums[1]).toBe(sums[0]);
    const other = open(PRUNING, 'another');
    await other.compact(more, { sessionId: 'a' });
    expect(other.status('a')).toContain('1 calls sent');
  });

  it('has stored only figures, readable only by the user', async () => {
    const folder = stateHome();
    const host = open();
    await host.compact(TALK, { sessionId: 'a' });
    await host.close();
    const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    expect(paths).toHaveLength(4);
    for (const path of paths.map((each) => join(folder, each))) {
      const status = statSync(path);
      expect(status.mode & 0o777).toBe(status.isFile() ? 0o600 : 0o700);
      if (status.isFile()) expect(readFileSync(path, 'utf8')).not.toMatch(/a line|I read|a\.ts/);
    }
  });

  it('says so if no state can be saved, and compacts anyway', async () => {
    const host = open();
    expect(await host.compact(TALK, { sessionId: 'a' })).toHaveLength(4);
    expect(host.isFailing('a')).toBe(false);
    expect(host.status('a')).toMatch(/After a restart this session would begin anew: E\w+/);
  });
});
