// The Hilbert curve, and the ranges of addresses that lie on it. A cell is a number up to 2^53, a
// column or row one up to 2^31. Cell 0 is top left, the last cell top right.
//
// Source: Warren, Hacker's Delight, 2nd edition, chapter 16.

// Turn a place within a quarter of `side` cells a side to the place on the quarter's own curve.
function turned(column, row, side, right, down) {
  if (down) return [column, row];
  return right ? [side - 1 - row, side - 1 - column] : [row, column];
}

// The column and row of a cell.
function curvePoint(cell, order) {
  let [column, row] = [0, 0];
  for (let side = 1; side < 2 ** order; side *= 2) {
    const quarter = cell % 4;
    const right = quarter >> 1;
    const down = (quarter ^ right) & 1;
    [column, row] = turned(column, row, side, right, down);
    column += side * right;
    row += side * down;
    cell = Math.floor(cell / 4);
  }
  return [column, row];
}

// The cell at a column and row.
function curveCell(column, row, order) {
  let cell = 0;
  for (let side = 2 ** (order - 1); side >= 1; side /= 2) {
    const [right, down] = [column & side, row & side].map(Boolean);
    cell = cell * 4 + ((3 * right) ^ down);
    [column, row] = turned(column & (side - 1), row & (side - 1), side, right, down);
  }
  return cell;
}

// The rectangle of an aligned run of 2^bits cells: one square, or two side by side.
function curveRectangle(first, bits, order) {
  const level = Math.floor(bits / 2);
  const side = 2 ** level;
  const [column, row] = curvePoint(first / 4 ** level, order - level);
  const [nextColumn, nextRow] = curvePoint(first / 4 ** level + (bits % 2), order - level);
  return {
    left: Math.min(column, nextColumn) * side,
    top: Math.min(row, nextRow) * side,
    width: (Math.abs(column - nextColumn) + 1) * side,
    height: (Math.abs(row - nextRow) + 1) * side,
  };
}

// Bytes and numbers as texts: the inverse of geolookup/pictures/range_table.py.
async function inflated(text) {
  if (!text) return new Uint8Array(0);
  const packed = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Returns `count` numbers from 0, stored as planes of as many bytes as the largest one takes.
async function unpackNumbers(text, count) {
  const planes = await inflated(text);
  const numbers = new Float64Array(count);
  for (let start = 0, worth = 1; start < planes.length; start += count, worth *= 256) {
    for (let at = 0; at < count; at++) numbers[at] += worth * planes[start + at];
  }
  return numbers;
}

// Blocks of addresses lie on the curve one after the other. A run of 2^bits cells, aligned and
// within a block, is a prefix: {first, bits}. The table's cells are runs of 2^`bits` cells.
class AddressRanges {
  static async unpack(data) {
    const lengths = await unpackNumbers(data.lengths, data.ranges - 1);
    const views = await Promise.all(data.views.map(async ({ values, labels }) => ({
      labels: new TextDecoder().decode(await inflated(labels)).split("\n"),
      values: await unpackNumbers(values, data.ranges),
    })));
    const steps = await unpackNumbers(data.blocks, data.block_count);
    return new AddressRanges(data, steps, lengths, views);
  }

  constructor({ family, order, cell_bits, block_bits, range_bits }, steps, lengths, views) {
    const bits = range_bits - cell_bits; // of cells
    Object.assign(this, { family, order, cellBits: cell_bits, bits, views, side: 2 ** order });
    this.blockBits = block_bits - cell_bits;
    let number = 0; // each step leads from a block to the next one
    this.blocks = Array.from(steps, (step) => BigInt((number += step)) << BigInt(block_bits));
    this.covered = steps.length * 2 ** this.blockBits;
    // Range k is from starts[k] to before starts[k + 1].
    this.starts = new Float64Array(lengths.length + 2).fill(this.covered, -1);
    lengths.forEach((length, at) => (this.starts[at + 1] = this.starts[at] + length * 2 ** bits));
  }

  // The position of the range that holds a cell.
  find(cell) {
    let [low, high] = [0, this.starts.length - 2];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.starts[middle] <= cell) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  // The largest prefix around a place within its range and block, and the position of the range;
  // null after the last block.
  prefixAround(column, row) {
    const cell = curveCell(Math.floor(column), Math.floor(row), this.order);
    if (cell >= this.covered) return null;
    const position = this.find(cell);
    let prefix;
    for (let bits = this.bits; bits <= this.blockBits; bits++) {
      const first = cell - (cell % 2 ** bits);
      const inside = first >= this.starts[position] && first + 2 ** bits <= this.starts[position + 1];
      if (prefix && !inside) break;
      prefix = { first, bits, position };
    }
    return prefix;
  }

  address(cell) {
    const within = cell % 2 ** this.blockBits;
    return this.blocks[(cell - within) / 2 ** this.blockBits] + (BigInt(within) << BigInt(this.cellBits));
  }

  length(bits) {
    return ADDRESS_BITS[this.family] - this.cellBits - bits;
  }

  prefixText({ first, bits }) {
    return `${addressText(this.family, this.address(first))}/${this.length(bits)}`;
  }

  // The cells of a parsed prefix; null without one, or if the map does not have all of it.
  prefixOf(prefix) {
    if (prefix?.family !== this.family) return null;
    const bits = Math.max(0, this.length(0) - prefix.length);
    const block = this.blocks.findLastIndex((first) => first <= prefix.address);
    const within = Number((prefix.address - (this.blocks[block] ?? 0n)) >> BigInt(this.cellBits));
    if (block < 0 || bits > this.blockBits || within >= 2 ** this.blockBits) return null;
    return { first: block * 2 ** this.blockBits + within, bits };
  }
}
