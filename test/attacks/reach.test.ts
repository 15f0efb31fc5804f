// ctxfold and its dependencies cannot act on a host by themselves: their code has no means to.

import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const SOURCES = readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true })
  .filter(({ name }) => name.endsWith('.ts'))
  .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));

/**
 * The only files that contact a server: for the model that a command line user names, and for an SDK that uses our `fetch`.
 */
const ASKS_A_MODEL = [
  'src/adapters/anthropic/compacting-fetch.ts',
  'src/adapters/google/compacting-fetch.ts',
  'src/adapters/openai/compacting-fetch.ts',
  'src/cli/replay/chat-completions-model.ts',
];

/** The only file that imports a module by a given name: the one that a user of `ctxfold worker` names. */
const LOADS_A_MODEL = 'src/cli/worker/run-worker.ts';

/** The gateway contacts its upstreams, and `run` starts the given command. No other code imports them. */
const GATEWAY = /^src\/(?:cli\/)?gateway\//;

/** The modules that a source imports, and the bare names that it calls or constructs. */
function namesIn(path: string): {
  readonly modules: readonly string[];
  readonly called: readonly string[];
} {
  const modules: string[] = [];
  const called: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      modules.push(node.moduleSpecifier.text);
    }
    if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
      if (node.expression.kind === ts.SyntaxKind.ImportKeyword) {
        modules.push(node.arguments?.[0]?.getText().slice(1, -1) ?? '');
      }
      if (ts.isIdentifier(node.expression)) called.push(node.expression.text);
    }
    if (ts.isPropertyAccessExpression(node)) called.push(node.getText());
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, read(path), ts.ScriptTarget.ES2022, true));
  return { modules, called };
}

const ALL_NAMES = SOURCES.map((path) => ({ path, ...namesIn(path) }));
const NAMES = ALL_NAMES.filter(({ path }) => !GATEWAY.test(path));

describe('the sources', () => {
  it('would have reached the network, or started a program', () => {
    const reaching =
      /^(?:node:)?(?:http2?|https|net|tls|dgram|dns|child_process|cluster|vm|inspector|repl|v8|wasi)(?:\/|$)/;
    const found = NAMES.flatMap(({ path, modules }) =>
      modules.filter((name) => reaching.test(name)).map((name) => `${path}: ${name}`),
    );
    expect(NAMES.length).toBeGreaterThan(200);
    expect(found).toEqual([]);
    const asking = NAMES.filter(({ called }) =>
      called.some((name) =>
        /^(?:globalThis\.)?(?:fetch|WebSocket|EventSource|XMLHttpRequest)$/.test(name),
      ),
    );
    expect(asking.map(({ path }) => path)).toEqual(ASKS_A_MODEL);
  });

  it('would have loaded the gateway unasked', () => {
    const loading = NAMES.filter(({ modules }) =>
      modules.some((name) => /(?:^|\/)gateway(?:\/|\.js$)/.test(name)),
    );
    expect(loading.map(({ path }) => path)).toEqual(['src/cli/commands.ts']);
  });

  it('would have run text as code', () => {
    const running = ALL_NAMES.filter(({ called }) =>
      called.some((name) => ['eval', 'Function', 'require', 'createRequire'].includes(name)),
    );
    expect(running.map(({ path }) => path)).toEqual([]);
    // A computed module name could be any.
    const anyOf = ALL_NAMES.filter(({ modules }) =>
      modules.some((name) => !/^[#@\w./:-]+$/.test(name)),
    );
    expect(anyOf.map(({ path }) => path)).toEqual([LOADS_A_MODEL]);
  });

  it('would have read the environment, where keys are, but for the command line', () => {
    const reading = ALL_NAMES.filter(({ called }) => called.includes('process.env'));
    const others = reading.filter(({ path }) => !path.startsWith('src/cli/'));
    // Reads two environment variables with paths.
    expect(others.map(({ path }) => path)).toEqual(['src/main/host/state-folder.ts']);
  });
});

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly peer?: boolean }>>;
}

describe('the package', () => {
  it('would have run a script when it is installed, or have brought one along', () => {
    const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: object };
    const running = [
      'preinstall',
      'install',
      'postinstall',
      'prepare',
      'preprepare',
      'postprepare',
    ];
    expect(Object.keys(scripts).filter((name) => running.includes(name))).toEqual([]);
    const { packages } = JSON.parse(read('package-lock.json')) as Lock;
    const brought = Object.entries(packages).filter(
      ([path, { dev, peer }]) => path !== '' && dev !== true && peer !== true,
    );
    // No other package is installed with this one, with or without a script.
    expect(brought.map(([path]) => path)).toEqual([]);
  });
});
