import { spawn } from "node:child_process";

export interface Keeper {
  readonly pid: number;
  /** Ends what is left of the machines, and the keeper with them. */
  release(): Promise<void>;
}

/**
 * Waits until the launcher closes its end of a pipe, which the kernel does however the launcher dies, and then ends every
 * machine whose process id libvirt has noted. The pod's end would do the same; this does it also where there is no pod.
 */
const script = 'read -r _; for file in "$1"/*.pid; do pid=; read -r pid <"$file"; kill -9 "$pid"; done 2>/dev/null';

/** QEMU under libvirt is nobody's child, so it needs somebody else to end it when its launcher is gone. */
export function startKeeper(machines: string): Keeper {
  const child = spawn("/bin/sh", ["-c", script, "keeper", machines], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    cwd: "/",
    env: {},
  });
  const ended = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    // Without a shell there is nobody to wait for; the pod's end does what is needed.
    child.once("error", () => resolve());
  });
  child.stdin.on("error", () => {
    // It has ended before; that is what was wanted.
  });
  return {
    // Without a shell there is no process, and none has this id.
    pid: child.pid ?? 0,
    release() {
      child.stdin.end();
      return ended;
    },
  };
}
