import { describe, expect, it } from 'vitest';
import { HOSTILE_VALUES, hostilePlacements, placesOf } from './hostile-values.js';

describe('HOSTILE_VALUES', () => {
  it('have names of their own and are made anew', () => {
    const names = HOSTILE_VALUES.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, make } of HOSTILE_VALUES.filter(({ name }) => name !== 'globalThis')) {
      const [one, other] = [make(), make()];
      const isShared = Object.is(one, other) && typeof one === 'object' && one !== null;
      expect(isShared, name).toBe(false);
    }
  });
});

describe('hostilePlacements', () => {
  const makeSample = (): unknown => ({ speaker: 'human', blocks: [{ type: 'text', text: 'x' }] });

  it('put each value at each place', () => {
    expect(placesOf(makeSample()).map((path) => path.join('.'))).toEqual([
      '',
      'speaker',
      'blocks',
      'blocks.0',
      'blocks.0.type',
      'blocks.0.text',
    ]);
    const placed = hostilePlacements(makeSample);
    expect(placed).toHaveLength(6 * HOSTILE_VALUES.length);
    expect(placed.find(({ name }) => name === 'true at blocks.0.text')?.make()).toEqual({
      speaker: 'human',
      blocks: [{ type: 'text', text: true }],
    });
  });
});
