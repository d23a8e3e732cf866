// Addresses and prefixes as texts. A URL writes IPv6 by RFC 5952, and reads both families strictly.

const ADDRESS_BITS = { 4: 32, 6: 128 };
const PREFIX = /^((?:\d+\.){3}\d+|[\da-f.]*:[\da-f:.]*)(?:\/(\d{1,3}))?$/i;

function addressText(family, address) {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (address >> shift) & 255n).join(".");
  const groups = address.toString(16).padStart(32, "0").match(/.{4}/g);
  return new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1);
}

// The address or prefix of a text, {family, address, length}, or null.
// The bits after a prefix's length are cleared.
function parsePrefix(text) {
  const [, base, digits] = PREFIX.exec(text) ?? [];
  const family = base?.includes(":") ? 6 : 4;
  const url = family === 4 ? `http://${base}` : `http://[${base}]`;
  const length = Number(digits ?? ADDRESS_BITS[family]);
  if (!base || !URL.canParse(url) || length > ADDRESS_BITS[family]) return null;
  const name = new URL(url).hostname;
  if (family === 4 && name !== base) return null; // such as 08.8.8.8
  const address = family === 4 ? joined(name.split("."), 8n) : joined(groupsOf(name.slice(1, -1)), 16n);
  const host = BigInt(ADDRESS_BITS[family] - length);
  return { family, address: (address >> host) << host, length };
}

// The eight groups of IPv6 by RFC 5952, such as 2001:db8::1.
function groupsOf(name) {
  const [head, tail = []] = name.split("::").map((half) => half.split(":").filter(Boolean));
  const zeros = Array(8 - head.length - tail.length).fill("0");
  return [...head, ...zeros, ...tail].map((group) => `0x${group}`);
}

function joined(groups, bits) {
  return groups.reduce((address, group) => (address << bits) + BigInt(group), 0n);
}
