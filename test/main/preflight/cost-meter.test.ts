// The budget of edits is the same in every process that serves a conversation.

import { describe, expect, it } from 'vitest';

import { HistoryService } from '../../../src/main/history-service.js';
import { SILENT_LOGGER } from '../../../src/main/host/logger.js';
import { SessionModel } from '../../../src/main/models/session-model.js';
import { InlineOffload } from '../../../src/main/offload/inline.js';
import { OffloadMeter } from '../../../src/main/offload/offload-meter.js';
import { completeEditOptions } from '../../../src/main/preflight/edit-options.js';
import { Preflight } from '../../../src/main/preflight/preflight.js';
import { createParts } from '../../../src/main/preflight/session-parts.js';
import {
  createAgentRuntimeContext,
  SessionConfig,
} from '../../../src/main/settings/session-config.js';
import { Settings } from '../../../src/main/settings/settings.js';
import { getCompressionStrategy } from '../../../src/main/strategies/registry.js';
import { TokenCalibration } from '../../../src/main/tokens/token-calibration.js';
import { historyOf } from '../../support/notation.js';

/** Above 25 tokens, everything costs ten times as much. */
const PRICE = {
  ...{ name: 'm', input: 1, cacheRead: 0.1, cacheWrite: 1.25, leastCachedTokens: 15 },
  above: { promptTokens: 25, input: 10, cacheRead: 1, cacheWrite: 12.5 },
};

describe('CostMeter.spendable', () => {
  it('is the same as in the session that this one continues, also above a price step', async () => {
    const history = new HistoryService({
      countEntries: (contents) => Promise.resolve(contents.map(() => 10)),
    });
    const settings = new Settings();
    const init = {
      sessionId: 's',
      config: new SessionConfig({
        settings,
        runtimeContext: createAgentRuntimeContext(settings, 1_000),
        densityOptions: { workspaceRoot: '/w' },
        edits: completeEditOptions({ edits: 'auto' }),
        model: new SessionModel({ priceOf: () => PRICE }),
        resolveStrategy: getCompressionStrategy,
      }),
      history,
      offload: new InlineOffload(),
      meter: new OffloadMeter(),
      logger: SILENT_LOGGER,
      calibration: new TokenCalibration(),
    };
    const preflight = new Preflight(createParts(init));
    for (const entry of historyOf('h a h a h')) {
      history.add(entry);
      const steps = preflight.run({ promptId: 'p', pendingTokens: 0 });
      while ((await steps.next()).done !== true);
    }
    const other = new Preflight(createParts({ ...init, former: preflight.memory }));
    expect(other.costs.spendable).toBe(preflight.costs.spendable);
    expect(other.costs.spendable).toBeGreaterThan(10);
  });
});
