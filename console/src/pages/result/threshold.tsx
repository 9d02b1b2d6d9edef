/** Moves the cut over the score, and shows what each cut would mean. */
import { figure, percent } from '../../ui/format';
import { agreement, OWN_CUT, type DetectorName, type Labelled } from './cut';
import { CutCurves } from './cut_curves';
import { Spread } from './spread';

const STEPS = 1000;

interface ThresholdProps {
  detector: DetectorName;
  scores: Float64Array;
  labelled: Labelled[];
  cut: number;
  outside: number;
  setCut: (cut: number) => void;
}

export function Threshold({ detector, scores, labelled, cut, outside, setCut }: ThresholdProps) {
  const [low, high] = range(scores, detector);
  const own = OWN_CUT[detector];
  const said = agreement(labelled, detector, cut);
  const step = (high - low) / STEPS;
  const choose = (text: string) => {
    const value = Number(text);
    // A slider has no place for the model's own cut between two of its steps.
    if (text.trim() && Number.isFinite(value)) setCut(Math.abs(value - own) < step / 2 ? own : value);
  };
  return (
    <section class="card threshold" aria-labelledby="threshold">
      <h2 id="threshold">Threshold</h2>
      <Spread {...{ scores, labelled, cut, own, low, high, detector }} />
      <input
        class="cut"
        type="range"
        aria-label="Cut over the score"
        aria-valuetext={`cut ${figure(cut)}: ${outside} rows outside`}
        min={low}
        max={high}
        step={step}
        value={cut}
        onInput={(event) => choose(event.currentTarget.value)}
      />
      <div class="row">
        <label>
          Cut
          <input
            type="number"
            step="any"
            value={Number(cut.toPrecision(6))}
            onChange={(event) => choose(event.currentTarget.value)}
          />
        </label>
        <button type="button" disabled={cut === own} onClick={() => setCut(own)}>
          The model's own cut, {figure(own)}
        </button>
      </div>
      <dl class="figures" aria-live="polite">
        <div>
          <dt>Rows outside</dt>
          <dd data-figure="outside">
            {outside.toLocaleString('en')} ({percent(outside / scores.length)})
          </dd>
        </div>
        <div>
          <dt>Kappa</dt>
          <dd data-figure="kappa">{figure(said.kappa, 2)}</dd>
        </div>
        <div>
          <dt>Precision</dt>
          <dd data-figure="precision">{figure(said.precision, 2)}</dd>
        </div>
        <div>
          <dt>Recall</dt>
          <dd data-figure="recall">{figure(said.recall, 2)}</dd>
        </div>
      </dl>
      <CutCurves {...{ detector, labelled, low, high }} />
      <p class="hint">
        Kappa, precision and recall are those on the {labelled.length} labelled rows. They are no random sample, and
        the model was chosen on them: a cut that is chosen on them too looks better than it is. The downloaded model
        keeps its own cut.
      </p>
    </section>
  );
}

/** The lowest and the highest cut: all scores and the model's own cut lie between them. */
function range(scores: Float64Array, detector: DetectorName): [number, number] {
  if (detector === 'refined') return [0, 1];
  let [low, high] = [0, 0];
  for (const score of scores) {
    low = Math.min(low, score);
    high = Math.max(high, score);
  }
  const room = 0.02 * (high - low || 1);
  return [low - room, high + room];
}
