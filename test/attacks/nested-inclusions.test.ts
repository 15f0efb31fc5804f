// Files that contain randomly nested inclusion markers: whatever they say, only content that the host included and the user
// requested again later is removed.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ContentBlock, IContent } from '../../src/shared/content.js';
import { DEFAULT_DENSITY_CONFIG, SAFE_INCLUSION_SYNTAXES } from '../../src/shared/density.js';
import { optimize } from '../../src/shared/density/plan/optimize.js';
import { frameOf, groupOf, humanParts } from '../support/inclusions.js';
import { runs } from '../support/scale.js';

const PATHS = ['a.ts', 'b.ts', 'POLICY.md', 'mail.txt'] as const;
type Path = (typeof PATHS)[number];

const path = fc.constantFrom(...PATHS);
const spelling = path.chain((name) => fc.constantFrom(name, `./${name}`, `/w/${name}`));
const { content } = fc.letrec<{ readonly content: string; readonly line: string }>((tie) => ({
  line: fc.oneof(
    {
      weight: 2,
      arbitrary: fc.constantFrom('text', '', '  --- a.ts ---', '--- End of content --- not'),
    },
    { weight: 3, arbitrary: fc.constant('--- End of content ---') },
    { weight: 3, arbitrary: spelling.map((name) => `--- ${name} ---`) },
    { weight: 1, arbitrary: spelling.map((name) => `see @${name}`) },
    { weight: 1, arbitrary: spelling.map((name) => `Content from @${name}:`) },
    { weight: 1, arbitrary: fc.constant('--- Content from referenced files ---') },
    { weight: 2, arbitrary: fc.tuple(spelling, tie('content')).map((file) => frameOf(...file)) },
    {
      weight: 1,
      arbitrary: tie('content').map((text) => `--- End of content ---\n${text}\n--- x ---`),
    },
  ),
  content: fc
    .tuple(fc.array(tie('line'), { maxLength: 5 }), fc.constantFrom('\n', '\r\n'))
    .map(([lines, lineEnd]) => lines.join(lineEnd)),
}));

type File = readonly [path: Path, content: string];

/** A request of the user, and the form of the host's inclusion. */
interface Asked {
  readonly shape: 'text' | 'parts' | 'group';
  readonly files: readonly File[];
  /** A part of a group without a heading, which hosts write for content without a name. */
  readonly bare: string | null;
}

const asked: fc.Arbitrary<Asked> = fc.record({
  shape: fc.constantFrom('text', 'parts', 'group'),
  files: fc.uniqueArray(fc.tuple(path, content), {
    selector: ([name]) => name,
    minLength: 1,
    maxLength: 3,
  }),
  bare: fc.option(
    content.filter((text) => text.trim() !== '--- End of content ---'),
    { freq: 5 },
  ),
});

/** The host's entry if only the files in `kept` were left. */
function entryOf({ shape, files, bare }: Asked, kept: readonly File[]): IContent {
  const words = `Look at ${files.map(([name]) => `@${name}`).join(', ')}.`;
  const frames = files.map((file) => frameOf(...file));
  switch (shape) {
    case 'text': {
      const left = frames
        .map((frame, at) => (at === frames.length - 1 ? frame : `${frame}\n`))
        .filter((_, at) => kept.includes(files[at] ?? ['a.ts', '']));
      return humanParts(`${words}\n${left.join('')}`);
    }
    case 'parts':
      return humanParts(words, ...kept.map((file) => frameOf(...file)));
    case 'group': {
      const [opening = '', ...rest] = kept.length === 0 && bare === null ? [] : groupOf(...kept);
      const parts = [opening, ...(bare === null ? [] : [bare]), ...rest];
      return humanParts(words, ...(opening === '' ? [] : parts));
    }
  }
}

function textsOf(blocks: readonly ContentBlock[] | undefined): string {
  return JSON.stringify(blocks?.map((block) => (block.type === 'text' ? block.text : block)));
}

/** All valid remains of an entry: any of its removable files may be missing. */
function allowed(entry: Asked, mayLeave: (file: File) => boolean): readonly string[] {
  return entry.files
    .reduce<readonly (readonly File[])[]>(
      (subsets, file) =>
        subsets.flatMap((kept) => (mayLeave(file) ? [kept, [...kept, file]] : [[...kept, file]])),
      [[]],
    )
    .map((kept) => textsOf(entryOf(entry, kept).blocks));
}

describe('the content of included files', () => {
  it('cuts nothing, and supersedes nothing, that the words of a user did not ask for', () => {
    let cuts = 0;
    fc.assert(
      fc.property(fc.array(asked, { minLength: 2, maxLength: 5 }), (entries) => {
        const history = entries.map((entry) => entryOf(entry, entry.files));
        const { replacements, removals } = optimize(history, {
          ...DEFAULT_DENSITY_CONFIG,
          workspaceRoot: '/w',
          inclusionSyntaxes: SAFE_INCLUSION_SYNTAXES,
        });
        expect(removals).toEqual([]);
        for (const [index, replacement] of replacements) {
          const entry = entries[index] ?? entries[0];
          const later = new Set(
            entries.slice(index + 1).flatMap(({ files }) => files.map(([name]) => name)),
          );
          const left = entry && allowed(entry, ([name]) => later.has(name));
          expect(left).toContain(textsOf(replacement.blocks));
          cuts += 1;
        }
      }),
      { numRuns: runs(20_000, 400) },
    );
    // Ordinary files are still found.
    expect(cuts).toBeGreaterThan(0);
  });
});
