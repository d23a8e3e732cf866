// Bytes and numbers in the page's data, as geolookup/pictures/page_data.py packs them.

// Returns the bytes of a text: base64 of raw deflate.
async function inflated(text) {
  if (!text) return new Uint8Array(0);
  const packed = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Returns the bytes of numbers of `width` bytes, stored as planes: all first bytes, then
// all second ones and so on.
function joinPlanes(planes, width) {
  const count = planes.length / width;
  const bytes = new Uint8Array(planes.length);
  for (let plane = 0; plane < width; plane += 1) {
    for (let at = 0; at < count; at += 1) bytes[at * width + plane] = planes[plane * count + at];
  }
  return bytes.buffer;
}

// Returns `count` numbers from 0, stored as planes of as many bytes as the largest one takes.
async function unpackNumbers(text, count) {
  const planes = await inflated(text);
  const numbers = new Float64Array(count);
  planes.forEach((byte, at) => (numbers[at % count] += byte * 256 ** Math.floor(at / count)));
  return numbers;
}

// Integers are packed as differences, each with its sign in the lowest bit.
async function unpackIntegers(text) {
  const coded = new Uint32Array(joinPlanes(await inflated(text), 4));
  const values = new Int32Array(coded.length);
  let sum = 0;
  for (let at = 0; at < coded.length; at += 1) {
    sum += (coded[at] >>> 1) ^ -(coded[at] & 1);
    values[at] = sum;
  }
  return values;
}

async function unpackFloats(text) {
  return new Float64Array(joinPlanes(await inflated(text), 8));
}
