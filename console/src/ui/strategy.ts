/** What a session's strategy means for its figures. */
import type { Session } from '../api/schema';

/** Whether gamma and C are chosen jointly on an atlas. LAMA and random choose C at the end. */
export function hasAtlas({ config }: Session): boolean {
  return !/LAMA|RANDOM/.test(config?.strategy ?? '') || Boolean(config?.ownStrategy);
}
