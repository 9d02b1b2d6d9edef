/** Words for what labelers say, and for why no question comes. */
import type { FinishReason, Session, Verdict } from '../../api/schema';
import { percent } from '../../ui/format';

/** "inlier" for VERDICT_INLIER. */
export function verdictWord(verdict: Verdict | undefined): string {
  return (verdict ?? '').replace('VERDICT_', '').toLowerCase();
}

/** How sure a labeler can say to be, by key; without a figure the session's own trust holds. */
export const CONFIDENCES = [
  { key: '1', word: 'leaning', confidence: 0.6 },
  { key: '2', word: 'probably', confidence: 0.75 },
  { key: '3', word: 'sure', confidence: undefined },
] as const;

/** The choice at each new question. */
export const SURE = CONFIDENCES[2];

/** What the keys do; the help shows it. */
export const KEYS: readonly (readonly [string, string, string])[] = [
  ['I', 'inlier', 'Normal: it belongs to the bulk of the data.'],
  ['O', 'outlier', 'Not normal: it stands apart from the data.'],
  ['U', 'unsure', 'You looked and cannot tell. You are not asked about it again.'],
  ['1 2 3', 'how sure', 'Leaning counts as right with probability 0.6, probably with 0.75; sure is the default.'],
  ['S', 'skip', 'Later, to other labelers, or for good; S S skips for later.'],
  ['Z', 'undo', 'Takes your last answer back and asks again; again to go further back. Backspace does the same.'],
  ['?', 'help', 'Shows this list.'],
];

const FINISHED: Partial<Record<FinishReason, string>> = {
  FINISH_REASON_BUDGET_SPENT: 'The budget of labels is spent.',
  FINISH_REASON_POOL_EXHAUSTED: 'There is nothing left to ask about.',
  FINISH_REASON_STOP_RULE: 'Further labels are not worth their price, so the session has stopped asking.',
  FINISH_REASON_FINISHED: 'The session was finished.',
  FINISH_REASON_CANCELLED: 'The session was cancelled.',
  FINISH_REASON_FAILED: 'The session has failed.',
  FINISH_REASON_LABELER_WITHDRAWN: 'Your labels were withdrawn from this session, so it asks you nothing more.',
  FINISH_REASON_TAGS_MISSING: 'This session asks only labelers with certain tags.',
  FINISH_REASON_DELETED: 'The session was deleted.',
};

/** Why a session asks no further questions. */
export function finished(reason: FinishReason): string {
  return FINISHED[reason] ?? 'The session asks no further questions.';
}

/** Why there is no question now, and what has to happen. */
export function waiting(session: Session | undefined): string {
  if (!session) return 'No session has a question for you now. The next one is shown when it comes.';
  const { stall, state } = session;
  if (stall === 'STALL_REASON_NO_WORKERS') {
    return 'No worker is running, so no question is chosen. It goes on once whoever runs the service starts one with: svddtune worker';
  }
  if (stall === 'STALL_REASON_AWAITING_VOTES') {
    return 'What is left needs the votes of other labelers. Let another person label, or finish the session.';
  }
  if (stall === 'STALL_REASON_AWAITING_ADJUDICATION') {
    const decide = session.config?.adjudicators ?? [];
    return `What is left are observations whose votes contradict each other. ${decide.join(' or ')} has to decide them.`;
  }
  if (state === 'SESSION_STATE_PREPARING') {
    const share = session.atlasProgress ? ` (${percent(session.atlasProgress)})` : '';
    return `The data are being prepared${share}; the first question follows.`;
  }
  if (state === 'SESSION_STATE_PAUSED') return 'The session is paused. Questions come once somebody resumes it.';
  if (state === 'SESSION_STATE_ESTIMATING') return 'There are no more questions; the result is being computed.';
  const left = (session.config?.budget ?? 0) - (session.counts?.total ?? 0);
  const open = session.leasedCount ?? 0;
  if (left > 0 && left <= open) return `All ${open} questions that are left are with other labelers.`;
  return 'The next question is being chosen.';
}
