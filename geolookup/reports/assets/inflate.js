// Reads bytes from text, as geolookup/pictures/deflate.py writes them: two characters for 13 bits,
// one alone for 6 bits, then raw deflate.

// The value of each character code: its place among those from "!" to "~" without ", < and \.
function characterValues() {
  const values = new Uint8Array(128);
  let value = 0;
  for (let code = 0x21; code < 0x7f; code += 1) {
    if (!'"<\\'.includes(String.fromCharCode(code))) {
      values[code] = value;
      value += 1;
    }
  }
  return values;
}

function bytesOf(text) {
  const values = characterValues();
  const bytes = new Uint8Array(Math.floor(((text.length >> 1) * 13 + (text.length & 1) * 6) / 8));
  let bits = 0;
  let held = 0;
  let next = 0;
  for (let at = 0; at < text.length; at += 2) {
    const value = values[text.charCodeAt(at)];
    const isPair = at + 1 < text.length;
    const width = isPair ? 13 : 6;
    bits = (bits << width) | (isPair ? value * 91 + values[text.charCodeAt(at + 1)] : value);
    held += width;
    while (held >= 8) {
      held -= 8;
      bytes[next] = bits >> held;
      next += 1;
    }
    bits &= (1 << held) - 1;
  }
  return bytes;
}

// Returns the bytes of a text.
async function inflated(text) {
  if (!text) return new Uint8Array(0);
  const source = new Blob([bytesOf(text)]).stream();
  const stream = source.pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
