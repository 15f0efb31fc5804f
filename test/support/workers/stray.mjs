// The package's own worker entry (compiled), made to raise errors that no task owns.

import run from '../../../dist/worker/entry.cjs';

export default async function runWithStray(request) {
  if (request.fault === 'reject') void Promise.reject(new Error('stray'));
  if (request.fault === 'throw')
    setTimeout(() => {
      throw new Error('stray');
    });
  const reply = await run(request);
  return request.fault === 'notCloneable' ? () => reply : reply;
}
