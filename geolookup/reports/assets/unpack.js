// Unpacks an address map, as geolookup/pictures/packing.py packs it.

// Reads symbols. Each context has a stream of its own.
class SymbolReader {
  constructor(streams) {
    this.streams = streams;
    this.places = new Float64Array(streams.length);
  }

  next(context) {
    const place = this.places[context];
    this.places[context] = place + 1;
    return this.streams[context][place];
  }
}

// Reads numbers: some symbols repeat an earlier number, some stand for a common one, and symbol 0
// stands for the next of the rest.
class NumberReader {
  constructor({ back, common }, symbols, rest) {
    Object.assign(this, { back, symbols, rest });
    this.values = Float64Array.from(common);
    this.earlier = new Float64Array(back + 1);
    this.symbol = 0;
    this.restAt = 0;
  }

  next(context) {
    this.symbol = this.symbols.next(context);
    const number = this.number(this.symbol);
    if (this.back) {
      this.earlier.copyWithin(1, 0);
      this.earlier[0] = number;
    }
    return number;
  }

  number(symbol) {
    if (symbol > this.back) return this.values[symbol - this.back - 1];
    if (symbol) return this.earlier[symbol];
    this.restAt += 1;
    return this.rest[this.restAt - 1];
  }
}

async function symbolReader(streams) {
  return new SymbolReader(await Promise.all(streams.map(inflated)));
}

async function numberReader(json) {
  const symbols = await symbolReader(json.symbols);
  const planes = await Promise.all(json.rest.map(inflated));
  // Multiplied, not shifted: a length may have more than 32 bits.
  const rest = Float64Array.from(planes[0] ?? [], (_, at) => (
    planes.reduceRight((number, plane) => number * 256 + plane[at], 0)
  ));
  return new NumberReader(json, symbols, rest);
}

// Returns how many zero bits a number below 2^53 ends with; 0 for 0.
function trailingZeros(number) {
  const low = number % 4294967296 | 0;
  if (low) return 31 - Math.clz32(low & -low);
  const high = Math.floor(number / 4294967296);
  return high ? 63 - Math.clz32(high & -high) : 0;
}

// Returns the first cell of each range.
async function unpackStarts(json) {
  const lengths = await numberReader(json.lengths);
  const starts = new Float64Array(json.ranges);
  for (let at = 1; at < json.ranges; at += 1) {
    starts[at] = starts[at - 1] + lengths.next(trailingZeros(starts[at - 1]));
  }
  return starts;
}

// Returns a byte for each range: which of eight views change there.
async function unpackChanges(streams, ranges) {
  const symbols = await symbolReader(streams);
  const changes = new Uint8Array(ranges);
  for (let at = 0; at < ranges; at += 1) changes[at] = symbols.next(at ? changes[at - 1] : 0);
  return changes;
}

// Returns a value for each range; `bit` of `changes` marks where the next one begins.
async function unpackValues(json, changes, bit) {
  const numbers = await numberReader(json);
  const values = new Uint32Array(changes.length);
  let value = 0;
  for (let at = 0; at < changes.length; at += 1) {
    if (changes[at] & bit) value = numbers.next(Math.min(numbers.symbol, json.back + 1));
    values[at] = value;
  }
  return values;
}

async function unpackView({ name, title, note, colours, labels }, values) {
  const lines = new TextDecoder().decode(await inflated(labels)).split("\n");
  return { name, title, note, colours, labels: lines, values };
}

// Returns {family, order, cellBits, blockBits, blocks, starts, views}: blocks are BigInt, starts
// the ascending first cells of the ranges, and each view has labels and a value for each range.
async function unpackMap(json) {
  const { family, order, cellBits, blockBits, ranges } = json;
  const starts = await unpackStarts(json);
  const planes = await Promise.all(json.changed.map((each) => unpackChanges(each, ranges)));
  const views = [];
  let own = 0;
  for (const view of json.views) {
    let values;
    if (view.values) {
      values = await unpackValues(view.values, planes[own >> 3], 1 << (own & 7));
      own += 1;
    } else {
      values = views[view.follows].values.map((value) => view.table[value]);
    }
    views.push(await unpackView(view, values));
  }
  const blocks = json.blocks.map((block) => BigInt(`0x${block}`));
  return { family, order, cellBits, blockBits, blocks, starts, views };
}
