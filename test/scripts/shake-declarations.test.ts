// What the build leaves of declarations, on folders of a few files.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { shakeDeclarations } from '../../scripts/shake-declarations.js';

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Returns what is left of these files, by name, if `index` is the entry. */
function shaken(files: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const folder = mkdtempSync(path.join(tmpdir(), 'ctxfold-shake-'));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, `${name}.d.ts`);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const kept = shakeDeclarations(['index'], folder);
  return Object.fromEntries(
    kept.map((name) => [
      name.replace('.d.ts', ''),
      readFileSync(path.join(folder, name), 'utf8').trim(),
    ]),
  );
}

describe('shakeDeclarations', () => {
  it('leaves what the entry names, and what that names, with their comments', () => {
    const left = shaken({
      index: `export { make } from './a/make.js';\nexport type { Made } from './a/made.js';`,
      'a/make': [
        `import type { Made, Unmade } from './made.js';`,
        `import type { Pool } from '../pool.js';`,
        '/** Makes. */',
        'export declare function make(): Made;',
        'export declare function unmake(pool: Pool): Unmade;',
      ].join('\n'),
      'a/made': [
        'declare const size: unique symbol;',
        'export interface Made { readonly [size]: Part }',
        'interface Part { readonly length: number }',
        'export interface Unmade { readonly gone: true }',
        'export {};',
      ].join('\n'),
      pool: 'export interface Pool {}',
    });
    expect(left).toEqual({
      index: `export { make } from './a/make.js';\nexport type { Made } from './a/made.js';`,
      'a/make': [
        `import type { Made } from './made.js';`,
        '/** Makes. */',
        'export declare function make(): Made;',
      ].join('\n'),
      'a/made': [
        'declare const size: unique symbol;',
        'export interface Made { readonly [size]: Part }',
        'interface Part { readonly length: number }',
        'export {};',
      ].join('\n'),
    });
  });

  it('leaves a name that is imported under another, and one that is passed on', () => {
    const left = shaken({
      index: `export { A as B } from './on.js';`,
      on: `export { A, C } from './own.js';`,
      own: `import { D as A0 } from './last.js';\nexport declare class A extends A0 {}\nexport declare class C {}`,
      last: 'export declare class D {}',
    });
    expect(left).toEqual({
      index: `export { A as B } from './on.js';`,
      on: `export { A } from './own.js';`,
      own: `import { D as A0 } from './last.js';\nexport declare class A extends A0 {}`,
      last: 'export declare class D {}',
    });
  });

  it('refuses a package that is neither a dependency nor a peer', () => {
    const text = `import type { Options } from 'zod';\nexport declare const options: Options;`;
    expect(() => shaken({ index: text })).toThrow('index.d.ts names zod');
    const unused = `import type { Options } from 'zod';\nexport interface Mine {}`;
    expect(shaken({ index: `export type { Mine } from './own.js';`, own: unused })).toEqual({
      index: `export type { Mine } from './own.js';`,
      own: 'export interface Mine {}',
    });
  });

  it('refuses what it would leave out unseen', () => {
    expect(() => shaken({ index: `declare module 'ai' { interface Tool {} }` })).toThrow(
      'Not understood',
    );
    expect(() => shaken({ index: `export type A = import('./a.js').A;` })).toThrow(
      'Not understood',
    );
  });
});
