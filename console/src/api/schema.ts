/** The messages of the service, by the names they have in the contract. */
import type { components } from './openapi.gen';

type Schemas = components['schemas'];

export type Assign = Schemas['Assign'];
export type Ack = Schemas['Ack'];
export type Comparison = Schemas['Comparison'];
export type Dataset = Schemas['Dataset'];
export type DisplayField = Schemas['DisplayField'];
export type FeatureProfile = Schemas['FeatureProfile'];
export type FinishReason = Schemas['FinishReason'];
export type LabelCounts = Schemas['LabelCounts'];
export type LabelEvent = Schemas['LabelEvent'];
export type LabelerReport = Schemas['LabelerReport'];
export type LeaseResponse = Schemas['LeaseResponse'];
export type LiveEvidence = Schemas['LiveEvidence'];
export type Load = Schemas['GetLoadResponse'];
export type Profile = Schemas['GetProfileResponse'];
export type Quality = Schemas['Quality'];
export type ServerInfo = Schemas['GetServerInfoResponse'];
export type Session = Schemas['Session'];
export type SessionConfig = Schemas['SessionConfig'];
export type SkipMode = Schemas['SkipMode'];
export type TuningResult = Schemas['TuningResult'];
export type Verdict = Schemas['Verdict'];
