// What lies in the cells of an unpacked map: ranges of cells, the addresses and prefixes of cells.
//
// Blocks of addresses lie on the curve one after the other. A run of 2^bits cells, aligned and
// within a block, is a prefix: {first, bits}.

class AddressRanges {
  constructor({ family, order, cellBits, blockBits, blocks, starts }) {
    Object.assign(this, { family, order, cellBits, blocks, starts });
    this.side = 2 ** order;
    this.addressBits = family === 4 ? 32 : 128;
    this.blockBits = blockBits - cellBits; // of cells
    this.covered = blocks.length * 2 ** this.blockBits;
    this.positions = new Map(blocks.map((block, position) => [block >> BigInt(blockBits), position]));
  }

  // The position of the range that holds a cell, between two positions that hold or enclose it.
  find(cell, low = 0, high = this.starts.length - 1) {
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.starts[middle] <= cell) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  end(position) {
    return Math.min(this.starts[position + 1] ?? this.covered, this.covered);
  }

  // The largest prefix around a cell within its range and block.
  prefixAround(cell) {
    const position = this.find(cell);
    const [start, end] = [this.starts[position], this.end(position)];
    let prefix = { first: cell, bits: 0 };
    for (let bits = 1; bits <= this.blockBits; bits++) {
      const first = cell - (cell % 2 ** bits);
      if (first < start || first + 2 ** bits > end) break;
      prefix = { first, bits };
    }
    return prefix;
  }

  address(cell) {
    const within = cell % 2 ** this.blockBits;
    const block = this.blocks[(cell - within) / 2 ** this.blockBits];
    return block + (BigInt(within) << BigInt(this.cellBits));
  }

  length(bits) {
    return this.addressBits - this.cellBits - bits;
  }

  prefixText({ first, bits }) {
    return `${addressText(this.family, this.address(first))}/${this.length(bits)}`;
  }

  // The cells of a parsed prefix, or null if the map has no such block or its blocks are smaller.
  prefixOf({ address, length }) {
    const bits = Math.max(0, this.length(0) - length);
    const blockBits = BigInt(this.blockBits + this.cellBits);
    const position = this.positions.get(address >> blockBits);
    if (bits > this.blockBits || position === undefined) return null;
    const within = Number((address & ((1n << blockBits) - 1n)) >> BigInt(this.cellBits));
    return { first: position * 2 ** this.blockBits + within, bits };
  }

  // The number of cells of each label of a view.
  sizes(view) {
    const sizes = new Float64Array(view.labels.length);
    for (let position = 0; position < this.starts.length; position++) {
      sizes[view.values[position]] += Math.max(0, this.end(position) - this.starts[position]);
    }
    return sizes;
  }
}
