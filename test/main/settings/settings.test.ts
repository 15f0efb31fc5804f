// Settings that change while a session runs, over those of a profile.

import { describe, expect, it } from 'vitest';
import { Settings } from '../../../src/main/settings/settings.js';

describe('Settings', () => {
  it('gives what is set, else what the profile says, else nothing', () => {
    const settings = new Settings(
      { 'compression.threshold': 0.5 },
      { 'compression.threshold': 0.6, 'compression.profile': 'cheap' },
    );
    expect(settings.get('compression.threshold')).toBe(0.5);
    expect(settings.get('compression.profile')).toBe('cheap');
    expect(settings.get('compression.preserveThreshold')).toBeUndefined();
  });

  it('gives the profile its say again when a setting is unset', () => {
    const settings = new Settings({}, { 'compression.density.fileDedupe': true });
    settings.set('compression.density.fileDedupe', false);
    expect(settings.get('compression.density.fileDedupe')).toBe(false);
    settings.set('compression.density.fileDedupe', undefined);
    expect(settings.get('compression.density.fileDedupe')).toBe(true);
  });

  it.each(['compression.threshold', 'compression-threshold'] as const)(
    'takes the threshold by %s, and gives it by either name',
    (name) => {
      const settings = new Settings({ 'compression.threshold': 0.5 });
      settings.set(name, 0.7);
      expect(settings.get('compression.threshold')).toBe(0.7);
      expect(settings.get('compression-threshold')).toBe(0.7);
      expect(settings.all()).toStrictEqual({ 'compression.threshold': 0.7 });
      settings.set(name, undefined);
      expect(settings.all()).toStrictEqual({});
    },
  );

  it('has the alias in one place win over the key in the place below', () => {
    const settings = new Settings(
      { 'compression-threshold': 0.5 },
      { 'compression.threshold': 0.6 },
    );
    expect(settings.get('compression.threshold')).toBe(0.5);
  });

  it('refuses a wrong value and keeps the one before', () => {
    const settings = new Settings({ 'compression.threshold': 0.5 });
    expect(() => settings.set('compression.threshold', 2)).toThrow(RangeError);
    expect(() => settings.set('compression.threshold', '0.7' as unknown as number)).toThrow(
      'Expected a number greater than 0 and at most 1 for \'compression.threshold\', got "0.7".',
    );
    expect(settings.all()).toStrictEqual({ 'compression.threshold': 0.5 });
  });

  it('refuses an unknown setting', () => {
    const settings = new Settings();
    const name = '__proto__' as 'compression.threshold';
    expect(() => settings.get(name)).toThrow(TypeError);
    expect(() => settings.set(name, 0.5)).toThrow("Unknown setting '__proto__'. Known settings: ");
    expect(() => settings.set(name, undefined)).toThrow(TypeError);
  });

  it('refuses wrong settings and a wrong profile to begin with', () => {
    expect(() => new Settings({ 'compression.threshold': 0 })).toThrow(RangeError);
    expect(() => new Settings({}, { 'compression.threshold': 0 })).toThrow(RangeError);
  });

  it('is not reached through what it was given or gave', () => {
    const given = { 'compression.threshold': 0.5 };
    const settings = new Settings(given);
    given['compression.threshold'] = 0.9;
    Object.assign(settings.all(), { 'compression.threshold': 0.9 });
    expect(settings.get('compression.threshold')).toBe(0.5);
  });
});
