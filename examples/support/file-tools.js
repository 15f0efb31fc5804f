// The file tools of a small coding agent. They work in one directory and refuse paths outside of it, whether by `..` or
// symlink. Independent of providers and SDKs.

import { lstat, mkdir, readdir, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

const MAX_MATCHES = 100;

const MAX_SEARCHED_BYTES = 1024 * 1024;

/** See `file-tools.d.ts`. */
export function fileTools(workspaceRoot) {
  const within = (path) => locate(workspaceRoot, path);
  return [
    {
      name: 'read_file',
      description: 'Returns the whole text of a file.',
      inputSchema: objectOf({ file_path: PATH }),
      run: async ({ file_path }) => readText(await within(file_path), file_path),
    },
    {
      name: 'write_file',
      description: 'Writes a whole file, and makes it where there is none.',
      inputSchema: objectOf({ file_path: PATH, content: TEXT }),
      run: async ({ file_path, content }) => {
        const path = await within(file_path);
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, content);
        return `Wrote ${content.length} characters to ${file_path}.`;
      },
    },
    {
      name: 'replace',
      description: 'Replaces a text that stands in a file exactly once.',
      inputSchema: objectOf({ file_path: PATH, old_string: TEXT, new_string: TEXT }),
      run: async ({ file_path, old_string, new_string }) => {
        const path = await within(file_path);
        const [before, after, ...more] = (await readText(path, file_path)).split(old_string);
        if (old_string === '' || after === undefined || more.length > 0) {
          const count = after === undefined ? 'not at all' : 'more than once';
          throw new Error(
            `The text stands ${count} in ${file_path}: give one that is unique there.`,
          );
        }
        await writeFile(path, before + new_string + after);
        return `Replaced one place in ${file_path}.`;
      },
    },
    {
      name: 'list_directory',
      description: 'Lists what is in a directory, one name a line; directories end in a slash.',
      inputSchema: objectOf({ path: PATH }),
      run: async ({ path }) => {
        const directory = await existing(await within(path), path);
        const entries = await readdir(directory, { withFileTypes: true });
        const names = entries.map((entry) => entry.name + (entry.isDirectory() ? '/' : ''));
        return names.sort().join('\n');
      },
    },
    {
      name: 'search',
      description: 'Finds the lines that hold a text, in a file or in all files below a directory.',
      inputSchema: objectOf({ text: TEXT, path: PATH }),
      run: async ({ text, path }) => {
        const start = await existing(await within(path), path);
        const matches = await search(start, relative(await realpath(workspaceRoot), start), text);
        const more = matches.length > MAX_MATCHES ? '\n(There are more.)' : '';
        return matches.slice(0, MAX_MATCHES).join('\n') + more;
      },
    },
  ];
}

const PATH = { type: 'string', description: 'A path, relative to the workspace.' };
const TEXT = { type: 'string' };

function objectOf(properties) {
  return {
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

/** The real path of a file that exists or may be created. */
async function locate(workspaceRoot, path) {
  const root = await realpath(workspaceRoot);
  const wanted = resolve(root, path);
  let existing = wanted;
  let real = await realPathOf(existing);
  while (real === undefined) {
    // Writing to a dangling symlink would create its target.
    if (await isThere(existing)) throw outside(path);
    existing = dirname(existing);
    real = await realPathOf(existing);
  }
  const located = join(real, relative(existing, wanted));
  const steps = relative(root, located);
  if (steps === '..' || steps.startsWith(`..${sep}`) || isAbsolute(steps)) throw outside(path);
  return located;
}

async function realPathOf(path) {
  try {
    return await realpath(path);
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

async function isThere(path) {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

function outside(path) {
  return new Error(`${path} leads out of the workspace.`);
}

/** The path of an existing file. The error otherwise contains the path as the model wrote it. */
async function existing(path, name) {
  if (!(await isThere(path))) throw new Error(`There is no ${name}.`);
  return path;
}

async function readText(path, name) {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true) throw new Error(`There is no file ${name}.`);
  return readFile(path, 'utf8');
}

/** Lines that contain the text, as `path:line: text`, up to one more than is shown. Follows no symlinks. */
async function search(path, name, text) {
  const found = await lstat(path);
  if (found.isFile()) {
    return found.size > MAX_SEARCHED_BYTES
      ? []
      : matchesIn(await readFile(path, 'utf8'), name, text);
  }
  if (!found.isDirectory()) return [];
  const matches = [];
  for (const child of (await readdir(path)).sort()) {
    matches.push(...(await search(join(path, child), join(name, child), text)));
    if (matches.length > MAX_MATCHES) break;
  }
  return matches;
}

function matchesIn(content, name, text) {
  return content
    .split('\n')
    .flatMap((line, at) => (line.includes(text) ? [`${name}:${at + 1}: ${line}`] : []));
}
