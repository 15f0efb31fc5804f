// Tests the mini-notation that other tests use.

import { describe, expect, it } from 'vitest';

import {
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../src/shared/content.js';
import { PRUNED_POINTER } from '../../src/shared/density.js';
import { describeHistory, describeResult, historyOf } from './notation.js';

describe('historyOf', () => {
  it('reads turns with calls and their responses', () => {
    expect(historyOf('h a:ok,r1(b.ts) t:r1(two lines) a:w2 t:w2!')).toEqual([
      humanText('hello'),
      aiContent([{ type: 'text', text: 'ok' }, toolCall('r1', 'read_file', { file_path: 'b.ts' })]),
      toolContent([toolResponse('r1', 'read_file', 'two lines')]),
      aiContent([toolCall('w2', 'write_file', { file_path: 'a.ts', content: 'new' })]),
      toolContent([toolResponse('w2', 'write_file', 'result of w2', 'failed')]),
    ]);
  });

  it('reads lists of paths, raw parameters and raw results', () => {
    expect(historyOf('a:m1(a.ts|b/*.ts),r2(=null) t:m1(=[{"a":1}]),r2~')).toEqual([
      aiContent([
        toolCall('m1', 'read_many_files', { paths: ['a.ts', 'b/*.ts'] }),
        toolCall('r2', 'read_file', null),
      ]),
      toolContent([
        toolResponse('m1', 'read_many_files', [{ a: 1 }]),
        toolResponse('r2', 'read_file', PRUNED_POINTER),
      ]),
    ]);
  });

  it('reads texts of several lines with inclusions', () => {
    expect(historyOf('h#m1:see+@a.ts+"so on\\n"+@b.ts(new)')).toEqual([
      humanText(
        'see\n--- a.ts ---\ncontent of a.ts\n--- End of content ---\nso on\n\n' +
          '--- b.ts ---\nnew\n--- End of content ---',
        { id: 'm1' },
      ),
    ]);
  });

  it('reads reasoning, code, media, opaque blocks, blank text and an entry without blocks', () => {
    expect(historyOf('a:*,*s1,`let x = 1`,%cat.png,&note,&approval(25)=r1,_ a:')).toEqual([
      aiContent([
        { type: 'thinking', thought: 'thought' },
        { type: 'thinking', thought: 'thought', signature: 's1' },
        { type: 'code', code: 'let x = 1' },
        {
          type: 'media',
          mimeType: 'image/png',
          data: 'AAAA',
          encoding: 'base64',
          filename: 'cat.png',
        },
        { type: 'opaque', kind: 'note', tokens: 10 },
        { type: 'opaque', kind: 'approval', tokens: 25, callId: 'r1' },
        { type: 'text', text: ' ' },
      ]),
      aiContent([]),
    ]);
  });

  it('takes a letter and a number that name no tool for a word', () => {
    expect(historyOf('h:v2')).toEqual([humanText('v2')]);
  });

  it.each(['x', 'h:r1(', 'h,a', 'a:r1,', 'a:"open'])('rejects %s', (notation) => {
    expect(() => historyOf(notation)).toThrow(SyntaxError);
  });
});

describe('describeHistory', () => {
  it.each([
    '',
    'h a t a:',
    'h:one a:two,r1 t:r1 a:r1 t:r1',
    'a:*,*s1,r1(b.ts),w2(={"path":"x"}),s3(npm test) t:r1(new),w2!,s3(=[1])! t:e4?,f5~,g6!~',
    'h#m-1:see+@a.ts+and+@b/c.ts(new) h:@a.ts h:@a.ts+@a.ts h:"r1" h:_ h:"\\n"',
    'h:"--- a.ts ---\\nopen" a:`x`,%,%cat.png h:r1,>r2 t:<r1',
    'h:&note(0) a:&note,&approval(25)=r1,r1 t:&approval=r1,r1',
    'a:m1(a.ts|b/*.ts),r2(=null),r3(="text"),r4(=[])',
  ])('gives %s back', (notation) => {
    expect(describeHistory(historyOf(notation))).toBe(notation);
  });

  it('quotes what would read as something else', () => {
    expect(describeHistory([humanText('r1'), humanText('two words'), humanText('a\nb')])).toBe(
      'h:"r1" h:"two words" h:"a\\nb"',
    );
  });
});

describe('describeResult', () => {
  it('lists removals and replacements by index', () => {
    const result = {
      removals: [1, 12],
      replacements: new Map([
        [9, humanText('')],
        [2, humanText('')],
      ]),
      metadata: { readWritePairsPruned: 1, fileDeduplicationsPruned: 0, recencyPruned: 0 },
    };
    expect(describeResult(result)).toBe('-1 ~2 ~9 -12');
  });
});
