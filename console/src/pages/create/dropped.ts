/** The file that was dropped on another page, until the page Create takes it. */
import { signal } from '@preact/signals';
import { go } from '../../shell/route';

export const dropped = signal<File | undefined>(undefined);

/** Open the page Create with a file. */
export function createFrom(file: File): void {
  dropped.value = file;
  go('create');
}
