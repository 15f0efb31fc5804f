// What replaces a removed result in which files are spelled as on Windows, or with letters beyond ASCII.

import { describe, expect, it } from 'vitest';
import { excerptOf } from '../../../support/excerpt-of.js';

const { raw } = String;
const STEPS = 'a plain line of it\n'.repeat(60);
const ERROR = raw`src\nodes\render.ts(12,5): error TS2304: Cannot find the name.`;
const OUTPUT = `${STEPS}${ERROR}\n${STEPS}compiled C:\\proj\\node_modules\\vite\\index.ts`;

describe('excerptOf', () => {
  it('names paths with backslashes as a whole, with their drives', () => {
    const excerpt = excerptOf(OUTPUT, '[x]');
    expect(excerpt).toContain(
      raw`It named: src\nodes\render.ts C:\proj\node_modules\vite\index.ts`,
    );
    expect(excerpt).toContain(`It reported: ${ERROR}`);
  });

  it('does so in JSON, where folders have two backslashes and line breaks one', () => {
    const excerpt = excerptOf(JSON.stringify({ output: OUTPUT }), '[x]');
    expect(excerpt).toContain(raw`src\\nodes\\render.ts C:\\proj\\node_modules\\vite\\index.ts`);
    expect(excerpt).toContain(raw`It reported: src\\nodes\\render.ts(12,5): error TS2304`);
  });

  it('names a file with accents as a whole', () => {
    const listed = `${STEPS}docs/Übersicht_1.md\nsrc/größe2.ts\nsrc/Проверка3.ts\n`;
    expect(excerptOf(listed, '[x]')).toContain(
      'It named: docs/Übersicht_1.md src/größe2.ts src/Проверка3.ts',
    );
    const said = `${STEPS}请修改src/app.ts文件中的getUserName函数，然后运行测试。\n`;
    expect(excerptOf(said, '[x]')).toContain('It named: src/app.ts getUserName');
  });
});
