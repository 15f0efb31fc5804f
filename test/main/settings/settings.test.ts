// Settings that change while a session runs, over those of a profile.

import { describe, expect, it } from 'vitest';
import { Settings } from '../../../src/main/settings/settings.js';

describe('Settings', () => {
  it('returns the value set, else that of the profile, else undefined', () => {
    const settings = new Settings(
      { 'compression.threshold': 0.5 },
      { 'compression.threshold': 0.6, 'compression.profile': 'cheap' },
    );
    expect(settings.get('compression.threshold')).toBe(0.5);
    expect(settings.get('compression.profile')).toBe('cheap');
    expect(settings.get('compression.preserveThreshold')).toBeUndefined();
  });

  it('returns the value of the profile again when a setting is unset', () => {
    const settings = new Settings({}, { 'compression.density.fileDedupe': true });
    settings.set('compression.density.fileDedupe', false);
    expect(settings.get('compression.density.fileDedupe')).toBe(false);
    settings.set('compression.density.fileDedupe', undefined);
    expect(settings.get('compression.density.fileDedupe')).toBe(true);
  });

  it.each(['compression.threshold', 'compression-threshold'] as const)(
    'sets the threshold by %s, and returns it by either name',
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

  it('prefers the alias in one layer over the key in the layer below', () => {
    const settings = new Settings(
      { 'compression-threshold': 0.5 },
      { 'compression.threshold': 0.6 },
    );
    expect(settings.get('compression.threshold')).toBe(0.5);
  });

  it('refuses an invalid value and keeps the former one', () => {
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

  it('refuses invalid initial settings and an invalid profile', () => {
    expect(() => new Settings({ 'compression.threshold': 0 })).toThrow(RangeError);
    expect(() => new Settings({}, { 'compression.threshold': 0 })).toThrow(RangeError);
  });

  it('is not affected by changes of objects that it was given or returned', () => {
    const given = { 'compression.threshold': 0.5 };
    const settings = new Settings(given);
    given['compression.threshold'] = 0.9;
    Object.assign(settings.all(), { 'compression.threshold': 0.9 });
    expect(settings.get('compression.threshold')).toBe(0.5);
  });
});
