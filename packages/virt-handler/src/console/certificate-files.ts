import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { errors } from "../errors.ts";

/** What a TLS server that asks for client certificates needs. */
export interface ServerCertificate {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/** Reads `tls.crt`, `tls.key` and `ca.crt` of a mounted Secret. */
export async function readServerCertificate(directory: string): Promise<ServerCertificate> {
  const read = async (name: string): Promise<string> => {
    try {
      return await readFile(join(directory, name), "utf8");
    } catch (cause) {
      throw errors.HandlerCertificateUnreadable(`read ${join(directory, name)}`, { cause });
    }
  };
  const [cert, key, ca] = await Promise.all([read("tls.crt"), read("tls.key"), read("ca.crt")]);
  return { cert, key, ca };
}
