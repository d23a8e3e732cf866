// The Hilbert curve as geolookup/pictures/map_picture.py has it: cell 0 top left, the last cell top
// right. Cells are numbers up to 2^53, so no 32-bit operator touches them.
//
// The quarters of a square lie as the three tables say. A quarter's own curve is turned: bit 0 of
// a turn swaps columns and rows, bit 1 turns by 180 degrees. Turns of turns are their XOR.

const QUARTER_COLUMNS = [0, 0, 1, 1];
const QUARTER_ROWS = [0, 1, 1, 0];
const QUARTER_TURNS = [1, 0, 0, 3];

function quarterColumn(quarter, turn) {
  return (turn & 1 ? QUARTER_ROWS : QUARTER_COLUMNS)[quarter] ^ (turn >> 1);
}

function quarterRow(quarter, turn) {
  return (turn & 1 ? QUARTER_COLUMNS : QUARTER_ROWS)[quarter] ^ (turn >> 1);
}

// The column and row of a cell on the curve with 2^order cells a side.
function curvePoint(cell, order) {
  const point = { column: 0, row: 0 };
  let turn = 0;
  for (let level = order - 1; level >= 0; level--) {
    const quarter = Math.floor(cell / 4 ** level) % 4;
    point.column = point.column * 2 + quarterColumn(quarter, turn);
    point.row = point.row * 2 + quarterRow(quarter, turn);
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
