import { isIPv4, isIPv6 } from "node:net";

const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

/** Formats that Kubernetes checks; others are notes for people. */
const tests: Readonly<Record<string, (value: string) => boolean>> = {
  "date-time": (value) => /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}/.test(value) && !Number.isNaN(Date.parse(value)),
  date: (value) => /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value)),
  ipv4: isIPv4,
  ipv6: isIPv6,
  ip: (value) => isIPv4(value) || isIPv6(value),
  cidr: (value) => {
    const [address = "", length = "", ...rest] = value.split("/");
    const limit = isIPv4(address) ? 32 : isIPv6(address) ? 128 : -1;
    return rest.length === 0 && /^\d+$/.test(length) && Number(length) <= limit;
  },
  mac: (value) => /^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$/i.test(value),
  uuid: (value) => uuid.test(value),
  uuid4: (value) => uuid.test(value) && value.replace(/-/g, "")[12] === "4",
  byte: (value) => /^[A-Za-z0-9+/]*={0,2}$/.test(value) && value.length % 4 === 0,
  duration: (value) => /^([-+]?\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(value) || value === "0",
  email: (value) => /^[^@\s]+@[^@\s]+$/.test(value),
  hostname: (value) =>
    value.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/i.test(value),
  uri: (value) => URL.canParse(value),
};

export function formatError(format: string, value: string): boolean {
  const test = Object.hasOwn(tests, format) ? tests[format] : undefined;
  return test !== undefined && !test(value);
}
