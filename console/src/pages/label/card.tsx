/** One question: what is known of the observation, and why it is asked. */
import type { Adjudication, Profile, Verdict } from '../../api/schema';
import { figure } from '../../ui/format';
import { visible } from '../../ui/visible';
import type { Question } from './desk';
import { Display } from './display';
import { Features } from './features';
import { verdictWord } from './words';

export function Card({ question, profile, blind }: { question: Question; profile: Profile | undefined; blind: boolean }) {
  const { assign, takenBack, lost } = question;
  const { explanation, adjudication } = assign;
  const nearby = blind ? [] : (explanation?.nearby ?? []);
  return (
    <article class="question" aria-labelledby="question">
      <h2 id="question">
        Question {assign.query}: <bdi>{visible(assign.observationId ?? '')}</bdi>
      </h2>
      {takenBack && (
        <p class="notice" role="status">
          Asked again: you said {verdictWord(takenBack)}.
        </p>
      )}
      {lost && (
        <p class="notice warning" role="status">
          The time for this question has run out, or others have answered it. Answer all the same: you are told whether it
          still counts.
        </p>
      )}
      {adjudication && (
        <p class="notice" role="status">
          The votes contradict each other{blind ? '' : `: ${votes(adjudication)}`}. Yours decides.
        </p>
      )}
      {explanation?.why && <p class="why">{visible(explanation.why)}</p>}
      <Display fields={assign.display ?? []} />
      <Features assign={assign} profile={profile} />
      {nearby.length > 0 && (
        <section aria-labelledby="nearby">
          <h2 id="nearby">Nearest labelled rows</h2>
          <table>
            <thead>
              <tr>
                <th scope="col">Observation</th>
                <th scope="col">Label</th>
                <th scope="col" class="number">
                  Distance
                </th>
              </tr>
            </thead>
            <tbody>
              {nearby.map((one) => (
                <tr key={one.observationId}>
                  <th scope="row">
                    <bdi>{visible(one.observationId ?? '')}</bdi>
                  </th>
                  <td>
                    <VerdictMark verdict={one.verdict} />
                  </td>
                  <td class="number">{figure(Math.sqrt(one.distance2 ?? 0), 3)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </article>
  );
}

function votes({ inlierVotes = 0, outlierVotes = 0, unsureVotes = 0 }: Adjudication): string {
  const parts = [`${inlierVotes} inlier`, `${outlierVotes} outlier`, ...(unsureVotes ? [`${unsureVotes} unsure`] : [])];
  return parts.join(', ');
}

function VerdictMark({ verdict }: { verdict: Verdict | undefined }) {
  const word = verdictWord(verdict);
  return <span class={`verdict ${word}`}>{word}</span>;
}
