// The list of commands agrees with the commands themselves.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { COMMANDS, namedCommand } from '../../src/cli/commands.js';

describe('COMMANDS', () => {
  test.each(COMMANDS.map((entry) => [entry.name, entry] as const))(
    'lists %s by the name and the arguments that the command has',
    async (_, entry) => {
      const create = await entry.load();
      const command = create();
      expect(command.name()).toBe(entry.name);
      expect(command.usage()).toBe(['[options]', entry.arguments].join(' ').trim());
      expect(command.description()).not.toBe('');
    },
  );

  test.each(COMMANDS.map((entry) => [entry.name, entry] as const))(
    'documents the exit codes for sessions only if %s replays sessions',
    async (name, entry) => {
      const create = await entry.load();
      let help = '';
      const command = create().configureOutput({ writeOut: (text) => (help += text) });
      command.outputHelp();
      const plays = ['replay', 'report', 'analyze'].includes(name);
      expect([help.includes('the transcript cannot be read'), help.includes('xit code')]).toEqual([
        plays,
        true,
      ]);
    },
  );

  test.each(COMMANDS.map((entry) => [entry.name, entry] as const))(
    'has examples of %s that no terminal breaks where they would not run',
    async (name, entry) => {
      const create = await entry.load();
      let help = '';
      create()
        .configureOutput({ writeOut: (text) => (help += text) })
        .outputHelp();
      const lines = /^Examples:\n([^]*?)\n\n/m.exec(help)?.[1]?.split('\n') ?? [];
      expect(lines.length, name).toBeGreaterThan(0);
      expect(lines.filter(({ length }) => length > 80)).toEqual([]);
    },
  );

  test('are loaded by name: until then, not even the public API is loaded', () => {
    const loaded = modulesBehind('src/cli/main.ts');
    expect(loaded).toContain('src/cli/commands.ts');
    expect(loaded).not.toContain('src/index.ts');
    expect(loaded.filter((file) => file.endsWith('-command.ts'))).toEqual([]);
  });

  test('replay shows its help without loading the public API', () => {
    const loaded = modulesBehind('src/cli/replay/replay-command.ts');
    expect(loaded).toContain('src/cli/terminal/options.ts');
    expect(loaded).not.toContain('src/index.ts');
  });

  test('names each command once', () => {
    expect(new Set(COMMANDS.map((entry) => entry.name)).size).toBe(COMMANDS.length);
  });
});

describe('namedCommand', () => {
  test.each([
    [['replay', 'help'], 'replay'],
    [['--debug', 'replay', 'file'], 'replay'],
    [['--help', 'replay'], 'replay'],
    [['--', 'replay'], 'replay'],
    [['help', 'replay'], 'replay'],
    [['help'], undefined],
    [['--version'], undefined],
    [[], undefined],
  ])('finds the command in %j: %s', (args, name) => {
    expect(namedCommand(args)).toBe(name);
  });
});

/** The files of the package that a module loads statically, itself included. */
function modulesBehind(file: string, seen: string[] = []): readonly string[] {
  if (seen.includes(file)) return seen;
  seen.push(file);
  const imports = readFileSync(file, 'utf8').matchAll(
    /^(?:import|export) (?!type )[^;]*?from '(\.[^']+)\.js';$/gm,
  );
  for (const [, target = ''] of imports) {
    modulesBehind(`${path.posix.join(path.posix.dirname(file), target)}.ts`, seen);
  }
  return seen;
}
