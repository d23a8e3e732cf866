// The pixels of a map: the curve's square is divided into quarters until one range holds a square
// or a square has the size of a pixel.
//
// A pixel shows the range of the first cell of its square: the aligned square with the pixel's
// centre whose side is the largest power of two that is not longer than the pixel.

const MUTED_ALPHA = 45;
// The first after special-purpose and unknown.
const FIRST_COLOUR = 2;

// The level of such a square: its side is 2^level cells.
function pixelLevel(mapWindow, size) {
  return Math.max(0, Math.floor(Math.log2(mapWindow.span / size)));
}

// Fill `pixels`, size * size of RGBA as uint32; `colours` belong to labels, `values` are the labels
// of ranges. Cells after the last block stay transparent.
function paintRanges(pixels, size, mapWindow, ranges, values, colours) {
  const { starts, covered, order } = ranges;
  const scale = size / mapWindow.span;
  const least = pixelLevel(mapWindow, size);
  const pixel = (distance) => Math.min(size, Math.max(0, Math.ceil(distance * scale - 0.5)));

  // `low` and `high` are the positions of the ranges with the square's first and last cell.
  function paint(first, level, column, row, turn, low, high) {
    const side = 2 ** level;
    const left = pixel(column - mapWindow.left);
    const right = pixel(column + side - mapWindow.left);
    const top = pixel(row - mapWindow.top);
    const bottom = pixel(row + side - mapWindow.top);
    if (left === right || top === bottom || first >= covered) return;
    const uniform = low === high && first + side * side <= covered;
    if (uniform || level === least) {
      const colour = colours[values[low]];
      for (let y = top * size; y < bottom * size; y += size) {
        for (let at = y + left; at < y + right; at++) pixels[at] = colour; // most squares are a pixel
      }
    } else {
      paintQuarters(first, level - 1, column, row, turn, low, high);
    }
  }

  function paintQuarters(first, level, column, row, turn, low, high) {
    const side = 2 ** level;
    const cells = side * side;
    for (let quarter = 0; quarter < 4; quarter++) {
      const next = first + cells;
      const after = quarter < 3 ? ranges.find(next, low, high) : high;
      const last = quarter < 3 && starts[after] === next ? after - 1 : after;
      paint(
        first, level, column + side * quarterColumn(quarter, turn),
        row + side * quarterRow(quarter, turn), turn ^ QUARTER_TURNS[quarter], low, last,
      );
      first = next;
      low = after;
    }
  }

  pixels.fill(0);
  paint(0, order, 0, 0, 0, 0, starts.length - 1);
}

// The colours of labels as uint32 of the pixels' memory. With a highlighted label the others are
// nearly transparent, and one without a colour of its own gets the first of all labels' colours.
function labelColours({ labels, colours }, highlighted) {
  const own = (label) => colours[Math.min(label, colours.length - 1)];
  const bytes = new Uint8ClampedArray(4 * labels.length);
  labels.forEach((_, label) => {
    const shared = label === highlighted && label >= colours.length - 1;
    const alpha = highlighted === null || label === highlighted ? 255 : MUTED_ALPHA;
    bytes.set([...colourBytes(shared ? colours[FIRST_COLOUR] : own(label)), alpha], 4 * label);
  });
  return new Uint32Array(bytes.buffer);
}

function colourBytes(hex) {
  return [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16));
}
