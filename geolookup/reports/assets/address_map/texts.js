// Addresses and prefixes as texts: IPv4 in decimal, IPv6 by RFC 5952; and texts read strictly.

function addressText(family, address) {
  return family === 4 ? addressText4(address) : addressText6(address);
}

function addressText4(address) {
  return [24n, 16n, 8n, 0n].map((shift) => (address >> shift) & 255n).join(".");
}

// RFC 5952: lower case, no leading zeros, the first longest run of two or more zeros as "::".
function addressText6(address) {
  const groups = Array.from({ length: 8 }, (_, index) =>
    ((address >> BigInt(112 - 16 * index)) & 0xffffn).toString(16));
  const zeros = longestZeros(groups);
  if (zeros.length < 2) return groups.join(":");
  const after = groups.slice(zeros.start + zeros.length);
  return `${groups.slice(0, zeros.start).join(":")}::${after.join(":")}`;
}

function longestZeros(groups) {
  let longest = { start: 0, length: 0 };
  let length = 0;
  groups.forEach((group, index) => {
    length = group === "0" ? length + 1 : 0;
    if (length > longest.length) longest = { start: index - length + 1, length };
  });
  return longest;
}

// The address or prefix of a text, {family, address, length}, or null.
// The bits after a prefix's length are cleared.
function parsePrefix(text) {
  const parts = /^([^/]+?)(?:\/(\d{1,3}))?$/.exec(text.trim());
  if (!parts) return null;
  const family = parts[1].includes(":") ? 6 : 4;
  const bits = family === 4 ? 32 : 128;
  const address = family === 4 ? parseAddress4(parts[1]) : parseAddress6(parts[1]);
  const length = parts[2] === undefined ? bits : Number(parts[2]);
  if (address === null || length > bits) return null;
  const host = BigInt(bits - length);
  return { family, address: (address >> host) << host, length };
}

function parseAddress4(text) {
  const octets = text.split(".");
  const valid = octets.length === 4 && octets.every((octet) => /^(0|[1-9]\d{0,2})$/.test(octet) && octet < 256);
  return valid ? octets.reduce((address, octet) => address * 256n + BigInt(octet), 0n) : null;
}

function parseAddress6(text) {
  const halves = text.split("::");
  if (halves.length > 2) return null;
  const [head, tail] = [halves[0], halves[1] ?? ""].map((half) => (half ? half.split(":") : []));
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null;
  const groups = [...head, ...Array(missing).fill("0"), ...tail];
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return null;
  return groups.reduce((address, group) => address * 65536n + BigInt(`0x${group}`), 0n);
}
