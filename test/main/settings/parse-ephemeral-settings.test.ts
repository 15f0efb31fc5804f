// Which settings are accepted, and what is reported about the others.

import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EPHEMERAL_SETTINGS_SCHEMA } from '../../../src/main/settings/ephemeral-settings-schema.js';
import { parseEphemeralSettings } from '../../../src/main/settings/parse-ephemeral-settings.js';
import { SETTINGS_REGISTRY } from '../../../src/main/settings/settings-registry.js';
import { COMPRESSION_STRATEGIES } from '../../../src/main/strategies/strategy.js';

const STRATEGIES = [...COMPRESSION_STRATEGIES, 'provider'].map((name) => `'${name}'`).join(', ');
const KNOWN =
  'compression.strategy, compression.profile, compression.threshold, compression-threshold, compression.ahead, ' +
  'compression.preserveThreshold, compression.topPreserveThreshold, compression.fallback, compression.fallbackToTruncation, ' +
  'compression.density.readWritePruning, compression.density.fileDedupe, ' +
  'compression.density.recencyPruning, compression.density.recencyRetention, ' +
  'compression.density.shrink, compression.density.workingSet, compression.density.placeholder';

function errorOf(value: unknown): Error {
  try {
    parseEphemeralSettings(value);
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('nothing was thrown');
}

describe('parseEphemeralSettings', () => {
  it('returns every setting', () => {
    const settings = {
      'compression.strategy': 'high-density',
      'compression.profile': 'cheap',
      'compression.threshold': 0.7,
      'compression.preserveThreshold': 0.3,
      'compression.topPreserveThreshold': 0.1,
      'compression.fallbackToTruncation': true,
      'compression.density.readWritePruning': false,
      'compression.density.fileDedupe': false,
      'compression.density.recencyPruning': true,
      'compression.density.recencyRetention': 5,
      'compression.density.workingSet': 'aggressive',
      'compression.density.placeholder': 'informative',
    };
    expect(parseEphemeralSettings(settings)).toStrictEqual(settings);
    expect(parseEphemeralSettings(settings)).not.toBe(settings);
  });

  it('accepts every default of the registry', () => {
    for (const spec of SETTINGS_REGISTRY) {
      expect(parseEphemeralSettings({ [spec.key]: spec.default })).toEqual({
        [spec.key]: spec.default,
      });
    }
  });

  it.each([
    ['an empty object', {}],
    ['an undefined setting', { 'compression.threshold': undefined }],
    ['an undefined alias', { 'compression-threshold': undefined }],
    ['an object without a prototype', Object.create(null)],
    ['an object of another realm', runInNewContext('({})')],
  ])('finds no settings in %s', (_, value) => {
    expect(parseEphemeralSettings(value)).toStrictEqual({});
  });

  it.each([
    ['compression.threshold', [Number.MIN_VALUE, 1]],
    ['compression.preserveThreshold', [0, 1]],
    ['compression.topPreserveThreshold', [0, 1]],
    ['compression.density.recencyRetention', [-1, 0, 2.5, Number.MAX_VALUE]],
  ])('accepts the bounds of %s', (key, values) => {
    for (const value of values)
      expect(parseEphemeralSettings({ [key]: value })).toEqual({ [key]: value });
  });

  it.each([
    ['compression.strategy', 7, `one of ${STRATEGIES}`, '7'],
    ['compression.profile', 7, 'text that is not empty', '7'],
    ['compression.threshold', '0.5', 'a number greater than 0 and at most 1', '"0.5"'],
    ['compression-threshold', '0.5', 'a number greater than 0 and at most 1', '"0.5"'],
    ['compression.threshold', null, 'a number greater than 0 and at most 1', 'null'],
    ['compression.preserveThreshold', true, 'a number of at least 0 and at most 1', 'true'],
    ['compression.topPreserveThreshold', [1], 'a number of at least 0 and at most 1', 'an array'],
    ['compression.fallbackToTruncation', 'no', 'true or false', '"no"'],
    ['compression.density.readWritePruning', 1, 'true or false', '1'],
    ['compression.density.fileDedupe', null, 'true or false', 'null'],
    ['compression.density.recencyPruning', {}, 'true or false', 'an object'],
    ['compression.density.recencyRetention', 3n, 'a finite number', '3'],
    ['compression.density.recencyRetention', new Date(0), 'a finite number', 'an instance of Date'],
    ['compression.density.recencyRetention', () => 3, 'a finite number', 'a function'],
    ['compression.density.recencyRetention', Symbol('x'), 'a finite number', 'Symbol(x)'],
  ])('refuses %s of %s as another type', (name, value, expected, got) => {
    const key = name.replace('compression-', 'compression.');
    const error = errorOf({ [name]: value });
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toBe(`Expected ${expected} for '${key}', got ${got}.`);
  });

  it.each([
    ['compression.strategy', 'fast', `one of ${STRATEGIES}`, '"fast"'],
    ['compression.profile', '', 'text that is not empty', '""'],
    ['compression.threshold', 0, 'a number greater than 0 and at most 1', '0'],
    ['compression.threshold', 1.01, 'a number greater than 0 and at most 1', '1.01'],
    ['compression.threshold', NaN, 'a number greater than 0 and at most 1', 'NaN'],
    ['compression.preserveThreshold', -0.1, 'a number of at least 0 and at most 1', '-0.1'],
    ['compression.topPreserveThreshold', 85, 'a number of at least 0 and at most 1', '85'],
    ['compression.density.recencyRetention', Infinity, 'a finite number', 'Infinity'],
    [
      'compression.density.workingSet',
      'on',
      `one of 'preset', 'off', 'default', 'aggressive'`,
      '"on"',
    ],
    [
      'compression.density.placeholder',
      'recallable',
      `one of 'pointer', 'informative'`,
      '"recallable"',
    ],
  ])('refuses %s of %s as out of range', (key, value, expected, got) => {
    const error = errorOf({ [key]: value });
    expect(error).toBeInstanceOf(RangeError);
    expect(error.message).toBe(`Expected ${expected} for '${key}', got ${got}.`);
  });

  it.each([
    ['null', null, 'null'],
    ['nothing', undefined, 'undefined'],
    ['text', '{}', 'a string of 2 characters'],
    ['an array', [], 'an array'],
    ['a Map', new Map(), 'an instance of Map'],
    ['a promise', Promise.resolve({}), 'an instance of Promise'],
    ['inherited settings', Object.create({ 'compression.threshold': 0.5 }), 'an object'],
  ])('refuses %s', (_, value, got) => {
    const error = errorOf(value);
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toBe(`Expected an object of settings, got ${got}.`);
  });

  it.each([
    ['compression.treshold', "; did you mean 'compression.threshold'?"],
    ['context-limit', '.'],
    ['constructor', '.'],
    ['', '.'],
    [Symbol('compression.threshold'), '.'],
  ])('lists the known settings for the unknown %s', (name, question) => {
    const error = errorOf({ [name]: 0.5 });
    expect(error).toBeInstanceOf(TypeError);
    const unknown = `Unknown setting '${String(name)}'${question}`;
    expect(error.message).toBe(`${unknown} Known settings: ${KNOWN}.`);
  });

  it('refuses an own __proto__ and leaves every prototype alone', () => {
    const error = errorOf(JSON.parse('{"__proto__": {"compression.threshold": 0.1}}'));
    expect(error.message).toMatch(/^Unknown setting '__proto__'\./);
    expect(Object.prototype).not.toHaveProperty(['compression.threshold']);
  });

  it('names everything that is wrong, one per line', () => {
    const error = errorOf({ 'compression.threshold': 2, 'compression.density.fileDedupe': 'yes' });
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message.split('\n')).toEqual([
      expect.stringContaining("'compression.threshold', got 2."),
      expect.stringContaining('\'compression.density.fileDedupe\', got "yes".'),
    ]);
  });

  it('shows only the length of a long value', () => {
    const { message } = errorOf({ 'compression.strategy': 'x'.repeat(1_000) });
    expect(message).toContain('got a string of 1000 characters.');
  });

  describe('given the alias compression-threshold', () => {
    it.each([
      { 'compression-threshold': 0.5 },
      { 'compression-threshold': 0.5, 'compression.threshold': undefined },
      { 'compression-threshold': 0.5, 'compression.threshold': 0.5 },
    ])('keeps it as compression.threshold: %j', (value) => {
      expect(parseEphemeralSettings(value)).toStrictEqual({ 'compression.threshold': 0.5 });
    });

    it.each([
      [{ 'compression.threshold': 0.5, 'compression-threshold': 0.7 }, '0.5 and 0.7'],
      [{ 'compression-threshold': 0.7, 'compression.threshold': 0.5 }, '0.7 and 0.5'],
    ])('refuses another value of the key besides it: %j', (value, got) => {
      const error = errorOf(value);
      expect(error).toBeInstanceOf(RangeError);
      expect(error.message).toBe(
        "Expected one value for 'compression.threshold' and 'compression-threshold', which name the " +
          `same setting, got ${got}.`,
      );
    });
  });

  it('returns valid settings or throws a TypeError or RangeError, whatever it is given', () => {
    const name = fc.oneof(
      fc.constantFrom('compression-threshold', ...SETTINGS_REGISTRY.map(({ key }) => key)),
      fc.string(),
    );
    const value = fc.dictionary(name, fc.oneof(fc.double(), fc.boolean(), fc.anything()));
    fc.assert(
      fc.property(fc.oneof(value, fc.anything()), (given) => {
        let settings;
        try {
          settings = parseEphemeralSettings(given);
        } catch (error) {
          return error instanceof TypeError || error instanceof RangeError;
        }
        expect(parseEphemeralSettings(settings)).toStrictEqual(settings);
        return true;
      }),
    );
  });
});

describe('EPHEMERAL_SETTINGS_SCHEMA', () => {
  it('accepts the same as parseEphemeralSettings', () => {
    expect(EPHEMERAL_SETTINGS_SCHEMA.parse({ 'compression-threshold': 0.5 })).toStrictEqual({
      'compression.threshold': 0.5,
    });
  });

  it('has an issue for everything that is wrong', () => {
    const { error } = EPHEMERAL_SETTINGS_SCHEMA.safeParse({ a: 1, 'compression.threshold': 2 });
    expect(error?.issues.map(({ message }) => message)).toEqual([
      `Unknown setting 'a'. Known settings: ${KNOWN}.`,
      "Expected a number greater than 0 and at most 1 for 'compression.threshold', got 2.",
    ]);
  });
});
