// How a check of a history against a provider's rules reports, whatever the rules are. The tests beside this one break the rules one by one.

import { describe, expect, it } from 'vitest';

import { aiContent, humanText, toolContent, toolResponse } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { PROVIDER_PROFILES } from '../../../src/shared/providers/provider-violation.js';
import type { ProviderProfile } from '../../../src/shared/providers/provider-violation.js';
import { findRequestViolations, validate } from '../../../src/shared/providers/validate.js';
import { historyOf } from '../../support/notation.js';
import { textPart, userTurn } from '../../support/provider-cases.js';
import { PLAYS_ALL, sample } from '../../support/scale.js';

/** More than an argument list may have. */
const MANY = PLAYS_ALL ? 200_000 : 130_000;

describe('validate', () => {
  describe.each(PROVIDER_PROFILES)('for %s', (profile) => {
    it.each([
      ['an empty history', ''],
      ['a question', 'h'],
      ['a conversation', 'h a h a h'],
      ['calls with their results', 'h a:*s1,okay,r1,w2 t:w2,r1 a:s3 t:s3! a:done h'],
      ['a picture beside results', 'h a:r1,w2 t:r1,% t:w2 a'],
      ['blocks that are not checked', 'h:&note a:&ask=r1,r1 t:&answer=r1 t:r1,&note a:&note h'],
      ['a call whose result had a preview', 'h a:r1 t:r1? t:r1'],
      ['blank text beside text', 'h:_,hello a:_,okay'],
      ['reasoning that cannot be returned', 'h a:*,okay h'],
      ['reasoning that is not the assistant’s', 'h:hello,*s1'],
      ['blank code beside text', 'h a:okay,` ` h'],
      ['a result without content', 'h a:r1 t:r1(="") a'],
    ])('accepts %s', (_, notation) => {
      expect(validate(historyOf(notation), profile)).toEqual([]);
    });

    it('refuses an open call', () => {
      for (const notation of ['h a:r1', 'h a:r1,w2 t:r1', 'h a:r1 t:r1?']) {
        expect(validate(historyOf(notation), profile)).toHaveLength(1);
      }
    });
  });

  it('distinguishes what comes between results', () => {
    const refusing = PROVIDER_PROFILES.filter(
      (profile) => validate(historyOf('h a:r1,w2 t:r1 h t:w2'), profile).length > 0,
    );
    expect(refusing).toEqual(['openai-chat']);
  });

  it('names the place in the request and in the history, in the order of the request', () => {
    const history = historyOf('h h a:_,okay,r1 t:r1 a:r1(=7) h:text t:r1,r9');
    const places = validate(history, 'anthropic').map(({ rule, turn, part, entry, block }) => {
      return `${rule} turn ${turn}.${part ?? '-'} entry ${entry ?? '-'}.${block ?? '-'}`;
    });
    expect(places).toEqual([
      'call-id-repeated turn 3.0 entry 4.0',
      'call-arguments turn 3.0 entry 4.0',
      'tool-call-missing turn 4.1 entry 6.1',
    ]);
  });

  it('names the parts of a message in order, whatever the order of their rules', () => {
    const violations = validate(historyOf('h a:r1 t:r1 a:r2(=7),r1 t:r1,r2'), 'anthropic');
    expect(violations.map(({ rule }) => rule)).toEqual(['call-arguments', 'call-id-repeated']);
  });

  it.each([
    ['openai-chat', 'h a:r1 t:r1 a:r2', 3],
    ['openai-chat', 'h a:r1 t:so,r1 a:r2', 4],
    ['openai-responses', 'h a:one,two,r1', 2],
  ] as const)('counts the messages of %s in %s', (profile, notation, turn) => {
    expect(validate(historyOf(notation), profile)).toMatchObject([{ turn }]);
  });

  it('names the first entry of a message if no part is to blame', () => {
    const [violation] = validate(historyOf('h a:okay a:r1 h'), 'bedrock');
    expect(violation).toMatchObject({ rule: 'tool-result-missing', turn: 1, entry: 1 });
    expect(violation).not.toHaveProperty('part');
    expect(violation).not.toHaveProperty('block');
  });

  it('checks reasoning and signatures only with details of the request', () => {
    const history = historyOf('h a:*s1,r1 t:r1 a:r2 t:r2 a:*s2,done');
    for (const profile of PROVIDER_PROFILES) expect(validate(history, profile)).toEqual([]);
  });

  it('finds the signature of a Gemini step in its entry, too', () => {
    const signed = historyOf('h a:r1,r2 t:r1,r2').map((entry): IContent => {
      const metadata = { providerMetadata: { google: { thoughtSignature: 'sig' } } };
      return entry.speaker === 'ai' ? { ...entry, metadata } : entry;
    });
    expect(validate(signed, 'gemini', { requiresThoughtSignatures: true })).toEqual([]);
  });

  it('distinguishes the kinds of empty text', () => {
    const request = { turns: [userTurn(textPart('go'), textPart(''))] };
    expect(findRequestViolations(request, 'anthropic').map(({ message }) => message)).toEqual([
      'messages: text content blocks must be non-empty',
    ]);
    expect(validate(historyOf('h a h:_'), 'anthropic')).toHaveLength(1);
    const silent = validate(historyOf('h a:* h'), 'anthropic');
    expect(silent.map(({ message }) => message)).toEqual([
      'messages.1: all messages must have non-empty content except for the optional final assistant message',
    ]);
  });

  it('modifies nothing', () => {
    const history = historyOf('a:_,r1 t:r1,r1 h:_ a:*s1');
    const before = structuredClone(history);
    for (const profile of PROVIDER_PROFILES) validate(history, profile);
    expect(history).toEqual(before);
  });

  it('refuses an unknown option', () => {
    expect(() => validate([], 'openai-chat', { sendBefore: [] } as never)).toThrow(
      "did you mean 'sentBefore'?",
    );
  });

  it.each([
    [{ thinking: 'enabled' }, TypeError],
    [{ requiresThoughtSignatures: 1 }, TypeError],
    [{ cacheBreakpoints: '2' }, TypeError],
    [{ cacheBreakpoints: -1 }, RangeError],
    [{ sentBefore: {} }, TypeError],
    [{ sentBefore: [[{ speaker: 'robot', blocks: [] }]] }, TypeError],
  ])('refuses %j, which would disable rules', (options, error) => {
    expect(() => validate([], 'anthropic', options as never)).toThrow(error);
  });

  it('says which entry of a history that was sent before cannot be read', () => {
    const sent = humanText('go');
    Object.defineProperty(sent, 'metadata', { enumerable: true, get: () => BigInt('no') });
    expect(() => validate([], 'anthropic', { sentBefore: [[sent]] })).toThrow('entry 0');
  });

  it('refuses an unknown profile', () => {
    expect(() => validate([], 'mistral' as ProviderProfile)).toThrow(
      new RangeError(
        'Expected one of anthropic, openai-chat, openai-responses, gemini, bedrock, got "mistral".',
      ),
    );
  });

  it('returns any number of violations', () => {
    const blocks = Array.from({ length: MANY }, (_, at) => toolResponse(`r${at}`, 'x', ''));
    const history = [humanText('go'), aiContent('no'), toolContent(blocks)];
    for (const profile of sample(['anthropic', 'openai-responses'], 1)) {
      expect(validate(history, profile)).toHaveLength(MANY);
    }
  });
});
