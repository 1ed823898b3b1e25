const summaryLength = 30;

/** The beginning of a body as a refusal shows it: objects as text, anything else as hexadecimal digits. */
export function summary(bytes: Buffer): string {
  if (bytes.length === 0) return "<empty>";
  const start = bytes.subarray(0, summaryLength);
  const text = start.toString(bytes[0] === 0x7b ? "utf8" : "hex");
  return bytes.length > summaryLength ? `${text} ...` : text;
}
