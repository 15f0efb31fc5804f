import { describe, expect, it } from 'vitest';
import { completeGatewayOptions } from '../../../src/gateway/server/options.js';

describe('completeGatewayOptions', () => {
  it.each([
    [{ v1: 'http://x' }, /expected a name such as my-provider\n.*upstreams\.v1/],
    [{ 'My Provider': 'http://x' }, /expected a name such as my-provider/],
    [{ mine: 'x/v1' }, /expected a URL of http or https.*\n.*upstreams\.mine/],
    [{ mine: 'http://user:secret@x' }, /without a password/],
  ])('names the error in the upstreams %o', (upstreams, message) => {
    expect(() => completeGatewayOptions({ upstreams })).toThrow(message);
  });
});
