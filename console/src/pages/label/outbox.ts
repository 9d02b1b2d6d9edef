/** What a labeler has said and the service has not acknowledged; it outlives the page. */
import { signal } from '@preact/signals';
import type { Item } from './item';

const PREFIX = 'svddtune.unsent/';

/** The items of one labeler in their order. Each has an entry of its own in the browser's store, so that
 * two tabs do not overwrite what the other one keeps. */
export class Outbox {
  readonly items = signal<readonly Item[]>([]);
  private readonly keys = new Map<string, string>();
  private last = 0;
  private readonly prefix: string;

  constructor(labeler: string) {
    this.prefix = `${PREFIX}${labeler}/`;
    this.items.value = this.load();
  }

  add(item: Item): void {
    // (A clock that was put back does not change the order.)
    this.last = Math.max(this.last + 1, Date.now());
    const key = `${this.prefix}${String(this.last).padStart(15, '0')}/${item.id}`;
    this.keys.set(item.id, key);
    try {
      localStorage.setItem(key, JSON.stringify(item));
    } catch {
      // The browser keeps nothing for this page: the item lives as long as the page.
    }
    this.items.value = [...this.items.value, item];
  }

  remove(item: Item): void {
    const key = this.keys.get(item.id);
    if (key) localStorage.removeItem(key);
    this.items.value = this.items.value.filter((one) => one.id !== item.id);
  }

  private load(): Item[] {
    const found = Object.keys(localStorage)
      .filter((key) => key.startsWith(this.prefix))
      .sort();
    return found.flatMap((key) => {
      try {
        const item = JSON.parse(localStorage.getItem(key) ?? '') as Item;
        this.keys.set(item.id, key);
        this.last = Math.max(this.last, Number(key.slice(this.prefix.length).split('/')[0]));
        return [item];
      } catch {
        localStorage.removeItem(key);
        return [];
      }
    });
  }
}
