// The curve, and the ranges that lie on it. A cell is a number up to 2^53, so no 32-bit operator
// touches it. Cell 0 is top left, the last cell top right, as geolookup/pictures/layers.py has it.
//
// The quarters of a square lie as the three tables say. A quarter's own curve is turned: bit 0 of
// a turn swaps columns and rows, bit 1 turns by 180 degrees. Turns of turns are their XOR.

const QUARTER_COLUMNS = [0, 0, 1, 1];
const QUARTER_ROWS = [0, 1, 1, 0];
const QUARTER_TURNS = [1, 0, 0, 3];

// The column and row of a cell on the curve with 2^order cells a side.
function curvePoint(cell, order) {
  const point = { column: 0, row: 0 };
  let turn = 0;
  for (let level = order - 1; level >= 0; level--) {
    const quarter = Math.floor(cell / 4 ** level) % 4;
    const [columns, rows] = turn & 1 ? [QUARTER_ROWS, QUARTER_COLUMNS] : [QUARTER_COLUMNS, QUARTER_ROWS];
    point.column = point.column * 2 + (columns[quarter] ^ (turn >> 1));
    point.row = point.row * 2 + (rows[quarter] ^ (turn >> 1));
    turn ^= QUARTER_TURNS[quarter];
  }
  return point;
}

// The cell at a column and row; the inverse of curvePoint.
function curveCell(column, row, order) {
  let cell = 0;
  let turn = 0;
  for (let level = order - 1; level >= 0; level--) {
    const right = Math.floor(column / 2 ** level) % 2 ^ (turn >> 1);
    const down = Math.floor(row / 2 ** level) % 2 ^ (turn >> 1);
    const [ownRight, ownDown] = turn & 1 ? [down, right] : [right, down];
    const quarter = ownRight ? 3 - ownDown : ownDown;
    cell = cell * 4 + quarter;
    turn ^= QUARTER_TURNS[quarter];
  }
  return cell;
}

// The rectangle of an aligned run of 2^bits cells: one square, or two side by side.
function curveRectangle(first, bits, order) {
  const level = Math.floor(bits / 2);
  const side = 2 ** level;
  const start = curvePoint(first / 4 ** level, order - level);
  const end = bits % 2 ? curvePoint(first / 4 ** level + 1, order - level) : start;
  return {
    left: Math.min(start.column, end.column) * side,
    top: Math.min(start.row, end.row) * side,
    width: (Math.abs(start.column - end.column) + 1) * side,
    height: (Math.abs(start.row - end.row) + 1) * side,
  };
}

// Ranges of cells, and the addresses and prefixes of cells. Blocks of addresses lie on the curve
// one after the other. A run of 2^bits cells, aligned and within a block, is a prefix: {first, bits}.
class AddressRanges {
  static async unpack(data) {
    const [lengths, ...views] = await Promise.all([
      unpackNumbers(data.lengths, data.ranges - 1),
      ...data.views.map(async ({ values, labels, ...view }) => ({
        ...view,
        labels: new TextDecoder().decode(await inflated(labels)).split("\n"),
        values: await unpackNumbers(values, data.ranges),
      })),
    ]);
    return new AddressRanges(data, lengths, views);
  }

  constructor({ family, order, cellBits, blockBits, blocks, bits }, lengths, views) {
    Object.assign(this, { family, order, cellBits, bits, views });
    this.side = 2 ** order;
    this.addressBits = family === 4 ? 32 : 128;
    this.blockBits = blockBits - cellBits; // of cells
    this.blocks = blocks.map((block) => BigInt(`0x${block}`));
    this.positions = new Map(this.blocks.map((block, position) => [block >> BigInt(blockBits), position]));
    this.starts = new Float64Array(lengths.length + 1);
    lengths.forEach((length, at) => (this.starts[at + 1] = this.starts[at] + length * 2 ** bits));
    this.covered = blocks.length * 2 ** this.blockBits;
  }

  // The position of the range that holds a cell.
  find(cell) {
    let [low, high] = [0, this.starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.starts[middle] <= cell) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  end(position) {
    return this.starts[position + 1] ?? this.covered;
  }

  // The largest prefix around a cell within its range and block.
  prefixAround(cell) {
    const position = this.find(cell);
    const [start, end] = [this.starts[position], this.end(position)];
    let prefix = { first: cell - (cell % 2 ** this.bits), bits: this.bits };
    for (let bits = this.bits + 1; bits <= this.blockBits; bits++) {
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

  // Calls `visit(start, end)` for each range with a label.
  each({ values }, label, visit) {
    values.forEach((value, position) => {
      if (value === label) visit(this.starts[position], this.end(position));
    });
  }
}
