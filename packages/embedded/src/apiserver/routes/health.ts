import type { Exchange } from "../http/exchange.ts";

export const serverVersion = {
  major: "1",
  minor: "36",
  gitVersion: "v1.36.4+polyvirt",
  gitCommit: "",
  gitTreeState: "clean",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: `node-${process.version}`,
  compiler: "v8",
  platform: `linux/${process.arch === "x64" ? "amd64" : process.arch}`,
};

const checks = new Set(["/healthz", "/livez", "/readyz"]);

export function healthRoute(isReady: () => boolean): (exchange: Exchange) => boolean {
  return (exchange) => {
    const path = exchange.info.path.replace(/(?<=.)\/$/, "");
    const base = [...checks].find((name) => path === name || path.startsWith(`${name}/`));
    if (base !== undefined) {
      const good = base !== "/readyz" || isReady();
      const word = good ? "ok" : "not ready: starting";
      const verbose = exchange.query.has("verbose")
        ? `[${good ? "+" : "-"}]ping ${word}\n${base.slice(1)} check ${good ? "passed" : "failed"}\n`
        : word;
      exchange.sendText(good ? 200 : 500, verbose);
      return true;
    }
    if (path !== "/version") return false;
    exchange.send(200, serverVersion);
    return true;
  };
}
