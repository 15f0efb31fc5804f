// Compares the declarations in dist with docs/api-report, one report per package entry, and fails if the public API differs.
// `--local` writes the reports. Needs a build. Reading the declarations takes ten seconds, so the check is skipped while no file
// has changed since it last passed.

import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { CompilerState, Extractor, ExtractorConfig } from '@microsoft/api-extractor';
import { filesThatDiffer } from './files-that-differ.js';
import { packageEntries } from './package-entries.js';

const REPORTS = 'docs/api-report';
const QUIET = { default: { logLevel: 'none' } };
/** Holds the hash of the files that last passed. */
const FOUND_RIGHT = 'node_modules/.cache/api-report';

const declarationsOf = (entry) => resolve('dist', `${entry}.d.ts`);

/** The config that writes the report of one entry into a folder. */
function configOf(entry, folder, scratch) {
  const declarations = declarationsOf(entry);
  return ExtractorConfig.prepare({
    packageJsonFullPath: resolve('package.json'),
    configObjectFullPath: undefined,
    configObject: {
      projectFolder: process.cwd(),
      mainEntryPointFilePath: declarations,
      compiler: {
        overrideTsconfig: { extends: resolve('tsconfig.json'), include: [], files: [declarations] },
      },
      apiReport: {
        enabled: true,
        reportFileName: entry,
        reportFolder: folder,
        reportTempFolder: scratch,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: { extractorMessageReporting: QUIET, tsdocMessageReporting: QUIET },
      newlineKind: 'lf',
    },
  });
}

/** Writes the reports of all entries into a folder. */
function writeReports(folder, scratch) {
  const entries = packageEntries();
  const configs = entries.map((entry) => configOf(entry, folder, scratch));
  // One program for all entries: reading the declarations is most of the work.
  const compilerState = CompilerState.create(configs[0], {
    additionalEntryPoints: entries.map(declarationsOf),
  });
  for (const [at, config] of configs.entries()) {
    const options = { localBuild: true, messageCallback: report, compilerState };
    const { succeeded } = Extractor.invoke(config, options);
    if (!succeeded) throw new Error(`The declarations of ${entries[at]} could not be read.`);
  }
}

/** Prints errors only. */
function report(message) {
  message.handled = true;
  const isWrong = message.logLevel === 'error' || message.category === 'Compiler';
  if (isWrong) console.error(message.formatMessageWithLocation(process.cwd()));
}

/** A hash of every file that the result depends on. */
function hashOfFiles() {
  const below = (folder, ending) =>
    readdirSync(folder, { recursive: true })
      .filter((name) => name.endsWith(ending))
      .map((name) => join(folder, name));
  const packages = ['package.json', 'package-lock.json', 'tsconfig.json', import.meta.filename];
  const files = [...below('dist', '.d.ts'), ...below(REPORTS, ''), ...packages].sort();
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}

/** Compares the reports with the current declarations, or writes them. @returns whether they match */
function check(isLocal) {
  const scratch = mkdtempSync(join(tmpdir(), 'ctxfold-api-'));
  try {
    const folder = isLocal ? resolve(REPORTS) : join(scratch, 'reports');
    if (isLocal) rmSync(REPORTS, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    writeReports(folder, join(scratch, 'compared'));
    const changed = isLocal ? [] : filesThatDiffer(REPORTS, folder);
    for (const file of changed) console.error(`${join(REPORTS, file)}: the public API has changed`);
    if (changed.length === 0) return true;
    console.error(
      'If that is meant, run `npm run api-report -- --local` and commit what it writes.',
    );
    return false;
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

const { local } = parseArgs({ options: { local: { type: 'boolean', default: false } } }).values;
const wasRight = existsSync(FOUND_RIGHT) ? readFileSync(FOUND_RIGHT, 'utf8') : undefined;
if (local || wasRight !== hashOfFiles()) {
  if (check(local)) {
    mkdirSync(dirname(FOUND_RIGHT), { recursive: true });
    writeFileSync(FOUND_RIGHT, hashOfFiles());
  } else {
    process.exitCode = 1;
  }
}
