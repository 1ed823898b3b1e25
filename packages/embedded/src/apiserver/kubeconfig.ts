import type { KeyedCertificate } from "@polyvirt/kube";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** A kubeconfig with everything inside, so that it works from any directory. */
export function kubeconfigText(options: {
  readonly server: string;
  readonly authority: string;
  readonly client: KeyedCertificate;
  readonly name?: string;
}): string {
  const name = options.name ?? "polyvirt";
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server: options.server, "certificate-authority-data": base64(options.authority) } }],
    users: [
      {
        name: `${name}-admin`,
        user: {
          "client-certificate-data": base64(options.client.certificate),
          "client-key-data": base64(options.client.key),
        },
      },
    ],
    contexts: [{ name, context: { cluster: name, user: `${name}-admin`, namespace: "default" } }],
    "current-context": name,
    preferences: {},
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
