import { execFile } from "node:child_process";
import { errors } from "@polyvirt/stack";

/** What the emulator says about itself; libvirt knows it only for emulators that it has found by itself. */
export function qemuVersion(emulator: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(emulator, ["--version"], { timeout: 10_000 }, (cause, stdout) => {
      const version = /version (\d+\.\d+\.\d+)/.exec(stdout)?.[1];
      if (version !== undefined) resolve(version);
      else reject(errors.StackCommandFailed(`ask ${emulator} for its version`, cause === null ? {} : { cause }));
    });
  });
}
