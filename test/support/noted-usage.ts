// Notes the usage that an adapter reports to its sessions.

import type { Session } from '../../src/main/session.js';

/** Returns an `onSession` that collects the input tokens of each report. */
export function noting(reported: number[]): (session: Session) => void {
  return (session) => {
    const report = session.reportUsage.bind(session);
    session.reportUsage = (usage) => {
      reported.push(usage.inputTokens);
      return report(usage);
    };
  };
}
