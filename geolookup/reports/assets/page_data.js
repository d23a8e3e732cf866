// Bytes and numbers in the page's data, as geolookup/pictures/page_data.py packs them.

// Returns the bytes of a text: base64 of raw deflate.
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
