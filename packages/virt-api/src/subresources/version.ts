interface VersionFacts {
  readonly version: string;
  readonly architecture: string;
}

/** What `virtctl version` shows about the server; the fields are Kubernetes' own. */
export function versionDocument({ version, architecture }: VersionFacts): object {
  return {
    gitVersion: `v${version}`,
    gitCommit: "",
    gitTreeState: "",
    buildDate: "",
    goVersion: "",
    compiler: "node",
    platform: `linux/${architecture}`,
  };
}
