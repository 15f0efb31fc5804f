// The file tools of the examples work in their directory and nowhere else.

import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DEFAULT_TOOL_CATALOG } from 'ctxfold';
import { describe, expect, it, onTestFinished } from 'vitest';

import { fileTools } from '../../examples/support/file-tools.js';
import type { FileTool } from '../../examples/support/file-tools.js';
import { makeTemporaryWorkspace } from '../../examples/support/temporary-workspace.js';

type Call = (name: FileTool['name'], input: Record<string, string>) => Promise<string>;

async function start(files?: Record<string, string>): Promise<{ root: string; call: Call }> {
  const workspace = await makeTemporaryWorkspace(files);
  onTestFinished(() => workspace.remove());
  const tools = fileTools(workspace.root);
  return {
    root: workspace.root,
    call: async (name, input) => tools.find((tool) => tool.name === name)!.run(input),
  };
}

describe('fileTools', () => {
  it('uses the names of the default catalog for tools that read and write', () => {
    const known = fileTools('/').filter(({ name }) => name in DEFAULT_TOOL_CATALOG);
    expect(known.map(({ name }) => name)).toEqual(['read_file', 'write_file', 'replace']);
  });

  it('reads, writes and edits', async () => {
    const { root, call } = await start({});
    await call('write_file', { file_path: 'src/new/a.js', content: 'let a = 1;\n' });
    await call('replace', { file_path: 'src/new/a.js', old_string: '1', new_string: '$&2' });
    expect(await call('read_file', { file_path: 'src/new/a.js' })).toBe('let a = $&2;\n');
    expect(await call('read_file', { file_path: join(root, 'src/new/a.js') })).toContain('$&2');
  });

  it.each([
    ['none', 'not at all'],
    ['a', 'more than once'],
  ])('does not replace a text that is not unique (%s)', async (old_string, message) => {
    const { call } = await start({ 'a.txt': 'aa' });
    const replaced = call('replace', { file_path: 'a.txt', old_string, new_string: 'b' });
    await expect(replaced).rejects.toThrow(message);
    expect(await call('read_file', { file_path: 'a.txt' })).toBe('aa');
  });

  it('lists and searches', async () => {
    const { call } = await start();
    expect(await call('list_directory', { path: '.' })).toBe(
      'README.md\npackage.json\nsrc/\ntest/',
    );
    expect(await call('search', { text: 'BULK_DISCOUNT', path: 'src' })).toBe(
      'src/price.js:2: const BULK_DISCOUNT = 0.1;\n' +
        'src/price.js:7:   return quantity > BULK_QUANTITY ? Math.round(full * (1 - BULK_DISCOUNT)) : full;',
    );
  });

  it('names a missing file like the model did', async () => {
    const { root, call } = await start({});
    for (const missing of [
      () => call('read_file', { file_path: 'a.js' }),
      () => call('list_directory', { path: 'a.js' }),
      () => call('search', { path: 'a.js', text: 'x' }),
    ]) {
      const message = await missing().catch((error: unknown) => (error as Error).message);
      expect(message).toMatch(/^There is no (file )?a\.js\.$/);
      expect(message).not.toContain(root);
    }
  });

  it.each([
    '../outside/a.txt',
    '/etc/hostname',
    'src/../../outside/a.txt',
    'link/a.txt',
    'link',
    'dangling',
    'link/../inside/../../a.txt',
  ])('refuses %s', async (path) => {
    const { root: outer } = await start({ 'outside/a.txt': 'secret', 'inside/b.txt': 'b' });
    const root = join(outer, 'inside');
    await symlink(join(outer, 'outside'), join(root, 'link'));
    await symlink(join(outer, 'outside', 'nowhere.txt'), join(root, 'dangling'));
    const inputs: Record<FileTool['name'], Record<string, string>> = {
      read_file: { file_path: path },
      write_file: { file_path: path, content: 'x' },
      replace: { file_path: path, old_string: 'secret', new_string: 'x' },
      list_directory: { path },
      search: { path, text: 'secret' },
    };
    for (const tool of fileTools(root)) {
      await expect(tool.run(inputs[tool.name])).rejects.toThrow('leads out of the workspace');
    }
    expect(await readFile(join(outer, 'outside/a.txt'), 'utf8')).toBe('secret');
    await expect(readFile(join(outer, 'outside/nowhere.txt'), 'utf8')).rejects.toThrow('ENOENT');
  });

  it('follows symbolic links within the workspace, but searches no file twice', async () => {
    const { root, call } = await start({ 'real/a.txt': 'found' });
    await symlink(join(root, 'real'), join(root, 'alias'));
    expect(await call('read_file', { file_path: 'alias/a.txt' })).toBe('found');
    expect(await call('search', { path: '.', text: 'found' })).toBe('real/a.txt:1: found');
  });
});

describe('makeTemporaryWorkspace', () => {
  it('removes the directory with all added files', async () => {
    const { root, remove } = await makeTemporaryWorkspace();
    await mkdir(join(root, 'more'));
    await writeFile(join(root, 'more/a.txt'), 'a');
    await remove();
    await expect(readFile(join(root, 'package.json'))).rejects.toThrow('ENOENT');
  });
});
