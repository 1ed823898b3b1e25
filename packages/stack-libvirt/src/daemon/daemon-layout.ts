import { join } from "node:path";

/**
 * Where one private daemon keeps its things. Names are short because sockets lie at the ends of these paths, and a
 * socket's path has at most 107 bytes.
 */
export interface DaemonLayout {
  readonly runtime: string;
  readonly config: string;
  readonly cache: string;
  readonly data: string;
  readonly drivers: string;
  readonly programs: string;
  readonly socket: string;
  /** Process ids and states of machines, by their names: `NAME.pid`, `NAME.xml`. */
  readonly machines: string;
  /** Where QEMU's own output goes: `NAME.log`. */
  readonly logs: string;
  /** What is known about each emulator, so that it need not be asked again. */
  readonly capabilities: string;
}

export function daemonLayout(directory: string): DaemonLayout {
  const runtime = join(directory, "r");
  const config = join(directory, "c");
  const cache = join(directory, "k");
  return {
    runtime,
    config,
    cache,
    data: join(directory, "d"),
    drivers: join(directory, "m"),
    programs: join(directory, "p"),
    socket: join(runtime, "libvirt/libvirt-sock"),
    machines: join(runtime, "libvirt/qemu/run"),
    logs: join(cache, "libvirt/qemu/log"),
    capabilities: join(cache, "libvirt/qemu/cache/capabilities"),
  };
}

/** The daemon's environment, complete: nothing of the launcher's own reaches it. */
export function daemonEnvironment(layout: DaemonLayout): Record<string, string> {
  return {
    // The daemon asks every emulator in its path what it can do; machines name theirs in full.
    PATH: layout.programs,
    HOME: layout.data,
    LC_ALL: "C",
    XDG_RUNTIME_DIR: layout.runtime,
    XDG_CONFIG_HOME: layout.config,
    XDG_CACHE_HOME: layout.cache,
    XDG_DATA_HOME: layout.data,
    LIBVIRT_DRIVER_DIR: layout.drivers,
  };
}

type Settings = Readonly<Record<string, string | number | readonly string[]>>;

const daemonSettings: Settings = {
  // Whoever reaches the socket is the launcher: it lies in the launcher's own folder.
  auth_unix_rw: "none",
  unix_sock_rw_perms: "0700",
  log_outputs: ["2:stderr"],
  // Missing buses of a desktop are no news.
  log_filters: ["4:util.gdbus"],
  // One client and one machine.
  min_workers: 2,
  max_workers: 6,
  prio_workers: 2,
  admin_min_workers: 1,
  admin_max_workers: 1,
};

const driverSettings: Settings = {
  // Output of QEMU goes to files; no second daemon is needed to carry it there.
  stdio_handler: "file",
  // The pod is the confinement: its user, its namespaces, its control groups.
  security_driver: "none",
  namespaces: [],
  cgroup_controllers: [],
  remember_owner: 0,
  max_core: 0,
};

/** Configuration files by path. */
export function configurationFiles(layout: DaemonLayout, hostUuid: string): Record<string, string> {
  return {
    // Daemons on one machine are different hosts to each other, or no machine could move between them.
    [daemonConfiguration(layout)]: settingsText({ ...daemonSettings, host_uuid: hostUuid }),
    [join(layout.config, "libvirt/qemu.conf")]: settingsText(driverSettings),
    ...tpmConfiguration(layout),
  };
}

/**
 * How swtpm_setup, which libvirt runs for a new TPM, has its certificates signed: by an authority of the launcher's own. The
 * machine's belongs to root, and launchers share nothing that one of them could spoil for the others.
 */
function tpmConfiguration({ config, data }: DaemonLayout): Record<string, string> {
  const authority = join(data, "ca");
  const [settings, options] = [join(config, "swtpm-localca.conf"), join(config, "swtpm-localca.options")];
  return {
    [join(config, "swtpm_setup.conf")]: lines({
      create_certs_tool: "/usr/bin/swtpm_localca",
      create_certs_tool_config: settings,
      create_certs_tool_options: options,
      active_pcr_banks: "sha256",
    }),
    [settings]: lines({
      statedir: authority,
      signingkey: join(authority, "signkey.pem"),
      issuercert: join(authority, "issuercert.pem"),
      certserial: join(authority, "certserial"),
    }),
    [options]: "--platform-manufacturer Polyvirt\n--platform-version 1\n--platform-model QEMU\n",
  };
}

function lines(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name} = ${value}\n`)
    .join("");
}

export function daemonConfiguration(layout: DaemonLayout): string {
  return join(layout.config, "libvirt/libvirtd.conf");
}

function settingsText(settings: Settings): string {
  return lines(
    Object.fromEntries(
      Object.entries(settings).map(([name, value]) => {
        // A list of filters and outputs is one text; every other list is a list.
        const text = name.startsWith("log_") && Array.isArray(value) ? value.join(" ") : value;
        return [name, JSON.stringify(text)];
      }),
    ),
  );
}
