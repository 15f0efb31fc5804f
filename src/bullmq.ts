// Summaries as jobs of BullMQ, which any number of processes can execute: exports only.

export { queuedSummarizer } from './main/jobs/queued-summarizer.js';
export type {
  QueuedSummarizerOptions,
  SummaryJob,
  SummaryQueue,
} from './main/jobs/queued-summarizer.js';
export type { SummaryJobData } from './main/jobs/summary-job.js';
export { summaryProcessor } from './main/jobs/summary-processor.js';
export type { SummaryJobResult, SummaryProcessor } from './main/jobs/summary-processor.js';
