// The contrasts that WCAG 2.2 requires, in both colour schemes.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CATEGORIES } from '../../../src/cli/measure/composition.js';

const STYLE = readFileSync('src/cli/report/report.css', 'utf8');

function colours(block: string): Readonly<Record<string, string>> {
  const found = block.matchAll(/--(\w+): (#[0-9a-f]{3,6});/g);
  return Object.fromEntries(
    Array.from(found, ([, name, colour]) => [name ?? '', colour ?? ''] as const),
  );
}

function luminance(colour: string): number {
  const digits = colour.length === 4 ? colour.replace(/[0-9a-f]/g, '$&$&') : colour;
  const channel = (at: number): number => {
    const value = parseInt(digits.slice(at, at + 2), 16) / 255;
    return value <= 0.040_45 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}

function contrast(one: string, other: string): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high! + 0.05) / (low! + 0.05);
}

const [, light = '', dark = ''] = STYLE.split(/:root[^{]*\{/);

describe.each([
  ['light', colours(light)],
  ['dark', { ...colours(light), ...colours(dark.slice(0, dark.indexOf('}'))) }],
])('report.css, %s', (_, palette) => {
  test.each(['text', 'faint', 'accent'])('%s is readable on page and panel', (name) => {
    for (const ground of ['page', 'panel', 'notice']) {
      expect(contrast(palette[name]!, palette[ground]!)).toBeGreaterThanOrEqual(4.5);
    }
  });

  test.each(CATEGORIES)('%s stands out from the page', (name) => {
    const [, colour = ''] = new RegExp(`\\.c-${name}\\b[^}]*--colour: (#\\w+);`).exec(STYLE) ?? [];
    expect(contrast(colour, palette['page']!)).toBeGreaterThanOrEqual(3);
  });
});
