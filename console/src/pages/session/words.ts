/** What the figures of a session mean, in words. */
import type { Quality, Session } from '../../api/schema';
import { figure, wordOf } from '../../ui/format';

type Stall = NonNullable<Session['stall']>;

/** Why nothing goes on, and what to do about it; empty while it does. */
const STALLS: Record<Stall, string> = {
  STALL_REASON_UNSPECIFIED: '',
  STALL_REASON_NO_WORKERS:
    'No worker has given a sign of life for 15 seconds, and the session needs one to go on. Start a worker: ' +
    'svddtune worker, or restart svddtune up.',
  STALL_REASON_PAUSED: 'The session is paused: nobody is asked. Resume it to go on.',
  STALL_REASON_AWAITING_VOTES:
    'Labelers wait, but what is left needs votes of others. Let another person label, or finish the session.',
  STALL_REASON_AWAITING_ADJUDICATION:
    'Labelers wait, but what is left are observations whose votes contradict each other.',
  STALL_REASON_JOB_GIVEN_UP:
    'A computation failed and was given up; its labels are kept. Whoever runs the service sees it with: ' +
    'svddtune jobs list --state dead',
};

export function stallWords(session: Session): string {
  const { stall = 'STALL_REASON_UNSPECIFIED', config } = session;
  const words = STALLS[stall] ?? '';
  if (stall === 'STALL_REASON_AWAITING_ADJUDICATION') {
    return `${words} Let ${(config?.adjudicators ?? []).join(' or ')} decide them, or finish the session.`;
  }
  if (stall !== 'STALL_REASON_JOB_GIVEN_UP') return words;
  const again = unspent(session) ? 'Resume the session' : 'The budget is spent: raise it and resume the session';
  return `${words}. ${again} to try it again.`;
}

/** Whether labels of the budget are left. */
export function unspent({ counts, config }: Session): boolean {
  return (counts?.total ?? 0) < (config?.budget ?? 0);
}

/** Whether the session advises to ask no more, while it would. */
export function stopAdvised(session: Session): boolean {
  return Boolean(session.live?.stop) && unspent(session) && takesVotes(session);
}

const STATES: Record<string, string> = {
  SESSION_STATE_PREPARING: 'Preparing the data; labelers are asked soon.',
  SESSION_STATE_LABELING: 'Labelers are asked, and answers count.',
  SESSION_STATE_PAUSED: 'Nobody is asked. Answers to questions that are out still count.',
  SESSION_STATE_ESTIMATING: 'The result is being computed. Answers no longer count.',
  SESSION_STATE_COMPLETED: 'The result is there.',
  SESSION_STATE_CANCELLED: 'Cancelled, without a result.',
  SESSION_STATE_FAILED: 'Failed.',
};

export function stateWords(session: Session): string {
  return STATES[session.state ?? ''] ?? '';
}

/** Whether votes can still be corrected and added. */
export function takesVotes(session: Session): boolean {
  return ['SESSION_STATE_PREPARING', 'SESSION_STATE_LABELING', 'SESSION_STATE_PAUSED'].includes(session.state ?? '');
}

/** The evidence behind a score. */
export function evidence(kind: string | undefined): string {
  switch (kind) {
    case 'KIND_QUERIED':
      return 'optimistic: on the labels that the choice was made by';
    case 'KIND_HELD_OUT':
      return 'held out: on labels that the detector was made without';
    case 'KIND_AUDIT':
      return 'audit: on rows drawn at random, so it holds for all rows';
    default:
      return '';
  }
}

const REPRESENTATIONS: Record<string, string> = {
  SCALING_KIND_NONE: 'columns as they are',
  SCALING_KIND_MINMAX: 'min-max',
  SCALING_KIND_ROBUST: 'robust',
  SCALING_KIND_AUTO: 'chosen by the labels',
  SCALING_KIND_STANDARD: 'standard',
  SCALING_KIND_RANKS: 'ranks',
  SCALING_KIND_NORMAL: 'normal scores',
  SCALING_KIND_WHITENED: 'whitened',
  SCALING_KIND_ASINH: 'asinh',
};

export function representation(scaling: string | undefined): string {
  return REPRESENTATIONS[scaling ?? ''] ?? '–';
}

const METRICS: Record<string, string> = {
  METRIC_KAPPA: "Cohen's kappa",
  METRIC_MCC: 'Matthews correlation',
  METRIC_BALANCED_ACCURACY: 'balanced accuracy',
};

export function metric(name: string | undefined): string {
  return METRICS[name ?? ''] ?? 'score';
}

export function strategy(session: Session): string {
  const config = session.config;
  return config?.ownStrategy || wordOf(config?.strategy, 'QUERY_STRATEGY_');
}

/** "0.71 (0.52 to 0.84)". */
export function withInterval(
  value: number | undefined,
  interval: { low?: number; high?: number } | undefined,
  write: (value: number | undefined) => string = figure,
): string {
  if (value === undefined) return 'cannot be judged yet';
  return interval ? `${write(value)} (${write(interval.low ?? 0)} to ${write(interval.high ?? 0)})` : write(value);
}

export function quality(one: Quality | undefined): string {
  return one ? withInterval(one.value, one.interval) : '–';
}

export const VERDICTS: Record<string, string> = {
  VERDICT_INLIER: 'inlier',
  VERDICT_OUTLIER: 'outlier',
  VERDICT_UNSURE: 'unsure',
};
