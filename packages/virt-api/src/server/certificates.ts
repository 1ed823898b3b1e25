import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describeError, type Clock, type Logger } from "@polyvirt/core";
import { errors } from "../errors.ts";

/** A certificate with its key, and the authorities to trust, as PEM. */
export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
  readonly authorities: string;
}

async function readCertificates(folder: string): Promise<CertificateFiles> {
  const read = async (name: string): Promise<string> => {
    const path = join(folder, name);
    try {
      return await readFile(path, "utf8");
    } catch (cause) {
      throw errors.VirtApiCertificateUnreadable(`read ${path}`, { cause, fields: { path } });
    }
  };
  const [certificate, key, authorities] = await Promise.all([read("tls.crt"), read("tls.key"), read("ca.crt")]);
  return { certificate, key, authorities };
}

interface FollowOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  readonly onChange: (files: CertificateFiles) => void;
}

/** The kubelet replaces mounted Secrets at most this much later, long before an old certificate ends. */
const checkEveryMs = 30_000;

/** Reads the folder now and again and again: certificates are renewed while we run. */
export async function followCertificates(folder: string, options: FollowOptions): Promise<CertificateFiles> {
  const { clock, logger, signal, onChange } = options;
  const first = await readCertificates(folder);
  let current = first;
  const check = async (): Promise<void> => {
    while (!signal.aborted) {
      await clock.sleep(checkEveryMs, signal);
      try {
        const next = await readCertificates(folder);
        if (next.certificate === current.certificate && next.authorities === current.authorities) continue;
        current = next;
        onChange(next);
        logger.info("took new certificates into use", { folder });
      } catch (error) {
        logger.warn("keeping the old certificates", { folder, error: describeError(error) });
      }
    }
  };
  check().catch(() => {
    // The sleep rejects only when we are asked to stop.
  });
  return first;
}
