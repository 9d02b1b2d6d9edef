/** The messages of the service, by the names they have in the contract. */
import type { components } from './openapi.gen';

type Schemas = components['schemas'];

export type Ack = Schemas['Ack'];
export type Assign = Schemas['Assign'];
export type Comparison = Schemas['Comparison'];
export type Dataset = Schemas['Dataset'];
export type Detector = Schemas['Detector'];
export type DetectorComparison = Schemas['DetectorComparison'];
export type DisplayField = Schemas['DisplayField'];
export type FeatureProfile = Schemas['FeatureProfile'];
export type FinishReason = Schemas['FinishReason'];
export type Interval = Schemas['Interval'];
export type AtlasLayer = Schemas['AtlasLayer'];
export type HistoryPoint = Schemas['HistoryPoint'];
export type LabelCounts = Schemas['LabelCounts'];
export type LabelerReport = Schemas['LabelerReport'];
export type LabelEvent = Schemas['LabelEvent'];
export type LeaseResponse = Schemas['LeaseResponse'];
export type ListLabelsResponse = Schemas['ListLabelsResponse'];
export type ListObservationsResponse = Schemas['ListObservationsResponse'];
export type ListResultsResponse = Schemas['ListResultsResponse'];
export type LiveEvidence = Schemas['LiveEvidence'];
export type Load = Schemas['GetLoadResponse'];
export type Observation = Schemas['Observation'];
export type Profile = Schemas['GetProfileResponse'];
export type Quality = Schemas['Quality'];
export type RowScore = Schemas['RowScore'];
export type ScoreResponse = Schemas['ScoreResponse'];
export type ServerInfo = Schemas['GetServerInfoResponse'];
export type Session = Schemas['Session'];
export type SessionConfig = Schemas['SessionConfig'];
export type SkipMode = Schemas['SkipMode'];
export type TuningResult = Schemas['TuningResult'];
export type UnusualFeature = Schemas['UnusualFeature'];
export type SessionMap = Schemas['GetMapResponse'];
export type Verdict = Schemas['Verdict'];
