// Writes the API reference into docs/api, one page per package entry, from the comments in src. `--check` writes nothing and
// fails when the pages are stale.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Application } from 'typedoc';
import { load as loadMarkdown } from 'typedoc-plugin-markdown';
import { filesThatDiffer } from './files-that-differ.js';
import { packageEntries } from './package-entries.js';

const PAGES = 'docs/api';

/** The output must not depend on the machine, the date or the state of git. */
async function writePages(out) {
  const app = await Application.bootstrapWithPlugins({
    entryPoints: packageEntries().map((name) => `src/${name}.ts`),
    tsconfig: 'tsconfig.build.json',
    plugin: [loadMarkdown],
    out,
    outputFileStrategy: 'modules',
    name: 'ctxfold',
    readme: 'none',
    disableGit: true,
    disableSources: true,
    excludeExternals: true,
    excludeInternal: true,
    hideBreadcrumbs: true,
    hidePageHeader: true,
    parametersFormat: 'table',
    interfacePropertiesFormat: 'table',
    typeDeclarationFormat: 'table',
    validation: { invalidLink: true, notExported: false, rewrittenLink: false },
    treatValidationWarningsAsErrors: true,
    logLevel: 'Warn',
    // Type checking is a separate step.
    skipErrorChecking: true,
  });
  const project = await app.convert();
  if (project === undefined) throw new Error('The entries of the package could not be read.');
  app.validate(project);
  await app.generateOutputs(project);
  if (app.logger.hasErrors()) throw new Error('The reference has errors.');
}

const { check } = parseArgs({ options: { check: { type: 'boolean', default: false } } }).values;
if (check) {
  const scratch = mkdtempSync(join(tmpdir(), 'ctxfold-docs-'));
  try {
    await writePages(scratch);
    const stale = filesThatDiffer(PAGES, scratch);
    for (const file of stale) console.error(`${join(PAGES, file)} is out of date`);
    if (stale.length > 0) {
      console.error('Run `npm run docs` and commit what it writes.');
      process.exitCode = 1;
    }
  } finally {
    rmSync(scratch, { recursive: true });
  }
} else {
  rmSync(PAGES, { recursive: true, force: true });
  await writePages(PAGES);
}
