/** What each column is for: proposed from its cells, changed by people, judged as the command line does. */
import type { Column } from './column';
import { Refusal } from './refusal';
import { namedLikeId, suspiciousColumns } from './suspicious';
import { columnShown, DISPLAY, observationColumns, placeOf, type Note, type Table } from './table';
import { looksLikeLabels, type LabelColumn } from './verdicts';

export type Role = 'feature' | 'id' | 'display' | 'label' | 'out';

/** A column as the page shows it. */
export interface ColumnView {
  position: number;
  name: string;
  kind: 'numbers' | 'text' | 'nothing';
  samples: string[];
  proposed: Role;
  labels?: LabelColumn;
}

/** What is wrong with a choice of roles, and what is doubtful. */
export interface Judgement {
  features: number;
  notes: Note[];
  refusal?: { reason: string; message: string; column?: number };
}

const SAMPLES = 3;
/** Fields that labelers can be shown. */
const MOST_DISPLAYED = 100;
const DOUBTED: Record<string, Role> = {
  CONSTANT_COLUMN: 'out',
  TIME_COLUMN: 'display',
  CATEGORY_COLUMN: 'display',
};

/** The columns with a role proposed for each. */
export function proposals(table: Table): { columns: ColumnView[]; notes: Note[] } {
  const observation = observationColumns(table);
  let hasId = observation.length > 0;
  let displayed = table.names.filter((name) => name.startsWith(DISPLAY)).length;
  const candidates: number[] = [];
  const columns = table.names.map((name, position): ColumnView => {
    const held = table.columns[position] as Column;
    const kind = kindOf(held);
    const view: ColumnView = { position, name, kind, samples: samplesOf(held), proposed: 'feature' };
    if (observation.includes(position)) view.proposed = position === observation[0] ? 'id' : 'out';
    else if (table.leftOut.has(position)) view.proposed = 'out';
    else if (name.startsWith(DISPLAY)) view.proposed = 'display';
    else if (kind === 'nothing') view.proposed = 'out';
    else {
      const labels = looksLikeLabels(table, position);
      if (labels) {
        view.labels = labels;
        view.proposed = 'out';
      } else if (kind === 'text' || held.fault?.reason === 'DATASET_NOT_EXACT') view.proposed = 'display';
      if (view.proposed === 'feature' && !held.fault) candidates.push(position);
    }
    return view;
  });
  const notes = suspiciousColumns(table, candidates, true);
  for (const note of notes) {
    const view = columns[note.column as number] as ColumnView;
    if (note.reason === 'ID_COLUMN') view.proposed = 'display';
    view.proposed = DOUBTED[note.reason] ?? view.proposed;
  }
  // The first column that names each row is the id.
  for (const view of columns) {
    const doubted = notes.some((note) => note.column === view.position && note.reason === 'ID_COLUMN');
    if (view.proposed !== 'display' || view.name.startsWith(DISPLAY)) continue;
    const like = doubted || (table.hasNames && namedLikeId(view.name));
    if (!hasId && like && namesEachRow(table.columns[view.position] as Column)) {
      view.proposed = 'id';
      hasId = true;
    } else if (doubted) view.proposed = 'out';
    else if (displayed >= MOST_DISPLAYED) view.proposed = 'out';
    else displayed += 1;
  }
  if (!columns.some((view) => view.proposed === 'feature')) {
    // A file of nothing but doubtful numbers: they are what there is.
    for (const position of candidates) (columns[position] as ColumnView).proposed = 'feature';
  }
  return { columns, notes: [...table.notes, ...notes, ...labelNotes(columns)] };
}

/** Judge the roles that are chosen: the notes and the refusal that the command line would have. */
export function judged(table: Table, roles: Role[], scaled: boolean): Judgement {
  const features = positionsOf(roles, 'feature');
  const notes = table.notes.filter((note) => note.column === undefined || roles[note.column] === 'out');
  const usable = features.filter((column) => !(table.columns[column] as Column).fault);
  notes.push(...suspiciousColumns(table, usable, scaled));
  try {
    checkRoles(table, roles);
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    const { reason, message, column } = refusal;
    return { features: features.length, notes, refusal: { reason, message, ...(column !== undefined && { column }) } };
  }
  return { features: features.length, notes };
}

export function positionsOf(roles: Role[], wanted: Role): number[] {
  return roles.flatMap((role, position) => (role === wanted ? [position] : []));
}

function checkRoles(table: Table, roles: Role[]): void {
  const features = positionsOf(roles, 'feature');
  if (!features.length) throw new Refusal('DATASET_EMPTY', `${table.file} has no feature column left`);
  for (const column of features) {
    const { fault } = table.columns[column] as Column;
    if (fault) {
      throw new Refusal(
        fault.reason,
        `${placeOf(table, fault.row)}, ${columnShown(table, column)}: ${fault.text}. ` +
          'Or choose another use for the column',
        column,
      );
    }
  }
  const ids = positionsOf(roles, 'id');
  if (ids.length > 1) throw new Refusal('INVALID_FIELD', 'Only one column can hold the ids', ids[1]);
  if (positionsOf(roles, 'label').length > 1) {
    throw new Refusal('INVALID_FIELD', 'Only one column can hold the known labels', positionsOf(roles, 'label')[1]);
  }
  if (table.rowCount < 2) {
    throw new Refusal('DATASET_EMPTY', `${table.file} has one row; a dataset has at least two`);
  }
}

function labelNotes(columns: ColumnView[]): Note[] {
  return columns
    .filter((view) => view.labels)
    .map((view) => ({
      reason: 'LABEL_COLUMN',
      column: view.position,
      message: 'looks like known labels, so it is no feature',
    }));
}

function kindOf(column: Column): ColumnView['kind'] {
  if (column.blankCount === column.count) return 'nothing';
  return 2 * column.numberCount >= column.count - column.blankCount ? 'numbers' : 'text';
}

function samplesOf(column: Column): string[] {
  const samples = new Set<string>();
  for (const text of column.firstTexts()) {
    if (text.trim()) samples.add(text.trim());
    if (samples.size === SAMPLES) break;
  }
  return [...samples];
}

function namesEachRow(column: Column): boolean {
  const texts = column.texts().map((text) => text.trim());
  return texts.every(Boolean) && new Set(texts).size === texts.length;
}
