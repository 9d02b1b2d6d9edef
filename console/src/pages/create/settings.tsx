/** The settings of the new session, with what is proposed. */
import type { SessionConfig } from '../../api/schema';

export interface Settings {
  name: string;
  budget: number;
  scaling: string;
  metric: string;
  overlap: number;
  strategy: string;
  /** Names of labelers, as they were typed. */
  adjudicators: string;
  tags: string;
  /** A local date and time; empty for none. */
  due: string;
  /** The known labels do not start the session, but check its labelers. */
  controls: boolean;
}

export const PROPOSED: Settings = {
  name: '',
  budget: 50,
  scaling: 'AUTO',
  metric: 'KAPPA',
  overlap: 1,
  strategy: 'MIXED',
  adjudicators: '',
  tags: '',
  due: '',
  controls: false,
};
const NEW_LABELS = 50;
const SCALINGS: [string, string][] = [
  ['AUTO', 'Let the labels choose (recommended)'],
  ['MINMAX', 'Smallest to largest value'],
  ['STANDARD', 'Mean and standard deviation'],
  ['ROBUST', 'Median and quartiles'],
  ['RANKS', 'Ranks'],
  ['NORMAL', 'Ranks as a normal distribution'],
  ['WHITENED', 'Principal components, whitened'],
  ['ASINH', 'Inverse hyperbolic sine, for long tails'],
  ['NONE', 'As they are: the columns are comparable'],
];
const METRICS: [string, string][] = [
  ['KAPPA', "Cohen's kappa"],
  ['MCC', 'Matthews correlation'],
  ['F1', 'F1 of the outliers'],
  ['BALANCED_ACCURACY', 'Balanced accuracy'],
];
const STRATEGIES: [string, string][] = [
  ['MIXED', 'Mixed (recommended)'],
  ['KNOWLEDGE_GRADIENT', 'Knowledge gradient'],
  ['DISAGREEMENT', 'Disagreement of the cells'],
  ['LAMA', 'LAMA'],
  ['RANDOM', 'Random rows'],
];

/** The number of labels proposed for a file: fifty beyond those that are known, or all rows. */
export function proposedBudget(rows: number, known: number): number {
  return Math.min(rows, NEW_LABELS + known);
}

export function configOf(settings: Settings): SessionConfig {
  return {
    budget: settings.budget,
    metric: `METRIC_${settings.metric}`,
    overlap: settings.overlap,
    strategy: `QUERY_STRATEGY_${settings.strategy}`,
    adjudicators: settings.overlap > 1 ? names(settings.adjudicators) : [],
    requiredTags: names(settings.tags),
    ...(settings.due ? { dueSeconds: Math.max(1, Math.round((Date.parse(settings.due) - Date.now()) / 1000)) } : {}),
  } as SessionConfig;
}

function names(typed: string): string[] {
  return typed.split(/[\s,;]+/).filter(Boolean);
}

interface SettingsFormProps {
  settings: Settings;
  rows: number;
  /** Labels are known. */
  labelled: boolean;
  /** What decides about the dataset cannot be changed once it is stored. */
  stored: boolean;
  change: (part: Partial<Settings>) => void;
}

export function SettingsForm({ settings, rows, labelled, stored, change }: SettingsFormProps) {
  const choice = (title: string, key: 'scaling' | 'metric' | 'strategy', options: [string, string][]) => (
    <label>
      {title}
      <select
        value={settings[key]}
        disabled={stored && key === 'scaling'}
        onChange={(event) => change({ [key]: event.currentTarget.value })}
      >
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
  const number = (title: string, key: 'budget' | 'overlap', most: number, hint: string) => (
    <label>
      {title}
      <input
        type="number"
        min={1}
        max={most}
        required
        value={settings[key]}
        onInput={(event) => change({ [key]: event.currentTarget.valueAsNumber })}
      />
      <span class="hint">{hint}</span>
    </label>
  );
  const text = (title: string, key: 'adjudicators' | 'tags', hint: string) => (
    <label>
      {title}
      <input type="text" value={settings[key]} onInput={(event) => change({ [key]: event.currentTarget.value })} />
      <span class="hint">{hint}</span>
    </label>
  );
  return (
    <div class="settings">
      <label>
        Name of the session
        <input
          type="text"
          maxLength={128}
          value={settings.name}
          onInput={(event) => change({ name: event.currentTarget.value })}
        />
      </label>
      {number('Labels to ask for', 'budget', rows, 'You can stop earlier, and change it later.')}
      {choice('Scaling of the columns', 'scaling', SCALINGS)}
      <details>
        <summary>More settings</summary>
        {choice('Score', 'metric', METRICS)}
        {number('Answers sought for each row', 'overlap', 10, 'More than one needs several labelers.')}
        {settings.overlap > 1 &&
          text('Adjudicators', 'adjudicators', 'Names of labelers who decide where the answers contradict.')}
        {text('Tags that labelers need', 'tags', 'A skill or a language, e.g. german. Others are not asked.')}
        <label>
          Due
          <input
            type="datetime-local"
            value={settings.due}
            onInput={(event) => change({ due: event.currentTarget.value })}
          />
          <span class="hint">What is due first is asked first. Nothing ends when it is over.</span>
        </label>
        {labelled && (
          <label>
            <input
              type="checkbox"
              checked={settings.controls}
              onChange={(event) => change({ controls: event.currentTarget.checked })}
            />{' '}
            Check labelers by the known labels
            <span class="hint">They are asked like other rows, and the session starts without labels.</span>
          </label>
        )}
        {choice('How the next row is chosen', 'strategy', STRATEGIES)}
      </details>
    </div>
  );
}
