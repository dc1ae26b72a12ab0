/** Heights holds where the rows of a long list lie: most have the usual height, those that were measured have their own. */
export class Heights {
  private measured = new Map<string, number>();
  private tops = new Float64Array(1);
  private keys: string[] = [];

  constructor(private usual: number) {}

  /** rows sets the rows of the list; what was measured of a row stays. */
  rows(keys: string[], usual = this.usual): void {
    this.usual = usual;
    this.keys = keys;
    if (this.tops.length < keys.length + 1) this.tops = new Float64Array(Math.max(keys.length + 1, this.tops.length * 2));
    let top = 0;
    for (let i = 0; i < keys.length; i++) {
      this.tops[i] = top;
      top += this.measured.get(keys[i]!) ?? usual;
    }
    this.tops[keys.length] = top;
  }

  /** measure notes the height of a row, and reports whether it is another one than before. */
  measure(key: string, height: number): boolean {
    const before = this.measured.get(key) ?? this.usual;
    if (Math.abs(before - height) < 0.5) return false;
    if (Math.abs(this.usual - height) < 0.5) this.measured.delete(key);
    else this.measured.set(key, height);
    return true;
  }

  forget(): void {
    this.measured.clear();
  }

  top(index: number): number {
    return this.tops[Math.max(0, Math.min(index, this.keys.length))] ?? 0;
  }

  get total(): number {
    return this.tops[this.keys.length] ?? 0;
  }

  /** at is the row at a distance from the top. */
  at(y: number): number {
    let low = 0;
    let high = this.keys.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.tops[middle] ?? 0) <= y) low = middle;
      else high = middle - 1;
    }
    return Math.max(0, low);
  }

  /** visible are the first row and the row after the last one of a part of the list, with some rows around it. */
  visible(y: number, height: number, around = 6, most = 60): [number, number] {
    const first = Math.max(0, this.at(y) - around);
    const last = Math.min(this.keys.length, this.at(y + height) + 1 + around);
    return [first, Math.min(last, first + most)];
  }
}
