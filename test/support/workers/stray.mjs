// The package's own thread code, made to raise errors outside of any task.

export default async function runWithStray(request, run) {
  if (request.fault === 'reject') void Promise.reject(new Error('stray'));
  if (request.fault === 'throw')
    setTimeout(() => {
      throw new Error('stray');
    });
  const reply = await run(request);
  // Wakes the one waiting for the reply to be sent.
  if (request.fault === 'leave')
    setTimeout(() => {
      Atomics.store(request.gate, 0, 1);
      Atomics.notify(request.gate, 0);
      process.exit(1);
    });
  return request.fault === 'notCloneable' ? () => reply : reply;
}
