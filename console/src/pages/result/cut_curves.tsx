/** Agreement with the labels at every cut. */
import { useMemo } from 'preact/hooks';
import { LineChart } from '../../ui/charts/line_chart';
import { agreement, type Agreement, type DetectorName, type Labelled } from './cut';

const POINTS = 120;

interface CutCurvesProps {
  detector: DetectorName;
  labelled: Labelled[];
  low: number;
  high: number;
}

export function CutCurves({ detector, labelled, low, high }: CutCurvesProps) {
  const lines = useMemo(() => {
    const cuts = Array.from({ length: POINTS + 1 }, (_, i) => low + ((high - low) * i) / POINTS);
    const found = cuts.map((cut) => ({ cut, said: agreement(labelled, detector, cut) }));
    const points = (name: keyof Agreement) => found.map(({ cut, said }) => ({ x: cut, y: said[name] }));
    return [
      { name: 'kappa', style: 'first', points: points('kappa') },
      { name: 'precision', style: 'second', points: points('precision') },
      { name: 'recall', style: 'third', points: points('recall') },
    ] as const;
  }, [detector, labelled, low, high]);
  return (
    <LineChart
      title="Agreement with the labels over the cut"
      lines={[...lines]}
      x={{ label: 'cut over the score' }}
      y={{ label: 'agreement' }}
      height={200}
    />
  );
}
