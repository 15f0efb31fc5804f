// What tools do, judged by the words of their names.

import { describe, expect, it } from 'vitest';
import { onlyShows, saysWhere } from '../../src/shared/tool-words.js';

describe('onlyShows', () => {
  it.each([
    ['order_status', true],
    ['get_order_updates', true],
    ['update_plan', true],
    ['TodoWrite', true],
    ['poll_job', true],
    ['update_order_status', false],
    ['createView', false],
    ['mcp__x__delete_snapshot', false],
    ['mcp__make__list_scenarios', true],
    ['mcp__search__update_index', false],
    ['list__all', true],
  ])('is decided by the first matching word of %s', (tool, is) => {
    expect(onlyShows(tool)).toBe(is);
  });
});

describe('saysWhere', () => {
  it.each([
    ['host', true],
    ['target_host', true],
    ['containerId', true],
    ['repo_name', true],
    ['ref', true],
    ['id', false],
    ['ghost', false],
    ['sandbox_permissions', false],
    ['projectPath', false],
  ])('is decided by the last word of %s that names no value', (parameter, is) => {
    expect(saysWhere(parameter)).toBe(is);
  });
});
