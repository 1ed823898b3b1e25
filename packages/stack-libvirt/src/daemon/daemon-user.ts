interface DaemonUser {
  readonly uid: number;
  /** The contents of /etc/passwd. */
  readonly passwd: string;
  readonly hostName?: string | undefined;
  /** A device that the daemon is not to see, and a file without any rights to put in its place. */
  readonly hiddenDevice?: { readonly path: string; readonly cover: string } | undefined;
}

/**
 * What the daemon is started by. It serves machines of one user, and wants that user to have a name. A launcher that runs
 * as a user whom its image does not know, or as root (for whom libvirt would look after the whole machine instead), gives
 * the daemon a user namespace in which the same user has the id of one that is known. Nothing is gained by it: the kernel
 * goes on checking files and devices against the launcher's own user.
 */
export function daemonUserCommand({ uid, passwd, hostName, hiddenDevice }: DaemonUser): string[] {
  const known = passwd
    .split("\n")
    .map((line) => Number(line.split(":")[2] || Number.NaN))
    .filter((id) => Number.isInteger(id) && id > 0);
  const steps = [
    ...(hostName === undefined ? [] : [{ namespace: "--uts", script: 'hostname "$1"', value: hostName }]),
    // A file that nobody may open takes the device's place.
    ...(hiddenDevice === undefined
      ? []
      : [{ namespace: "--mount", script: `mount --bind "$1" ${hiddenDevice.path}`, value: hiddenDevice.cover }]),
  ];
  if (known.includes(uid) && steps.length === 0) return [];
  const name = known.includes(uid) ? uid : (known[0] ?? 1);
  const user = ["unshare", "--user", `--map-user=${name}`, `--map-group=${name}`];
  if (steps.length === 0) return [...user, "--"];
  // These take rights that only the namespaces give, and that the daemon does not need.
  const script = [
    ...steps.map((step) => `${step.script} && shift`),
    'exec setpriv --inh-caps=-all --ambient-caps=-all "$@"',
  ].join(" && ");
  const namespaces = steps.map((step) => step.namespace);
  return [...user, ...namespaces, "--keep-caps", "--", "sh", "-c", script, "sh", ...steps.map((step) => step.value)];
}
