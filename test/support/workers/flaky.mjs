// A worker that answers optimize and count tasks with valid dummy replies. It throws while the config's shared counter
// `failuresLeft` is above 0, and when it counts the text `fail`.

function optimize({ config }) {
  const { failuresLeft } = config;
  if (failuresLeft !== undefined && Atomics.sub(failuresLeft, 0, 1) > 0) throw new Error('flaky');
  return { plan: Int32Array.of(0, 0, 1, 0, -1, -1) };
}

function count({ contents }) {
  if (contents.some(({ blocks }) => blocks[0].text === 'fail')) throw new Error('flaky');
  const tokens = Int32Array.from(contents, ({ blocks }) => blocks[0].text.length);
  return { tokens, blocks: tokens, results: tokens };
}

function answer(request) {
  if (request.kind === 'probe') return { threadId: 1 };
  return request.kind === 'optimize' ? optimize(request) : count(request);
}

export default function run(request) {
  return { ok: true, value: answer(request), runMs: 2 };
}
