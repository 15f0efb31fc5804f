// Plays every public function, reader and adapter at 1 and 16 times a size over many shapes of histories: `npm run scaling --
// [--only text] [--shape text] [--json]`. Exits with code 1 when something takes more than 1.3 times its proportional time.

import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { ADAPTER_SUBJECTS } from './adapter-subjects.js';
import { MAX_OVER_LINEAR, measureGrowth } from './measure.js';
import type { Growth } from './measure.js';
import { PURE_SUBJECTS } from './pure-subjects.js';
import { READER_SUBJECTS } from './reader-subjects.js';
import { SESSION_SUBJECTS } from './session-subjects.js';
import { SHAPES } from './shapes.js';
import type { ShapeName } from './shapes.js';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    shape: { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
  },
});

const shapes = (Object.keys(SHAPES) as ShapeName[]).filter((name) => name.includes(values.shape));
const subjects = [
  ...PURE_SUBJECTS,
  ...READER_SUBJECTS,
  ...SESSION_SUBJECTS,
  ...ADAPTER_SUBJECTS,
].filter(({ name }) => name.includes(values.only));
if (shapes.length === 0) throw new RangeError('No shape has such a name.');
if (subjects.length === 0) throw new RangeError('No subject has such a name.');

const measured: Growth[] = [];
for (const subject of subjects) {
  const own = shapes.filter((shape) => subject.shapes?.includes(shape) ?? true);
  let worst: Growth | undefined;
  for (const shape of own) {
    const growth = await measureGrowth(subject, shape);
    measured.push(growth);
    if (growth.overLinear > (worst?.overLinear ?? 0)) worst = growth;
    if (growth.overLinear > MAX_OVER_LINEAR) console.error(describe(growth));
  }
  if (worst !== undefined) {
    console.error(
      `${subject.name}: ${own.length} shapes, at most ${times(worst)} (${worst.shape})`,
    );
  }
}

const failed = measured.filter(({ overLinear }) => overLinear > MAX_OVER_LINEAR);
process.stdout.write(`${values.json ? JSON.stringify(measured, null, 2) : render()}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;

function render(): string {
  const summary = `${measured.length} cases, ${failed.length} above ${MAX_OVER_LINEAR} times linear`;
  if (failed.length === 0) return summary;
  const table = new Table({
    head: ['what', 'shape', 'blocks', 'ms', 'times linear'],
    style: { head: [], border: [], compact: true },
  });
  for (const { subject, shape, sizes, cpuMs, overLinear } of failed) {
    const ms = cpuMs.map((one) => one.toFixed(1)).join(' / ');
    table.push([subject, shape, sizes.join(' / '), ms, overLinear.toFixed(2)]);
  }
  return `${table.toString()}\n${summary}`;
}

function describe(growth: Growth): string {
  const ms = growth.cpuMs.map((one) => `${one.toFixed(1)} ms`).join(', ');
  return `  ${growth.subject}, ${growth.shape}: ${times(growth)} (${growth.sizes.join(', ')} blocks: ${ms})`;
}

function times({ overLinear }: Growth): string {
  return `${overLinear.toFixed(2)} times linear`;
}
