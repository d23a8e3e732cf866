// Unpacks an address map, as geolookup/pictures/packing.py packs it.

// Returns the bytes of a stream of raw deflate in base64.
async function inflated(text) {
  const packed = atob(text);
  const bytes = new Uint8Array(packed.length);
  for (let at = 0; at < packed.length; at += 1) bytes[at] = packed.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Returns a column of numbers: a symbol each; symbol 0 stands for the next of the rest.
async function unpackNumbers(json) {
  const [symbols, planes] = await Promise.all([inflated(json.symbols), inflated(json.rest)]);
  const values = Float64Array.of(0, ...json.common);
  const escaped = symbols.reduce((sum, symbol) => sum + (symbol === 0), 0);
  const width = escaped ? planes.length / escaped : 0;
  const numbers = new Float64Array(json.count);
  let next = 0;
  for (let at = 0; at < json.count; at += 1) {
    const symbol = symbols[at];
    if (symbol) {
      numbers[at] = values[symbol];
      continue;
    }
    // Multiplied, not shifted: a length may have more than 32 bits.
    for (let plane = width - 1; plane >= 0; plane -= 1) {
      numbers[at] = numbers[at] * 256 + planes[plane * escaped + next];
    }
    next += 1;
  }
  return numbers;
}

// Returns the first cell of each range.
function startsOf(lengths) {
  const starts = new Float64Array(lengths.length + 1);
  for (let at = 0; at < lengths.length; at += 1) starts[at + 1] = starts[at] + lengths[at];
  return starts;
}

// Returns a value for each range; bit `number` of `changed` marks where the next one begins.
function spreadValues(values, changed, number, ranges) {
  const spread = new Uint32Array(ranges);
  const plane = Math.floor(number / 8) * ranges;
  const bit = 1 << number % 8;
  let at = -1;
  for (let range = 0; range < ranges; range += 1) {
    if (changed[plane + range] & bit) at += 1;
    spread[range] = values[at];
  }
  return spread;
}

async function unpackView(view, number, changed, ranges) {
  const labels = new TextDecoder().decode(await inflated(view.labels)).split("\n");
  const { name, title, note, colours } = view;
  const values = view.values
    && spreadValues(await unpackNumbers(view.values), changed, number, ranges);
  return { name, title, note, labels, colours, values };
}

// Returns {family, order, cellBits, blockBits, blocks, starts, views}: blocks are BigInt, starts
// the ascending first cells of the ranges, and each view has labels and a value for each range.
async function unpackMap(json) {
  const [changed, lengths] = await Promise.all([inflated(json.changed), unpackNumbers(json.lengths)]);
  const starts = startsOf(lengths);
  const views = await Promise.all(
    json.views.map((view, number) => unpackView(view, number, changed, starts.length)),
  );
  json.views.forEach((view, number) => {
    if (view.values) return;
    const { values } = views[view.follows];
    views[number].values = values.map((value) => view.table[value]);
  });
  const { family, order, cellBits, blockBits } = json;
  const blocks = json.blocks.map((block) => BigInt(`0x${block}`));
  return { family, order, cellBits, blockBits, blocks, starts, views };
}
