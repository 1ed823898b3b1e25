interface DaemonUser {
  readonly uid: number;
  /** The contents of /etc/passwd. */
  readonly passwd: string;
  readonly hostName?: string | undefined;
}

/**
 * What the daemon is started by. It serves machines of one user, and wants that user to have a name. A launcher that runs
 * as a user whom its image does not know, or as root (for whom libvirt would look after the whole machine instead), gives
 * the daemon a user namespace in which the same user has the id of one that is known. Nothing is gained by it: the kernel
 * goes on checking files and devices against the launcher's own user.
 */
export function daemonUserCommand({ uid, passwd, hostName }: DaemonUser): string[] {
  const known = passwd
    .split("\n")
    .map((line) => Number(line.split(":")[2] || Number.NaN))
    .filter((id) => Number.isInteger(id) && id > 0);
  if (known.includes(uid) && hostName === undefined) return [];
  const name = known.includes(uid) ? uid : (known[0] ?? 1);
  const user = ["unshare", "--user", `--map-user=${name}`, `--map-group=${name}`];
  if (hostName === undefined) return [...user, "--"];
  // Setting the name takes a right that only the namespace gives, and that the daemon does not need.
  const setName = 'hostname "$0"; exec setpriv --inh-caps=-all --ambient-caps=-all "$@"';
  return [...user, "--uts", "--keep-caps", "--", "sh", "-c", setName, hostName];
}
