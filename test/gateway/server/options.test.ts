import { describe, expect, it } from 'vitest';
import { completeGatewayOptions } from '../../../src/gateway/server/options.js';

describe('completeGatewayOptions', () => {
  it.each([
    [{ v1: 'http://x' }, /expected a name such as my-provider.*\n.*upstreams\.v1/],
    [{ 'My Provider': 'http://x' }, /expected a name such as my-provider/],
    [{ mine: 'x/v1' }, /expected a URL of http or https.*\n.*upstreams\.mine/],
    [{ mine: 'http://user:secret@x' }, /without a password/],
  ])('names the error in the upstreams %o', (upstreams, message) => {
    expect(() => completeGatewayOptions({ upstreams })).toThrow(message);
  });

  it.each([undefined, 'short', 'bG9uZw+/bG9uZw+/bG9uZw=='])(
    'says where the command line reads the token from if it is %s',
    (token) => {
      const options = { host: '0.0.0.0', token };
      expect(() => completeGatewayOptions(options)).toThrow(/reads CTXFOLD_GATEWAY_TOKEN/);
    },
  );

  it('adds upstreams to the known ones, and replaces those of their names', () => {
    const known = completeGatewayOptions({}).upstreams;
    const own = { openai: 'http://127.0.0.1:1', mine: 'http://127.0.0.1:2' };
    expect(Object.keys(known)).toContain('anthropic');
    expect(completeGatewayOptions({ upstreams: own }).upstreams).toEqual({ ...known, ...own });
  });
});
