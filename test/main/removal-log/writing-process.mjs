// A process that appends to a transcript until it is killed or refused. Prints the number of each acknowledged record, and the system's error code that ended
// it. Arguments: the writer's module, the transcript, the first number, the maximum bytes of a record.

import { writeSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [, , modulePath, path, first, maxBytes] = process.argv;
const { RemovalLog } = await import(pathToFileURL(modulePath).href);
const writer = await RemovalLog.open(path);
let next = Number(first);

async function appendOne() {
  const number = next;
  next += 1;
  const text = `${number}:${'x'.repeat(Math.ceil(Math.random() * Number(maxBytes)))}`;
  const entry = { speaker: 'human', blocks: [{ type: 'text', text }] };
  await writer.append([{ sessionId: 's', kind: 'removed', index: number, entry }]);
  writeSync(1, `${number}\n`);
}

try {
  // Several at once, so that batches are formed.
  for (;;) await Promise.all([appendOne(), appendOne(), appendOne(), appendOne()]);
} catch (error) {
  writeSync(1, `${error.code} ${error.cause?.code}\n`);
}
