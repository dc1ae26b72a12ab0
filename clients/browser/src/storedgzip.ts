// A gzip file without compression. A page that goes away cannot wait for the browser's compression, and the server takes gzip only.

const table = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});

export function storedGzip(text: string): Uint8Array {
  const data = new TextEncoder().encode(text);
  const blocks = Math.max(1, Math.ceil(data.length / 65535));
  const out = new Uint8Array(10 + blocks * 5 + data.length + 8);
  out.set([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
  let at = 10;
  for (let i = 0; i < blocks; i++) {
    const block = data.subarray(i * 65535, (i + 1) * 65535);
    const n = block.length;
    out.set([i === blocks - 1 ? 1 : 0, n & 255, n >> 8, ~n & 255, (~n >> 8) & 255], at);
    out.set(block, at + 5);
    at += 5 + n;
  }
  let crc = 0xffffffff;
  for (const b of data) crc = table[(crc ^ b) & 255]! ^ (crc >>> 8);
  const tail = new DataView(out.buffer, at);
  tail.setUint32(0, (crc ^ 0xffffffff) >>> 0, true);
  tail.setUint32(4, data.length, true);
  return out;
}
