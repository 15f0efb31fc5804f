// The package's own code of a thread, made to raise errors that no task owns.

export default async function runWithStray(request, run) {
  if (request.fault === 'reject') void Promise.reject(new Error('stray'));
  if (request.fault === 'throw')
    setTimeout(() => {
      throw new Error('stray');
    });
  const reply = await run(request);
  return request.fault === 'notCloneable' ? () => reply : reply;
}
