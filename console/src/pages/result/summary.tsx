/** What was chosen, how good it is, and what could not be judged. */
import type { TuningResult } from '../../api/schema';
import { ago, figure, percent, wordOf } from '../../ui/format';
import { between } from './words';

export function Summary({ result }: { result: TuningResult }) {
  const { quality, audit, outlierShare, manifest } = result;
  const metric = wordOf(quality?.metric, 'METRIC_').replace('cohen ', '');
  const share = outlierShare?.interval;
  return (
    <section class="card" aria-labelledby="chosen">
      <h2 id="chosen">What was chosen</h2>
      <dl class="figures">
        <Figure name="Gamma" text={figure(result.gamma)} />
        <Figure name="C" text={figure(result.c)} />
        <Figure name="Nu" text={figure(result.nu)} />
        <Figure name="Representation" text={wordOf(result.scaling, 'SCALING_KIND_')} />
        <Figure name="Rows outside" text={(result.outsideCount ?? 0).toLocaleString('en')} />
        <Figure name="Support vectors" text={(result.supportVectorCount ?? 0).toLocaleString('en')} />
        <Figure name={`${capital(metric)} on the labels`} text={figure(quality?.value, 2)} more={between(quality?.interval)} />
        {audit && <Figure name={`${capital(metric)} on the audit`} text={figure(audit.value, 2)} more={between(audit.interval)} />}
        {outlierShare && (
          <Figure
            name="Outliers among all rows"
            text={percent(outlierShare.value ?? 0)}
            more={share ? `${percent(share.low ?? 0)} to ${percent(share.high ?? 0)}` : ''}
          />
        )}
      </dl>
      <p class="hint">
        {audit && 'The score on the audit is unbiased: its rows were drawn at random and kept out of tuning. '}
        From {(manifest?.labeledRows ?? []).length} labels, {ago(result.createTime)}.
      </p>
      {result.notes?.map((note) => (
        <p key={note} class="notice">
          {note}
        </p>
      ))}
    </section>
  );
}

function Figure({ name, text, more }: { name: string; text: string; more?: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {text}
        {more && <span class="hint"> {more}</span>}
      </dd>
    </div>
  );
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
